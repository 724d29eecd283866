// Package rulebook makes the answers of homenode rules: the checks, the statements that they rest on, where sources disagree, the
// published experiments, and settings.
package rulebook

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"homenode/esxi/rulebook"
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/rules"
	"homenode/rules/rule"
)

// page is the page of anything that has an ID.
func page(id string) answer.Cell {
	return answer.Cell{Text: id, To: answer.Object{Kind: "rule", ID: id}}
}

// pages are several, in one cell.
func pages(ids []string) answer.Cell {
	c := answer.Cell{Text: strings.Join(ids, " ")}
	for _, id := range ids {
		c.Parts = append(c.Parts, page(id))
	}
	return c
}

func text(s string) answer.Cell { return answer.Cell{Text: s} }

// tone is the severity of a check.
func tone(r *rule.Rule) answer.Cell {
	return answer.Cell{Text: strings.ToUpper(r.Severity.String()), Tone: answer.Faint + answer.Tone(r.Severity)}
}

// Checks lists the rules that judge.
func Checks() *answer.Answer {
	t := answer.Table{Name: "checks", Columns: answer.Columns("ID", "up to", "about", "what")}
	for _, r := range rules.All {
		t.Rows = append(t.Rows, []answer.Cell{page(r.ID), tone(r), text(r.About()), text(r.Title)})
	}
	return &answer.Answer{Command: "rules", Title: "Checks", Verdict: []string{words.Plural(len(rules.All), "check") + ": H and N judge settings, M what a recording shows."},
		Tables: []answer.Table{t}, Next: []string{"homenode rules ID"}, Result: rules.All}
}

// Statements lists what predictions and checks cite.
func Statements() *answer.Answer {
	t := answer.Table{Name: "statements", Columns: answer.Columns("ID", "statement", "source")}
	for _, s := range rulebook.Statements {
		t.Rows = append(t.Rows, []answer.Cell{page(s.ID), text(s.Text), text(s.Source)})
	}
	return &answer.Answer{Command: "rules", Title: "Statements", Verdict: []string{"How ESX and ESXi behave, in " + words.Plural(len(t.Rows), "statement") + ", each with the public source that it rests on."}, Tables: []answer.Table{t}, Result: rulebook.Statements}
}

// Conflicts lists the points on which sources disagree.
func Conflicts() *answer.Answer {
	type conflict struct {
		ID    string `json:"id"`
		Taken string `json:"taken"`
		Else  string `json:"else"`
		Book  string `json:"book"`
	}
	var all []conflict
	t := answer.Table{Name: "conflicts", Columns: answer.Columns("ID", "taken", "the other side (--choose)", "about")}
	for _, c := range vnuma.ChoiceList {
		t.Rows = append(t.Rows, []answer.Cell{page(c.ID), text(c.Default), text(c.Alternative), page(c.Book)})
		all = append(all, conflict{c.ID, c.Default, c.Alternative, c.Book})
	}
	return &answer.Answer{Command: "rules", Title: "Where the sources disagree", Verdict: []string{"On " + words.Plural(len(all), "point") + " sources disagree. One side is taken, and the explanation of a VM says so."}, Tables: []answer.Table{t}, Result: all}
}

// Experiments lists what others measured and published.
func Experiments() *answer.Answer {
	t := answer.Table{Name: "experiments", Columns: answer.Columns("name", "what", "published in")}
	for _, e := range rulebook.Experiments {
		t.Rows = append(t.Rows, []answer.Cell{page(e.Name), text(e.Title), text(e.Article)})
	}
	return &answer.Answer{Command: "rules", Title: "Published experiments", Verdict: []string{words.Plural(len(t.Rows), "published experiment") + ": the model is compared with them, and costs rest on their figures."}, Tables: []answer.Table{t}, Result: rulebook.Experiments}
}

// Settings lists the settings of VMs and options of hosts that have to do with NUMA.
func Settings() *answer.Answer {
	t := answer.Table{Name: "settings", Columns: answer.Columns("key", "of", "what it does", "rule book")}
	for _, s := range rulebook.Settings {
		t.Rows = append(t.Rows, []answer.Cell{page(s.Key), text(of(&s)), text(s.Text), pages(strings.Fields(s.Book))})
	}
	return &answer.Answer{Command: "rules", Title: "Settings", Verdict: []string{words.Plural(len(t.Rows), "setting") + " of VMs and hosts, and what they do."}, Tables: []answer.Table{t}, Result: rulebook.Settings}
}

