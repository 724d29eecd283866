package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/rulebook"
	"homenode/esxi/vnuma"
	"homenode/internal/alike"
	"homenode/internal/texttab"
	"homenode/rules"
	"homenode/rules/rule"
)

func newRules() *cobra.Command {
	var (
		out       flags.Output
		conflicts bool
	)
	cmd := described("rules", &cobra.Command{
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.Check(cmd); err != nil {
				return err
			}
			chosen := rules.All
			if len(args) == 1 {
				if text, ok := statement(args[0]); ok {
					return out.Write(cmd, func(w io.Writer, _ bool) error { _, err := io.WriteString(w, text); return err })
				}
				r, err := ruleNamed(args[0])
				if err != nil {
					return err
				}
				chosen = []*rule.Rule{r}
			}
			return out.Write(cmd, func(w io.Writer, _ bool) error {
				switch {
				case conflicts:
					return writeConflicts(w)
				case out.Format == "json":
					enc := json.NewEncoder(w)
					enc.SetIndent("", " ")
					enc.SetEscapeHTML(false)
					return enc.Encode(chosen)
				case len(args) == 1:
					_, err := onTerminal.WriteString(w, string(rulePage(chosen[0])))
					return err
				}
				return writeRules(w, chosen)
			})
		},
	})
	out.Register(cmd, "table", "json")
	cmd.Flags().BoolVar(&conflicts, "conflicts", false, "list the points on which sources disagree, for --choose")
	return cmd
}

func ruleNamed(name string) (*rule.Rule, error) {
	for _, r := range rules.All {
		if strings.EqualFold(r.ID, name) || strings.EqualFold(r.Name, name) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no rule, statement or experiment is named %q%s: homenode rules lists them", name, nearID(name))
}

// nearID returns a hint at the rule, statement, conflict or experiment that was probably meant.
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
	return alike.After(name, known)
}

// statement returns a statement or conflict of the rule book, or an experiment, in words.
func statement(id string) (text string, ok bool) {
	if s, ok := rulebook.Find(id); ok {
		return fmt.Sprintf("%s  %s\n\nsource: %s\n", s.ID, s.Text, s.Source), true
	}
	if e, ok := rulebook.FindExperiment(id); ok {
		return fmt.Sprintf("%s  %s\n\n%s\n\nin all of the article: %s\n\nformerly: exp %s\nsource: %s\n", e.Name, e.Title, e.Text, e.Host, e.Former, e.Article), true
	}
	for _, c := range vnuma.ChoiceList {
		if strings.EqualFold(c.ID, id) {
			about, _ := rulebook.Find(c.Book)
			return fmt.Sprintf("%s  sources disagree\n\ntaken: %s\nelse:  %s (--choose %s)\n\nabout: %s  %s\nsource: %s\n", c.ID, c.Default, c.Alternative, c.ID, about.ID, about.Text, about.Source), true
		}
	}
	return "", false
}

// onTerminal makes the page of a rule one for a terminal.
var onTerminal = strings.NewReplacer("[homenode.yaml](../config.md)", "homenode.yaml (docs/config.md)",
	"[rule book](../rulebook.md)", "rule book (homenode rules ID)")

// writeRules writes one line a rule.
func writeRules(w io.Writer, all []*rule.Rule) error {
	t := texttab.Table{}
	for _, r := range all {
		t.Row(r.ID, strings.ToUpper(r.Severity.String()), r.About(), r.Title)
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\none of %d in full: homenode rules ID\n", len(all))
	return err
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
