// Package book has the answers of homenode rules: the checks, the statements behind them and behind predictions, the points on
// which sources disagree, the settings, and the published experiments. All have their sources.
package book

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// More is the command that prints one entry.
const more = "homenode rules "

// entry returns a cell with a link to an entry of the rule book: a check, statement, conflict, setting or experiment.
func entry(id string) answer.Cell {
	return answer.Cell{Text: id, To: answer.Object{Kind: "rule", ID: id}}
}

var address = pattern.Of(`https?://[^\s;,]+`)

// source returns a cell with the text of a source, linked to the first address in it.
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

// Checks returns the answer that lists the checks, and the rules of the owner.
func Checks(own []*rule.Rule) *answer.Answer {
	all := slices.Concat(rules.All, own)
	a := &answer.Answer{Command: "rules", Title: "Rules", Verdict: []string{fmt.Sprintf("%s judge settings and recordings.", words.Plural(len(all), "check"))}, Result: struct {
		Rules []*rule.Rule `json:"rules"`
	}{all}, Next: []string{more + rules.All[0].ID}}
	t := answer.Table{Name: "checks", Title: "Checks", Columns: answer.Columns("ID", "up to", "about", "what")}
	for _, r := range all {
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
		t := answer.Table{Name: "thresholds", Title: "Thresholds", Columns: answer.Columns("name", ">default", "range", "what"), Foot: []string{"They are set in homenode.yaml (docs/checks.md)."}}
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

// textOf returns the text of a statement, or the chosen alternative of a conflict.
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

// Statements returns the answer that lists the statements.
func Statements() *answer.Answer {
	t := answer.Table{Name: "statements", Title: "Statements", Columns: answer.Columns("ID", "statement", "source")}
	for _, s := range rulebook.Statements {
		t.Rows = append(t.Rows, []answer.Cell{entry(s.ID), {Text: s.Text}, source(s.Source)})
	}
	return &answer.Answer{Command: "rules", Format: "homenode-statements", Title: "Rules",
		Verdict: []string{fmt.Sprintf("Predictions and checks rest on %s about ESX and ESXi, each with its source.", words.Plural(len(rulebook.Statements), "statement"))}, Tables: []answer.Table{t}, Result: struct {
			Statements []rulebook.Statement `json:"statements"`
		}{rulebook.Statements}, Next: []string{more + rulebook.Statements[0].ID}}
}

// Statement returns the answer about one statement, with the entries that cite it and those that it cites.
func Statement(s rulebook.Statement) *answer.Answer {
	a := &answer.Answer{Command: "rules", Format: "homenode-statement", Question: "Statement " + s.ID, Verdict: firstApart(s.Text), Result: s}
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

// firstApart splits a text after its first sentence.
func firstApart(text string) []string {
	for i := range len(text) - 2 {
		if text[i] == '.' && text[i+1] == ' ' && 'A' <= text[i+2] && text[i+2] <= 'Z' {
			return []string{text[:i+1], text[i+2:]}
		}
	}
	return []string{text}
}

// sourceTable has one row per source in a text.
func sourceTable(text string) answer.Table {
	t := answer.Table{Name: "sources", Title: "Sources", Columns: answer.Columns("source")}
	for s := range strings.SplitSeq(text, "; ") {
		t.Rows = append(t.Rows, []answer.Cell{source(s)})
	}
	return t
}

// add adds a table unless it is empty.
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
		}{all}, Next: []string{more + all[0].ID}}
}

// Conflict returns the answer about one conflict.
func Conflict(c *vnuma.Choice) *answer.Answer {
	about, _ := rulebook.Find(c.Book)
	t := answer.Table{Name: "book", Title: "Statements of the rule book", Columns: answer.Columns("ID", "statement")}
	t.Rows = [][]answer.Cell{{entry(about.ID), {Text: about.Text}}}
	return &answer.Answer{Command: "rules", Format: "homenode-conflict", Question: c.ID + ": sources disagree", Verdict: []string{"Taken: " + c.Default}, Result: disputedOf(c),
		Facts: []answer.Fact{{Name: "else", Text: c.Alternative + " (--choose " + c.ID + ")"}}, Tables: []answer.Table{t, sourceTable(about.Source)}}
}
