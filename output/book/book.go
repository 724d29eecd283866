// Package book has the answers of homenode rules: the checks, the statements that they and predictions rest on, the points on which
// sources disagree, the settings and the published experiments, each with where it comes from.
package book

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/esxi/rulebook"
	"homenode/esxi/scheduler"
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules"
	"homenode/rules/rule"
)

// More is the command that prints one entry.
const more = "homenode rules ID"

// entry returns a cell that leads to an entry of the rule book: of a check, statement, conflict, setting or experiment.
func entry(id string) answer.Cell {
	return answer.Cell{Text: id, To: answer.Object{Kind: "rule", ID: id}}
}

var address = regexp.MustCompile(`https?://[^\s;,]+`)

// source returns a cell of a source, which leads to its first address.
func source(text string) answer.Cell {
	return answer.Cell{Text: text, Web: address.FindString(text)}
}

// plain returns cells of texts.
func plain(texts ...string) []answer.Cell {
	out := make([]answer.Cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// Checks returns the answer that lists the checks.
func Checks() *answer.Answer {
	a := &answer.Answer{Command: "rules", Title: "Rules", Verdict: []string{fmt.Sprintf("%s judge settings and recordings.", words.Plural(len(rules.All), "check"))}, Result: struct {
		Rules []*rule.Rule `json:"rules"`
	}{rules.All}, Next: []string{more}}
	t := answer.Table{Name: "checks", Title: "Checks", Columns: answer.Columns("ID", "up to", "about", "what")}
	for _, r := range rules.All {
		t.Rows = append(t.Rows, []answer.Cell{entry(r.ID), severity(r), {Text: r.About()}, {Text: r.Title}})
	}
	a.Tables = []answer.Table{t}
	return a
}

func severity(r *rule.Rule) answer.Cell {
	return answer.Cell{Text: strings.ToUpper(r.Severity.String()), Tone: answer.Faint + answer.Tone(r.Severity), Sort: strconv.Itoa(int(r.Severity))}
}

// Check returns the answer about one check.
func Check(r *rule.Rule) *answer.Answer {
	judges := "settings (homenode assess)"
	if r.Watch != nil {
		judges = "recordings (homenode capture)"
	}
	a := &answer.Answer{Command: "rules", Question: r.ID + " " + r.Name, Verdict: []string{r.Title}, Result: r, Facts: []answer.Fact{
		{Name: "about", Text: "a " + r.About()}, {Name: "severity", Text: "up to " + r.Severity.String()}, {Name: "judges", Text: judges},
		{Name: "why", Text: words.Paragraph(r.Why)}, {Name: "fix", Text: words.Paragraph(r.Fix)}, {Name: "when it is wrong", Text: words.Paragraph(r.Limits)},
	}}
	if len(r.Thresholds) > 0 {
		t := answer.Table{Name: "thresholds", Title: "Thresholds", Columns: answer.Columns("name", ">default", "range", "what"), Foot: []string{"They are set in homenode.yaml (docs/config.md)."}}
		for i := range r.Thresholds {
			one := &r.Thresholds[i]
			t.Add(r.ID+"."+one.Name, one.Write(one.Default), one.Write(one.Least)+" to "+one.Write(one.Most), one.Text)
		}
		a.Tables = append(a.Tables, t)
	}
	t := answer.Table{Name: "book", Title: "Statements of the rule book", Columns: answer.Columns("ID", "statement")}
	for _, id := range r.Book {
		t.Rows = append(t.Rows, []answer.Cell{entry(id), {Text: textOf(id)}})
	}
	sources := answer.Table{Name: "sources", Title: "Sources", Columns: answer.Columns("source")}
	for _, s := range r.Sources {
		sources.Rows = append(sources.Rows, []answer.Cell{source(s)})
	}
	a.Tables = append(a.Tables, t, sources)
	return a
}

// textOf returns what a statement says, or a conflict takes.
func textOf(id string) string {
	if s, ok := rulebook.Find(id); ok {
		return s.Text
	}
	if c := conflict(id); c != nil {
		return "Sources disagree. Taken: " + c.Default
	}
	return ""
}

func conflict(id string) *vnuma.Choice {
	if i := slices.IndexFunc(vnuma.ChoiceList, func(c vnuma.Choice) bool { return strings.EqualFold(c.ID, id) }); i >= 0 {
		return &vnuma.ChoiceList[i]
	}
	return nil
}

// A stated is a statement in JSON.
type stated struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Source string `json:"source"`
}

// Statements returns the answer that lists the statements.
func Statements() *answer.Answer {
	all := make([]stated, len(rulebook.Statements))
	t := answer.Table{Name: "statements", Title: "Statements", Columns: answer.Columns("ID", "statement", "source")}
	for i, s := range rulebook.Statements {
		all[i] = stated(s)
		t.Rows = append(t.Rows, []answer.Cell{entry(s.ID), {Text: s.Text}, source(s.Source)})
	}
	return &answer.Answer{Command: "rules", Format: "homenode-statements", Title: "Rules",
		Verdict: []string{fmt.Sprintf("Predictions and checks rest on %s about ESX and ESXi, each with its source.", words.Plural(len(all), "statement"))}, Tables: []answer.Table{t}, Result: struct {
			Statements []stated `json:"statements"`
		}{all}, Next: []string{more}}
}

// Statement returns the answer about one statement: what cites it, and what it names.
func Statement(s rulebook.Statement) *answer.Answer {
	a := &answer.Answer{Command: "rules", Format: "homenode-statement", Question: "Statement " + s.ID, Verdict: firstApart(s.Text), Result: stated(s)}
	a.Tables = []answer.Table{sourceTable(s.Source)}
	t := answer.Table{Name: "checks", Title: "Checks that apply it", Columns: answer.Columns("ID", "what")}
	for _, r := range rules.All {
		if slices.Contains(r.Book, s.ID) {
			t.Rows = append(t.Rows, []answer.Cell{entry(r.ID), {Text: r.Title}})
		}
	}
	add(a, t)
	add(a, conflictTable("Sources disagree about it", func(c *vnuma.Choice) bool { return c.Book == s.ID }))
	settings := answer.Table{Name: "settings", Title: "Settings", Columns: answer.Columns("name", "what it does")}
	for _, k := range allSettings() {
		if k.Book == s.ID || names(s.Text, k.Name) {
			settings.Rows = append(settings.Rows, []answer.Cell{entry(k.Name), {Text: k.Does}})
		}
	}
	add(a, settings)
	return a
}

// firstApart returns the first sentence of a text, and the rest of it.
func firstApart(text string) []string {
	for i := range len(text) - 2 {
		if text[i] == '.' && text[i+1] == ' ' && 'A' <= text[i+2] && text[i+2] <= 'Z' {
			return []string{text[:i+1], text[i+2:]}
		}
	}
	return []string{text}
}

// sourceTable has each source that a text names.
func sourceTable(text string) answer.Table {
	t := answer.Table{Name: "sources", Title: "Sources", Columns: answer.Columns("source")}
	for s := range strings.SplitSeq(text, "; ") {
		t.Rows = append(t.Rows, []answer.Cell{source(s)})
	}
	return t
}

// add adds a table that is not empty.
func add(a *answer.Answer, t answer.Table) {
	if len(t.Rows) > 0 {
		a.Tables = append(a.Tables, t)
	}
}

// A disputed is a conflict in JSON.
type disputed struct {
	ID    string `json:"id"`
	Taken string `json:"taken"`
	Else  string `json:"else"`
	Book  string `json:"ruleBook"`
}

func disputedOf(c *vnuma.Choice) disputed { return disputed{c.ID, c.Default, c.Alternative, c.Book} }

func conflictTable(title string, wanted func(*vnuma.Choice) bool) answer.Table {
	t := answer.Table{Name: "conflicts", Title: title, Columns: answer.Columns("ID", "taken", "the other side", "about")}
	for i := range vnuma.ChoiceList {
		if c := &vnuma.ChoiceList[i]; wanted(c) {
			t.Rows = append(t.Rows, []answer.Cell{entry(c.ID), {Text: c.Default}, {Text: c.Alternative}, entry(c.Book)})
		}
	}
	return t
}

// Conflicts returns the answer that lists the points on which sources disagree.
func Conflicts() *answer.Answer {
	var all []disputed
	for i := range vnuma.ChoiceList {
		all = append(all, disputedOf(&vnuma.ChoiceList[i]))
	}
	return &answer.Answer{Command: "rules", Format: "homenode-conflicts", Title: "Rules", Verdict: []string{fmt.Sprintf("Sources disagree on %s. One side is taken; --choose takes the other.", words.Plural(len(all), "point"))},
		Tables: []answer.Table{conflictTable("Conflicts", func(*vnuma.Choice) bool { return true })}, Result: struct {
			Conflicts []disputed `json:"conflicts"`
		}{all}, Next: []string{more}}
}

// Conflict returns the answer about one of them.
func Conflict(c *vnuma.Choice) *answer.Answer {
	about, _ := rulebook.Find(c.Book)
	t := answer.Table{Name: "book", Title: "Statements of the rule book", Columns: answer.Columns("ID", "statement")}
	t.Rows = [][]answer.Cell{{entry(about.ID), {Text: about.Text}}}
	return &answer.Answer{Command: "rules", Format: "homenode-conflict", Question: c.ID + ": sources disagree", Verdict: []string{"Taken: " + c.Default}, Result: disputedOf(c),
		Facts: []answer.Fact{{Name: "else", Text: c.Alternative + " (--choose " + c.ID + ")"}}, Tables: []answer.Table{t, sourceTable(about.Source)}}
}

// A setting is an advanced setting of a VM or host, as far as it is known.
type setting struct {
	Name    string `json:"name"`
	Of      string `json:"of"` // VM or host
	Does    string `json:"does,omitempty"`
	Default string `json:"default,omitempty"`
	Range   string `json:"range,omitempty"`
	Model   string `json:"model,omitempty"` // where it changes an answer
	Book    string `json:"ruleBook,omitempty"`
}

// allSettings lists those that predictions and simulations read, and the other host options about NUMA.
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
	for _, name := range numa.OptionNames {
		if !slices.ContainsFunc(out, func(s setting) bool { return strings.EqualFold(s.Name, name) }) {
			book := "C-18"
			if !strings.HasPrefix(name, "Numa.") {
				book = ""
			}
			out = append(out, setting{Name: name, Of: "host", Book: book})
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
	t.Foot = []string{"What does nothing here is read and shown, and changes neither a prediction nor a simulation."}
	return &answer.Answer{Command: "rules", Format: "homenode-settings", Title: "Rules", Verdict: []string{fmt.Sprintf("Of %s about NUMA and memory %d change a prediction or a simulation.", words.Plural(len(all), "setting"), known)}, Tables: []answer.Table{t}, Result: struct {
		Settings []setting `json:"settings"`
	}{all}, Next: []string{more}}
}

// Setting returns the answer about one setting; nil for one that is not known.
func Setting(name string) *answer.Answer {
	all := allSettings()
	i := slices.IndexFunc(all, func(s setting) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return nil
	}
	s := &all[i]
	does := s.Does
	if does == "" {
		does = "It changes neither a prediction nor a simulation here"
	}
	a := &answer.Answer{Command: "rules", Format: "homenode-setting", Question: s.Name, Verdict: []string{strings.ToUpper(does[:1]) + does[1:] + "."}, Result: s}
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

// names reports whether a text names a setting, and not one that begins with its name.
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

// part reports whether a byte stands inside the names of settings.
func part(c byte) bool {
	return c == '.' || c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// Experiments returns the answer that lists the published experiments.
func Experiments() *answer.Answer {
	t := answer.Table{Name: "experiments", Title: "Experiments", Columns: answer.Columns("name", "what", "source")}
	for _, e := range rulebook.Experiments {
		t.Rows = append(t.Rows, []answer.Cell{entry(e.Name), {Text: e.Title}, source(e.Article)})
	}
	return &answer.Answer{Command: "rules", Format: "homenode-published", Title: "Rules", Verdict: []string{fmt.Sprintf("The model is compared with %s that others published.", words.Plural(len(rulebook.Experiments), "experiment"))}, Tables: []answer.Table{t}, Next: []string{more},
		Result: struct {
			Experiments []published `json:"experiments"`
		}{allPublished()}}
}

// A published is an experiment in JSON.
type published struct {
	Name    string `json:"name"`
	Former  string `json:"former,omitempty"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	Article string `json:"article"`
	Host    string `json:"host"`
}

func allPublished() (out []published) {
	for _, e := range rulebook.Experiments {
		out = append(out, published(e))
	}
	return out
}

// Experiment returns the answer about one of them.
func Experiment(e rulebook.Experiment) *answer.Answer {
	a := &answer.Answer{Command: "rules", Format: "homenode-experiment", Question: "Experiment " + e.Name, Verdict: []string{e.Title}, Result: published(e)}
	if e.Former != "" {
		a.Facts = append(a.Facts, answer.Fact{Name: "formerly", Text: "exp " + e.Former})
	}
	a.Tables = append(blocks("record", "What was done and seen", e.Text), blocks("host", "In all of the article", e.Host)...)
	a.Tables = append(a.Tables, sourceTable(e.Article))
	return a
}

// blocks returns a text in Markdown as tables: its sentences and list items in one, and its tables.
func blocks(name, title, markdown string) []answer.Table {
	said := answer.Table{Name: name, Title: title, Columns: answer.Columns("text")}
	var figures []answer.Table
	begun := false // a table
	fresh := true  // the next line begins a row
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			begun = false
		}
		switch {
		case line == "":
			fresh = true
		case strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			switch {
			case !begun:
				figures = append(figures, answer.Table{Name: fmt.Sprintf("%s figures %d", name, len(figures)+1), Columns: answer.Columns(cells...)})
				begun, fresh = true, true
			case strings.Trim(line, "|-: ") == "":
				for i, c := range cells {
					figures[len(figures)-1].Columns[i].Right = strings.HasSuffix(c, ":")
				}
			default:
				t := &figures[len(figures)-1]
				row := make([]answer.Cell, len(t.Columns))
				for i := range min(len(row), len(cells)) {
					row[i].Text = cells[i]
				}
				t.Rows = append(t.Rows, row)
			}
		case strings.HasPrefix(line, "- ") || fresh:
			said.Add(strings.TrimPrefix(line, "- "))
			fresh = false
		default:
			last := &said.Rows[len(said.Rows)-1][0]
			last.Text += " " + line
		}
	}
	if len(said.Rows) > 0 {
		figures = append([]answer.Table{said}, figures...)
	}
	return figures
}

// Find returns the answer about the entry with this name, in any case of letters; nil for none.
func Find(name string) *answer.Answer {
	if s, ok := rulebook.Find(name); ok {
		return Statement(s)
	}
	if e, ok := rulebook.FindExperiment(name); ok {
		return Experiment(e)
	}
	if c := conflict(name); c != nil {
		return Conflict(c)
	}
	for _, r := range rules.All {
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
	Text     string // by which it is found too
}

// Short returns the beginning of what a statement, conflict, setting or experiment says; "" for a rule, which has a title.
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
