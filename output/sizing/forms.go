package sizing

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"homenode/internal/texttab"
	"homenode/output/chart"
	"homenode/output/table"
)

// JSON writes the answer for programs: the typed result with what it rests on.
func JSON(w io.Writer, a *Answer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Format   string       `json:"format"`
		Version  int          `json:"version"`
		Command  string       `json:"command"`
		Question string       `json:"question"`
		Assumed  []Assumption `json:"assumed,omitempty"`
		Verdict  []string     `json:"verdict"`
		Result   any          `json:"result"`
		If       []Change     `json:"whatIf,omitempty"`
		Notes    []string     `json:"notes,omitempty"`
	}{"homenode-" + strings.ReplaceAll(a.Command, " ", "-"), 1, a.Command, a.Question, a.Assumed, a.Verdict, a.Result, a.If, a.Notes})
}

// CSV writes the tables of the answer, its verdict and its notes, each row behind the name
// of its table; a table begins with a row of its column names. Drawings are left out.
func CSV(w io.Writer, a *Answer) error {
	var out []table.Table
	all := append([]Table{lineTable("verdict", a.Verdict)}, a.all()...)
	for _, t := range append(all, lineTable("notes", a.Notes)) {
		switch {
		case t.Drawing || len(t.Rows) == 0 && t.Plain == nil:
			continue
		case t.Plain != nil:
			t.Columns, t.Rows = t.Plain.Columns, t.Plain.Rows
		}
		out = append(out, t.model())
	}
	return table.CSVAll(w, out)
}

// model returns the table as CSV has it.
func (t *Table) model() table.Table {
	var columns []table.Column
	for _, c := range t.Columns {
		columns = append(columns, table.Column{Name: c.Name})
	}
	rows := make([][]table.Cell, len(t.Rows))
	for i, row := range t.Rows {
		for _, cell := range row {
			rows[i] = append(rows[i], table.Figure(cell))
		}
	}
	return table.Of(t.Name, columns, rows)
}

// lineTable returns a table of sentences.
func lineTable(name string, lines []string) Table {
	t := Table{Name: name, Columns: []Column{{Name: "text"}}}
	for _, line := range lines {
		t.Rows = append(t.Rows, []string{strings.TrimSpace(line)})
	}
	return t
}

// SVG draws the answer: by Draw when the command has a drawing of its own, else its charts
// below each other. An answer without a drawing is an error.
func SVG(w io.Writer, a *Answer) error {
	switch {
	case a.Draw != nil:
		return a.Draw(w)
	case len(a.Charts) > 0:
		return chart.Draw(w, a.Charts, chart.Options{})
	}
	if a.NoDrawing != "" {
		return fmt.Errorf("%s has nothing to draw: %s", a.Command, a.NoDrawing)
	}
	return fmt.Errorf("%s has no drawing", a.Command)
}

// Markdown writes the answer as a page.
func Markdown(w io.Writer, a *Answer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdown(a.Question))
	for _, line := range a.Verdict {
		fmt.Fprintf(&b, "**%s**\n\n", markdown(line))
	}
	titles := map[string]string{"assumed": "Assumed", "whatif": "What if"}
	for _, t := range a.all() {
		if title := titles[t.Name] + t.Title; title != "" {
			fmt.Fprintf(&b, "## %s\n\n", markdown(title))
		}
		var head, rule strings.Builder
		for _, c := range t.Columns {
			head.WriteString("| " + markdown(c.Name) + " ")
			if c.Right {
				rule.WriteString("|--:")
			} else {
				rule.WriteString("|---")
			}
		}
		fmt.Fprintf(&b, "%s|\n%s|\n", head.String(), rule.String())
		for _, row := range t.Rows {
			for _, cell := range row {
				b.WriteString("| " + markdown(cell) + " ")
			}
			b.WriteString("|\n")
		}
		b.WriteString("\n")
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "- %s\n", markdown(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// all returns every table of the answer, in the order of reading.
func (a *Answer) all() []Table {
	var out []Table
	if len(a.Assumed) > 0 {
		out = append(out, *assumedTable(a))
	}
	out = append(out, a.Tables...)
	if len(a.If) > 0 {
		out = append(out, *changeTable(a))
	}
	return out
}

var markdownEscape = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "\n", " ")

func markdown(s string) string { return markdownEscape.Replace(texttab.Clean(s)) }
