package sizing

import (
	"fmt"
	"io"
	"strings"

	"homenode/internal/texttab"
	"homenode/output/svg"
)

// Text writes the answer for a terminal: what was assumed, the result, what would change
// it.
func Text(w io.Writer, a *Answer, colour bool) error {
	p := &printer{w: w, colour: colour}
	p.wrapped("", a.Question, p.bold)
	if len(a.Assumed) > 0 {
		p.heading("assumed")
		p.table(narrow(assumedTable(a)), "  ", false)
	}
	p.heading("result")
	for _, line := range a.Verdict {
		p.wrapped("  ", line, p.bold)
	}
	for i := range a.Tables {
		p.line("")
		if t := &a.Tables[i]; t.Title != "" {
			p.line("  %s", texttab.Clean(t.Title))
		}
		p.table(&a.Tables[i], "  ", true)
	}
	if len(a.If) > 0 {
		p.heading("what if")
		p.table(changeTable(a), "  ", false)
	}
	if len(a.Notes) > 0 {
		p.heading("notes")
		for _, n := range a.Notes {
			p.wrapped("  ", n, plain)
		}
	}
	for i, n := range a.Next {
		if i == 0 {
			p.heading("next")
		}
		p.line("  %s", texttab.Clean(n))
	}
	return p.err
}

type printer struct {
	w      io.Writer
	colour bool
	err    error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) heading(name string) { p.line("\n%s", name) }

// page is how many columns of a terminal an answer takes at most; tables of the result
// may take more.
const page = 120

// wrapped writes a sentence in lines that fit a page, the further ones set in.
func (p *printer) wrapped(indent, s string, paint func(string) string) {
	const more = "  "
	wide := page - len(indent)
	lines := svg.Wrap(texttab.Clean(s), wide)
	if len(lines) > 1 {
		rest := strings.Join(lines[1:], " ")
		lines = append(lines[:1], svg.Wrap(rest, wide-len(more))...)
	}
	for i, line := range lines {
		if i > 0 {
			line = more + line
		}
		p.line("%s%s", indent, paint(line))
	}
}

func plain(s string) string { return s }

// narrow wraps the last column of a table so that it fits a page, in rows whose other
// cells are empty. A column that is left less than leastColumn is as wide as that.
func narrow(t *Table) *Table {
	const indent, gap, leastColumn = 2, 2, 40
	last := len(t.Columns) - 1
	wide := page - indent
	for i := range last {
		most := 0
		for _, row := range t.Rows {
			most = max(most, texttab.Width(row[i]))
		}
		wide -= most + gap
	}
	out := &Table{Name: t.Name, Columns: t.Columns}
	for _, row := range t.Rows {
		for i, line := range svg.Wrap(texttab.Clean(row[last]), max(leastColumn, wide)) {
			cells := make([]string, len(row))
			if i == 0 {
				copy(cells, row)
			}
			cells[last] = line
			out.Rows = append(out.Rows, cells)
		}
	}
	return out
}

func (p *printer) bold(s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func (p *printer) table(t *Table, indent string, heads bool) {
	tab := texttab.Table{Indent: indent, Right: map[int]bool{}}
	heading := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heading[i], tab.Right[i] = strings.ToUpper(c.Name), c.Right
	}
	if heads {
		tab.Row(heading...)
	}
	for _, row := range t.Rows {
		tab.Row(row...)
	}
	if p.err == nil {
		_, p.err = tab.WriteTo(p.w)
	}
}

// assumedTable returns the assumptions as a table. Short ones: the range stands behind
// the value, the hardware behind the source.
func assumedTable(a *Answer) *Table {
	t := &Table{Name: "assumed", Columns: []Column{{Name: "what"}, {Name: "value"}, {Name: "origin"}, {Name: "source"}}}
	for _, as := range a.Assumed {
		value := as.Value
		if as.Range != "" {
			value += " (" + as.Range + ")"
		}
		source := as.Source
		for _, more := range []string{as.Hardware, as.Note} {
			if more != "" && source != "" {
				source += ", " + more
			} else if more != "" {
				source = more
			}
		}
		t.Rows = append(t.Rows, []string{as.What, value, string(as.Origin), source})
	}
	return t
}

func changeTable(a *Answer) *Table {
	t := &Table{Name: "whatif", Columns: []Column{{Name: "if"}, {Name: "result"}, {Name: "change", Right: true}}}
	for _, c := range a.If {
		t.Rows = append(t.Rows, []string{c.If, c.Result, c.Change})
	}
	return t
}
