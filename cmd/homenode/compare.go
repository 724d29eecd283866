package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
)

// sides splits the arguments of compare into A and B at --, which can be omitted between two
// arguments.
func sides(cmd *cobra.Command, args []string) ([][]string, error) {
	dash := cmd.ArgsLenAtDash()
	if cmd.Flags().Changed("at") {
		if dash > 0 || slices.Contains(args, "--") {
			return nil, errors.New("--at: found two sets, want one that it divides")
		}
		return [][]string{args}, nil
	}
	if dash <= 0 && len(args) == 2 { // one on each side
		dash = 1
	}
	if dash == 0 { // it ended the flags; another -- ends the first side
		if dash = slices.Index(args, "--"); dash > 0 {
			args = slices.Delete(args, dash, dash+1)
		}
	}
	if dash < 1 || dash == len(args) {
		return [][]string{args}, nil
	}
	return [][]string{args[:dash], args[dash:]}, nil
}
