package main

import (
	"github.com/spf13/cobra"

	"homenode/ask/size"
	"homenode/cmd/homenode/flags"
)

// newSize returns the command with those below it.
func newSize() *cobra.Command {
	cmd := described("size", &cobra.Command{})
	for _, t := range size.Entries {
		cmd.AddCommand(flags.Question(t, helps))
	}
	return cmd
}
