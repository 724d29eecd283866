package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"homenode/internal/texttab"
	"homenode/output/report"
	"homenode/rule"
	"homenode/rules"
	"homenode/vnuma"
)

func newRules() *cobra.Command {
	var (
		out       outputFlags
		conflicts bool
	)
	cmd := &cobra.Command{
		Use:   "rules [ID]",
		Short: "Lists the rules, or prints one in full: what, why, how to fix, when it is wrong, sources",
		Example: `  homenode rules
  homenode rules N001
  homenode rules --conflicts`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			chosen := rules.All
			if len(args) == 1 {
				r, err := ruleNamed(args[0])
				if err != nil {
					return err
				}
				chosen = []*rule.Rule{r}
			}
			return out.write(cmd, func(w io.Writer, colour bool) error {
				switch {
				case conflicts:
					return writeConflicts(w)
				case out.format == "json":
					return report.RulesJSON(w, chosen)
				case len(args) == 1:
					return report.RulePage(w, chosen[0], colour)
				}
				return report.RuleList(w, chosen, colour)
			})
		},
	}
	out.register(cmd, "table", "json")
	cmd.Flags().BoolVar(&conflicts, "conflicts", false, "list the points on which sources disagree, for --choose")
	return cmd
}

func ruleNamed(name string) (*rule.Rule, error) {
	for _, r := range rules.All {
		if strings.EqualFold(r.ID, name) || strings.EqualFold(r.Name, name) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no rule is named %q: homenode rules lists them", name)
}

func writeConflicts(w io.Writer) error {
	t := texttab.Table{}
	t.Row("ID", "TAKEN", "THE OTHER SIDE (--choose)")
	for _, c := range vnuma.ChoiceList {
		t.Row(c.ID, c.Default, c.Alternative)
	}
	_, err := t.WriteTo(w)
	return err
}
