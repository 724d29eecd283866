package book

import (
	"fmt"
	"strings"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
)

// Experiments returns the answer that lists the published experiments.
func Experiments() *answer.Answer {
	t := answer.Table{Name: "experiments", Title: "Experiments", Columns: answer.Columns("name", "what", "source")}
	for _, e := range rulebook.Experiments {
		t.Rows = append(t.Rows, []answer.Cell{entry(e.Name), {Text: e.Title}, source(e.Article)})
	}
	return &answer.Answer{Command: "rules", Format: "homenode-published", Title: "Rules", Verdict: []string{fmt.Sprintf("The model is compared with %s that others published.", words.Plural(len(rulebook.Experiments), "experiment"))}, Tables: []answer.Table{t}, Next: []string{more + rulebook.Experiments[0].Name},
		Result: struct {
			Experiments []rulebook.Experiment `json:"experiments"`
		}{rulebook.Experiments}}
}

// Experiment returns the answer about one experiment.
func Experiment(e rulebook.Experiment) *answer.Answer {
	a := &answer.Answer{Command: "rules", Format: "homenode-experiment", Question: "Experiment " + e.Name, Verdict: []string{e.Title}, Result: e}
	if e.Former != "" {
		a.Facts = append(a.Facts, answer.Fact{Name: "formerly", Text: "exp " + e.Former})
	}
	a.Tables = append(blocks("record", "What was done and seen", e.Text), blocks("host", "In all of the article", e.Host)...)
	a.Tables = append(a.Tables, sourceTable(e.Article))
	return a
}

// blocks converts Markdown to tables: one with the sentences and list items, followed by the tables
// of the text.
func blocks(name, title, markdown string) []answer.Table {
	said := answer.Table{Name: name, Title: title, Columns: answer.Columns("text")}
	var figures []answer.Table
	begun := false // inside a table
	fresh := true  // the next line begins a new row
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