func of(s *rulebook.Setting) string {
	if s.Host {
		return "host"
	}
	return "VM"
}

// Of answers what has this ID or name: a check, a statement, a conflict, an experiment or a setting.
func Of(id string) (a *answer.Answer, ok bool) {
	if r := check(id); r != nil {
		return Check(r), true
	}
	if s, ok := rulebook.Find(id); ok {
		return statement(&s), true
	}
	for i := range vnuma.ChoiceList {
		if c := &vnuma.ChoiceList[i]; strings.EqualFold(c.ID, id) {
			return conflict(c), true
		}
	}
	if e, ok := rulebook.FindExperiment(id); ok {
		return experiment(&e), true
	}
	if s, ok := rulebook.FindSetting(id); ok {
		return setting(&s), true
	}
	return nil, false
}

func check(id string) *rule.Rule {
	for _, r := range rules.All {
		if strings.EqualFold(r.ID, id) || strings.EqualFold(r.Name, id) {
			return r
		}
	}
	return nil
}

// Check answers what a check does, why, how to cure what it finds and when it is wrong.
func Check(r *rule.Rule) *answer.Answer {
	judges := "settings (homenode assess)"
	if r.Watch != nil {
		judges = "recordings (homenode capture)"
	}
	a := &answer.Answer{Command: "rules", Title: r.ID, Question: r.ID + " " + r.Name, Verdict: []string{r.Title}, Result: r,
		Facts: []answer.Fact{{Name: "about", Text: "a " + r.About()}, {Name: "severity", Text: "up to " + r.Severity.String()}, {Name: "judges", Text: judges},
			{Name: "why", Text: words.Paragraph(r.Why)}, {Name: "fix", Text: words.Paragraph(r.Fix)}, {Name: "when it is wrong", Text: words.Paragraph(r.Limits)}}}
	if len(r.Thresholds) > 0 {
		t := answer.Table{Name: "thresholds", Title: "Thresholds", Columns: answer.Columns("name", ">default", "range", "what"), Foot: []string{"A configuration sets them otherwise (docs/config.md)."}}
		for i := range r.Thresholds {
			one := &r.Thresholds[i]
			t.Add(r.ID+"."+one.Name, one.Write(one.Default), one.Write(one.Least)+" to "+one.Write(one.Most), one.Text)
		}
		a.Tables = append(a.Tables, t)
	}
	restsOn(a, r.Book)
	a.Tables = append(a.Tables, sources(r.Sources))
	return a
}

// restsOn adds the statements that something rests on: their IDs, and on a page their texts.
func restsOn(a *answer.Answer, ids []string) {
	a.Facts = append(a.Facts, answer.Fact{Name: "rests on", Text: strings.Join(ids, ", ")})
	t := answer.Table{Name: "book", Title: "Rests on", Columns: answer.Columns("ID", "statement", "source"), Long: true}
	for _, id := range ids {
		s, _ := rulebook.Find(id)
		t.Rows = append(t.Rows, []answer.Cell{page(id), text(s.Text), source(s.Source)})
	}
	a.Tables = append(a.Tables, t)
}

var address = regexp.MustCompile(`https://[^\s;,)]+`)

// source is a source with its address, when it has one alone.
func source(s string) answer.Cell {
	c := text(s)
	if found := address.FindAllString(s, -1); len(found) == 1 {
		c.To = answer.Object{Kind: answer.Elsewhere, ID: found[0]}
	}
	return c
}

// sources lists sources.
func sources(all []string) answer.Table {
	t := answer.Table{Name: "sources", Title: "Sources", Columns: answer.Columns(">no.", "source")}
	for i, s := range all {
		t.Rows = append(t.Rows, []answer.Cell{text(strconv.Itoa(i + 1)), source(s)})
	}
	return t
}

// statement answers with a statement, what rests on it, and where sources disagree about it.
func statement(s *rulebook.Statement) *answer.Answer {
	a := &answer.Answer{Command: "rules", Title: s.ID, Question: "Statement " + s.ID, Verdict: []string{s.Text}, Result: s}
	if first, rest, ok := strings.Cut(s.Text, ". "); ok {
		a.Verdict = []string{first + ".", rest}
	}
	a.Tables = append(a.Tables, sources(strings.Split(s.Source, "; ")))
	a.Tables = append(a.Tables, citing(s.ID)...)
	return a
}

