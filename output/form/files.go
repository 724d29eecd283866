package form

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"homenode/internal/texttab"
	"homenode/output/answer"
	"homenode/output/table"
)

// envelope is the JSON of every answer; docs/json.md describes it.
type envelope struct {
	Format    string              `json:"format"`
	Version   int                 `json:"version"`
	Homenode  string              `json:"homenode,omitempty"` // version of the program
	Command   string              `json:"command"`
	Simulated bool                `json:"simulated,omitempty"`
	Question  string              `json:"question,omitempty"`
	Verdict   []string            `json:"verdict"`
	Facts     []answer.Fact       `json:"facts,omitempty"`
	Assumed   []answer.Assumption `json:"assumed,omitempty"`
	Result    any                 `json:"result"`
	Changes   []answer.Change     `json:"whatIf,omitempty"`
	Notes     []answer.Note       `json:"notes,omitempty"`
}

// JSON writes the answer for programs: the typed result with what it rests on.
func JSON(w io.Writer, a *answer.Answer, o Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	format := a.Format
	if format == "" {
		format = "homenode-" + strings.ReplaceAll(a.Command, " ", "-")
	}
	return enc.Encode(envelope{format, max(1, a.Version), o.Version, a.Command, a.Simulated, a.Question, a.Verdict, a.Facts, a.Assumed, a.Result, a.Changes, a.Notes})
}

// CSV writes one table of the answer, or all of them in one file with its verdict and its
// notes, each row behind the name of its table. Drawings are left out.
func CSV(w io.Writer, a *answer.Answer, o Options) error {
	all := dataOf(a)
	if o.Table == "" {
		return table.CSV(w, named(all)...)
	}
	t, ok := table.Named(all, o.Table)
	if !ok {
		return fmt.Errorf("no table %q", o.Table)
	}
	return table.CSV(w, t)
}

// named returns tables of which each row begins with the name of its table.
func named(tables []table.Table) []table.Table {
	all := slices.Clone(tables)
	for i, t := range tables {
		all[i].Columns = slices.Concat([]table.Column{{Name: "table"}}, t.Columns)
		all[i].Rows = func(yield func([]table.Cell) bool) {
			for row := range t.Rows {
				if !yield(slices.Concat([]table.Cell{table.Text(t.Name)}, row)) {
					return
				}
			}
		}
	}
	return all
}

// dataOf returns the tables of the answer for programs.
func dataOf(a *answer.Answer) []table.Table {
	if a.Data != nil {
		return a.Data
	}
	notes := make([]string, len(a.Notes))
	for i, n := range a.Notes {
		notes[i] = n.Text
	}
	var out []table.Table
	all := append([]answer.Table{lineTable("verdict", a.Verdict)}, a.AllTables()...)
	for _, t := range append(all, lineTable("notes", notes)) {
		switch {
		case t.Bars || len(t.Rows) == 0 && t.Plain == nil:
			continue
		case t.Plain != nil:
			t.Columns, t.Rows = t.Plain.Columns, t.Plain.Rows
		}
		out = append(out, model(&t))
	}
	return out
}

// model returns a table for people as one for programs.
func model(t *answer.Table) table.Table {
	var columns []table.Column
	for _, c := range t.Columns {
		columns = append(columns, table.Column{Name: c.Name, Width: 16})
	}
	rows := make([][]table.Cell, len(t.Rows))
	for i, row := range t.Rows {
		for _, cell := range row {
			rows[i] = append(rows[i], table.Figure(cell.Text))
		}
	}
	return table.Of(t.Name, columns, rows)
}

// lineTable returns a table of sentences.
func lineTable(name string, lines []string) answer.Table {
	t := answer.Table{Name: name, Columns: []answer.Column{{Name: "text"}}}
	for _, line := range lines {
		t.Add(strings.TrimSpace(line))
	}
	return t
}

// SVG writes the drawing of the answer: drawings below each other are one picture of the
// command. An answer without a drawing is an error.
func SVG(w io.Writer, a *answer.Answer) error {
	switch {
	case len(a.Drawings) > 0:
		return a.Drawings[0].Draw(w)
	case a.NoDrawing != "":
		return fmt.Errorf("%s has nothing to draw: %s", a.Command, a.NoDrawing)
	}
	return fmt.Errorf("%s has no drawing", a.Command)
}

// Markdown writes the answer as a page of GitHub Flavored Markdown.
func Markdown(w io.Writer, a *answer.Answer, o Options) error {
	var b strings.Builder
	title := a.Question
	if title == "" {
		title = "homenode " + a.Command
	}
	fmt.Fprintf(&b, "# %s\n\n", Mark(title))
	for i, line := range a.Verdict {
		if i == 0 {
			line = "**" + Mark(line) + "**"
		} else {
			line = Mark(line)
		}
		fmt.Fprintf(&b, "%s\n\n", line)
	}
	for _, f := range a.Facts {
		fmt.Fprintf(&b, "- %s: %s\n", Mark(f.Name), Mark(f.Text))
	}
	if len(a.Facts) > 0 {
		b.WriteByte('\n')
	}
	for _, t := range a.AllTables() {
		markTable(&b, &t)
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "- %s\n", Mark(n.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markTable(b *strings.Builder, t *answer.Table) {
	if t.Title != "" {
		fmt.Fprintf(b, "## %s\n\n", Mark(t.Title))
	}
	var head, rule strings.Builder
	for _, c := range t.Columns {
		head.WriteString("| " + Mark(c.Name) + " ")
		if c.Right {
			rule.WriteString("|--:")
		} else {
			rule.WriteString("|---")
		}
	}
	fmt.Fprintf(b, "%s|\n%s|\n", head.String(), rule.String())
	for _, row := range t.Rows {
		for _, cell := range row {
			b.WriteString("| " + Mark(cell.Text) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	if t.Cut != "" {
		fmt.Fprintf(b, "%s\n\n", Mark(t.Cut))
	}
}

var escape = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[")

// Mark returns text of strangers on one line of Markdown, nothing in it markup.
func Mark(s string) string { return escape.Replace(texttab.Line(s)) }
