package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/ask/fleet"
	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/output/format"
)

func newExplain() *cobra.Command {
	cmd := flags.Question(fleet.ExplainEntry, helps, append(slices.Clone(format.Judged), "svg")...)
	cmd.Long = strings.ReplaceAll(cmd.Long, "{EVENTS}", strings.Join(vnuma.EventNames(), ", "))
	return cmd
}