// citing lists the checks, conflicts and settings that rest on a statement.
func citing(id string) []answer.Table {
	t := answer.Table{Name: "citing", Title: "Rest on it", Columns: answer.Columns("ID", "what")}
	for _, r := range rules.All {
		for _, b := range r.Book {
			if b == id {
				t.Rows = append(t.Rows, []answer.Cell{page(r.ID), text(r.Title)})
				break
			}
		}
	}
	for _, c := range vnuma.ChoiceList {
		if c.Book == id {
			t.Rows = append(t.Rows, []answer.Cell{page(c.ID), text("sources disagree: " + c.Default)})
		}
	}
	for _, s := range rulebook.Settings {
		if strings.Contains(" "+s.Book+" ", " "+id+" ") {
			t.Rows = append(t.Rows, []answer.Cell{page(s.Key), text(s.Text)})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []answer.Table{t}
}

// conflict answers what is taken, and what not.
func conflict(c *vnuma.Choice) *answer.Answer {
	about, _ := rulebook.Find(c.Book)
	a := &answer.Answer{Command: "rules", Title: c.ID, Question: c.ID + ": sources disagree", Verdict: []string{"Taken: " + c.Default + "."},
		Facts:  []answer.Fact{{Name: "else", Text: fmt.Sprintf("%s (--choose %s)", c.Alternative, c.ID)}, {Name: "about", Text: about.ID + ": " + about.Text}, {Name: "source", Text: about.Source}},
		Result: map[string]string{"id": c.ID, "taken": c.Default, "else": c.Alternative, "book": c.Book}}
	restsOn(a, []string{c.Book})
	return a
}

// experiment answers what was done and seen.
func experiment(e *rulebook.Experiment) *answer.Answer {
	a := &answer.Answer{Command: "rules", Title: e.Name, Question: "Experiment " + e.Name, Verdict: []string{e.Title}, Result: e,
		Facts: []answer.Fact{{Name: "published in", Text: e.Article}, {Name: "in all of the article", Text: words.Paragraph(e.Host)}}}
	if e.Former != "" {
		a.Facts = append(a.Facts, answer.Fact{Name: "formerly", Text: "exp " + e.Former})
	}
	prose, tables := markdown(e.Text)
	a.Note(prose...)
	a.Tables = tables
	return a
}

// markdown reads the paragraphs, points and tables of an entry of the record.
func markdown(entry string) (prose []string, tables []answer.Table) {
	var head []string
	end := true // of the paragraph or point
	for line := range strings.Lines(entry) {
		line = strings.TrimSpace(line)
		if cells, ok := strings.CutPrefix(line, "|"); ok {
			row := strings.Split(strings.TrimSuffix(cells, "|"), "|")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			switch {
			case strings.Trim(strings.Join(row, ""), "-: ") == "":
				tables = append(tables, answer.Table{Name: fmt.Sprintf("figures%d", len(tables)+1), Columns: answer.Columns(head...)})
			case head == nil:
				head = row
			case len(tables) > 0 && len(row) == len(head):
				tables[len(tables)-1].Add(row...)
			}
			end = true
			continue
		}
		head = nil
		point, listed := strings.CutPrefix(line, "- ")
		switch {
		case line == "":
			end = true
		case listed || end || len(prose) == 0:
			prose, end = append(prose, point), false
		default:
			prose[len(prose)-1] += " " + line
		}
	}
	return prose, tables
}

// setting answers what a setting does.
func setting(s *rulebook.Setting) *answer.Answer {
	a := &answer.Answer{Command: "rules", Title: s.Key, Question: s.Key + ", of a " + of(s), Verdict: []string{s.Text}, Result: s}
	restsOn(a, strings.Fields(s.Book))
	cited := answer.Table{Name: "citing", Title: "Checks that name it", Columns: answer.Columns("ID", "what")}
	for _, r := range rules.All {
		if strings.Contains(r.Why+r.Fix+r.Limits, s.Key) {
			cited.Rows = append(cited.Rows, []answer.Cell{page(r.ID), text(r.Title)})
		}
	}
	if len(cited.Rows) > 0 {
		a.Tables = append(a.Tables, cited)
	}
	return a
}
