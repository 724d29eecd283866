package book

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
)

// A setting is a documented advanced setting of a VM or host.
type setting struct {
	Name    string `json:"name"`
	Of      string `json:"of"` // VM or host
	Does    string `json:"does,omitempty"`
	Default string `json:"default,omitempty"`
	Range   string `json:"range,omitempty"`
	Model   string `json:"model,omitempty"` // where it affects an answer
	Book    string `json:"ruleBook,omitempty"`
}

// allSettings lists the settings used by predictions and simulations, and the other host options about
// NUMA.
func allSettings() []setting {
	var out []setting
	for _, k := range vnuma.Keys {
		of := "VM"
		if k.Host {
			of = "host"
		}
		out = append(out, setting{Name: k.Name, Of: of, Does: k.Does, Model: "topology", Book: k.Book})
	}
	newest := numa.Modelled[len(numa.Modelled)-1]
	for _, o := range scheduler.HostOptions() {
		out = append(out, setting{Name: o.Key, Of: "host", Does: o.Does, Default: fmt.Sprintf("%d (%s)", o.Default(newest), newest), Range: fmt.Sprintf("%d to %d", o.Least, o.Most), Model: "simulation", Book: o.Book})
	}
	for _, o := range numa.HostOptions {
		i := slices.IndexFunc(out, func(s setting) bool { return strings.EqualFold(s.Name, o.Key) })
		if i < 0 {
			i, out = len(out), append(out, setting{Name: o.Key, Of: "host", Does: o.Does, Book: "C-18"})
		}
		if s := &out[i]; s.Default == "" {
			s.Default = o.Default
		}
	}
	return out
}

// Settings returns the answer that lists the settings.
func Settings() *answer.Answer {
	all := allSettings()
	t := answer.Table{Name: "settings", Title: "Settings", Columns: answer.Columns("name", "of", "what it does", "default", "range", "changes", "rule book")}
	known := 0
	for i := range all {
		s := &all[i]
		if s.Model != "" {
			known++
		}
		row := append([]answer.Cell{entry(s.Name)}, plain(s.Of, s.Does, s.Default, s.Range, s.Model)...)
		cell := answer.Cell{}
		if s.Book != "" {
			cell = entry(s.Book)
		}
		t.Rows = append(t.Rows, append(row, cell))
	}
	t.Foot = []string{"A setting that changes nothing here is read and shown, and checks look at some: a prediction or a simulation does not."}
	return &answer.Answer{Command: "rules", Format: "homenode-settings", Title: "Rules", Verdict: []string{fmt.Sprintf("Of %s about NUMA and memory %d change a prediction or a simulation.", words.Plural(len(all), "setting"), known)}, Tables: []answer.Table{t}, Result: struct {
		Settings []setting `json:"settings"`
	}{all}, Next: []string{more + all[0].Name}}
}

// Setting returns the answer about one setting; nil for an unknown one.
func Setting(name string) *answer.Answer {
	all := allSettings()
	i := slices.IndexFunc(all, func(s setting) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return nil
	}
	s := &all[i]
	does := s.Does
	if s.Model == "" && does != "" {
		does += "; it changes neither a prediction nor a simulation here"
	}
	does = cmp.Or(does, "It changes neither a prediction nor a simulation here")
	a := &answer.Answer{Command: "rules", Format: "homenode-setting", Question: s.Name, Verdict: []string{words.Capital(does) + "."}, Result: s}
	for _, f := range []answer.Fact{{Name: "of", Text: "a " + s.Of}, {Name: "default", Text: s.Default}, {Name: "range", Text: s.Range}, {Name: "changes", Text: s.Model}} {
		if f.Text != "" {
			a.Facts = append(a.Facts, f)
		}
	}
	t := answer.Table{Name: "book", Title: "Statements of the rule book", Columns: answer.Columns("ID", "statement", "source")}
	for _, one := range rulebook.Statements {
		if one.ID == s.Book || names(one.Text, s.Name) {
			t.Rows = append(t.Rows, []answer.Cell{entry(one.ID), {Text: one.Text}, source(one.Source)})
		}
	}
	add(a, t)
	add(a, conflictTable("Sources disagree about it", func(c *vnuma.Choice) bool { return names(c.Default+" "+c.Alternative, s.Name) }))
	checks := answer.Table{Name: "checks", Title: "Checks that name it", Columns: answer.Columns("ID", "what")}
	for _, r := range rules.All {
		if names(r.Why+" "+r.Fix+" "+r.Limits+" "+r.Title, s.Name) {
			checks.Rows = append(checks.Rows, []answer.Cell{entry(r.ID), {Text: r.Title}})
		}
	}
	add(a, checks)
	return a
}

// names reports whether a text contains the name of a setting as a whole word.
func names(text, name string) bool {
	text, name = strings.ToLower(text), strings.ToLower(name)
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		rest := text[i+len(name):]
		before := i == 0 || !part(text[i-1])
		if before && (rest == "" || !part(rest[0]) || rest[0] == '.' && (len(rest) == 1 || !part(rest[1]))) {
			return true
		}
		text = rest
	}
}

// part reports whether a byte can be part of a setting's name.
func part(c byte) bool {
	return c == '.' || c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}
