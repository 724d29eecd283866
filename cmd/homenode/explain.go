package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/ask/fleet"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/output/format"
)

func newExplain() *cobra.Command {
	cmd := flags.Question(fleet.ExplainEntry, helps, append(slices.Clone(format.Judged), "svg")...)
	cmd.Long = strings.ReplaceAll(cmd.Long, "{EVENTS}", strings.Join(vnuma.EventNames(), ", "))
	return cmd
}
