package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/alike"
	"homenode/output/answer"
	"homenode/output/book"
	"homenode/output/format"
)

func newRules() *cobra.Command {
	var out flags.Output
	lists := []struct {
		name, about string
		list        func() *answer.Answer
		asked       bool
	}{
		{name: "statements", about: "list the statements that predictions and rules cite, with their sources", list: book.Statements},
		{name: "conflicts", about: "list the points on which sources disagree, for --choose", list: book.Conflicts},
		{name: "settings", about: "list the settings of VMs and hosts about NUMA, with what they do", list: book.Settings},
		{name: "experiments", about: "list the published experiments", list: book.Experiments},
	}
	cmd := described("rules", &cobra.Command{
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.Check(cmd); err != nil {
				return err
			}
			list := book.Checks
			for i := range lists {
				if lists[i].asked {
					if len(args) == 1 {
						return fmt.Errorf("--%s: not with %s", lists[i].name, args[0])
					}
					list = lists[i].list
				}
			}
			if len(args) == 0 {
				return out.Print(cmd, list())
			}
			a := book.Find(args[0])
			if a == nil {
				return fmt.Errorf("no rule, statement, setting or experiment is named %q%s: homenode rules lists them", args[0], nearID(args[0]))
			}
			return out.Print(cmd, a)
		},
	})
	out.Register(cmd, format.Tables...)
	var names []string
	for i := range lists {
		cmd.Flags().BoolVar(&lists[i].asked, lists[i].name, false, lists[i].about)
		names = append(names, lists[i].name)
	}
	cmd.MarkFlagsMutuallyExclusive(names...)
	return cmd
}

// nearID returns a hint at the entry that was probably meant.
func nearID(name string) string {
	var known []string
	for _, n := range book.Names() {
		known = append(known, n.ID)
	}
	return alike.After(name, known)
}
