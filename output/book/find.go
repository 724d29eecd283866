package book

import (
	"slices"
	"strings"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// Find returns the answer about the entry with this name, ignoring case; nil for none. own are the rules of the owner.
func Find(name string, own []*rule.Rule) *answer.Answer {
	if s, ok := rulebook.Find(name); ok {
		return Statement(s)
	}
	if e, ok := rulebook.FindExperiment(name); ok {
		return Experiment(e)
	}
	if c := conflict(name); c != nil {
		return Conflict(c)
	}
	for _, r := range slices.Concat(rules.All, own) {
		if strings.EqualFold(r.ID, name) || strings.EqualFold(r.Name, name) {
			return Check(r)
		}
	}
	return Setting(name)
}

// A Name is an entry that can be found.
type Name struct {
	ID, Kind string
	Title    string // of a rule
	Text     string // searchable text
}

// Short returns the beginning of the text of a statement, conflict, setting or experiment. It is "" for a rule, which has
// a title.
func (n *Name) Short() string {
	const most = 140
	text := []rune(n.Text)
	switch {
	case n.Kind == "rule":
		return ""
	case len(text) > most:
		return string(text[:most]) + " …"
	}
	return n.Text
}

// Names lists every entry.
func Names() []Name {
	var out []Name
	for _, r := range rules.All {
		out = append(out, Name{r.ID, "rule", r.Title, r.Name + " " + r.Title + " " + r.Fix})
	}
	for _, s := range rulebook.Statements {
		out = append(out, Name{s.ID, "statement", "", s.Text})
	}
	for i := range vnuma.ChoiceList {
		c := &vnuma.ChoiceList[i]
		out = append(out, Name{c.ID, "conflict", "", c.Default + " / " + c.Alternative})
	}
	for _, s := range allSettings() {
		out = append(out, Name{s.Name, "setting", "", s.Does})
	}
	for _, e := range rulebook.Experiments {
		out = append(out, Name{e.Name, "experiment", "", e.Title})
	}
	return out
}
