package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/rulebook"
	"homenode/esxi/vnuma"
	"homenode/internal/alike"
	"homenode/output/answer"
	answers "homenode/output/rulebook"
	"homenode/rules"
	"homenode/rules/rule"
)

func newRules() *cobra.Command {
	var (
		out  flags.Output
		list = map[string]*bool{}
	)
	lists := map[string]func() *answer.Answer{"conflicts": answers.Conflicts, "statements": answers.Statements, "experiments": answers.Experiments, "settings": answers.Settings}
	cmd := described("rules", &cobra.Command{
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.Check(cmd); err != nil {
				return err
			}
			for name, chosen := range list {
				if *chosen {
					return out.Print(cmd, lists[name]())
				}
			}
			a := answers.Checks()
			if len(args) == 1 {
				one, ok := answers.Of(args[0])
				if !ok {
					return fmt.Errorf("no rule, statement, experiment or setting is named %q%s: homenode rules lists them", args[0], nearID(args[0]))
				}
				a = one
			}
			if chosen, ok := checksIn(a); ok && out.Format == "json" && !flags.IsHeld(cmd) { // as it has been from the start
				return out.Write(cmd, func(w io.Writer, _ bool) error {
					enc := json.NewEncoder(w)
					enc.SetIndent("", " ")
					enc.SetEscapeHTML(false)
					return enc.Encode(chosen)
				})
			}
			return out.Print(cmd, a)
		},
	})
	out.Register(cmd, "table", "json", "html", "markdown")
	for name, usage := range map[string]string{
		"conflicts": "list the points on which sources disagree, for --choose", "statements": "list the statements of the rule book",
		"experiments": "list the published experiments", "settings": "list the settings of VMs and hosts that have to do with NUMA, and what they do",
	} {
		list[name] = cmd.Flags().Bool(name, false, usage)
	}
	cmd.MarkFlagsMutuallyExclusive("conflicts", "statements", "experiments", "settings")
	return cmd
}

// checksIn returns the checks that an answer is of.
func checksIn(a *answer.Answer) ([]*rule.Rule, bool) {
	switch r := a.Result.(type) {
	case []*rule.Rule:
		return r, true
	case *rule.Rule:
		return []*rule.Rule{r}, true
	}
	return nil, false
}

// nearID returns a hint at the rule, statement, conflict, experiment or setting that was probably meant.
func nearID(name string) string {
	var known []string
	for _, r := range rules.All {
		known = append(known, r.ID, r.Name)
	}
	for _, s := range rulebook.Statements {
		known = append(known, s.ID)
	}
	for _, c := range vnuma.ChoiceList {
		known = append(known, c.ID)
	}
	for _, e := range rulebook.Experiments {
		known = append(known, e.Name)
	}
	for _, s := range rulebook.Settings {
		known = append(known, s.Key)
	}
	return alike.After(name, known)
}
