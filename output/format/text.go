package format

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/output/answer"
)

// Text writes the answer for a terminal: the verdict, its basis, the result, the changes, and
// the next commands.
func Text(w io.Writer, a *answer.Answer, o Options) error {
	p := &printer{w: w, o: o}
	if a.Question != "" {
		p.sentence("", a.Question, bold)
	}
	for i, line := range a.Verdict {
		code := ""
		if i == 0 {
			code = bold
		}
		p.sentence("", line, code)
	}
	if len(a.Facts) > 0 {
		p.line("")
		p.facts(a.Facts)
	}
	if len(a.Assumed) > 0 {
		p.heading("assumed")
		t := answer.AssumedTable(a.Assumed)
		p.table(&t, "  ", false)
	}
	drawn := p.drawings(a.Drawings)
	for i := range a.Tables {
		t := &a.Tables[i]
		if t.Long || drawn {
			continue
		}
		p.line("")
		if t.Title != "" {
			p.line("%s", texttab.Clean(t.Title))
		}
		p.table(t, "", true)
		if t.Cut != "" {
			p.line("%s", texttab.Clean(t.Cut))
		}
		for _, s := range t.Foot {
			p.sentence("", s, "")
		}
	}
	if a.Findings != nil {
		p.findings(a.Findings)
	}
	if len(a.Changes) > 0 {
		p.heading("what if")
		t := answer.ChangeTable(a.Changes)
		p.table(&t, "  ", false)
	}
	p.notes(a)
	if len(a.Next) > 0 {
		p.heading("next")
		for _, n := range a.Next {
			p.line("  %s", texttab.Clean(n))
		}
	}
	if a.Findings != nil {
		p.exit(a.Findings)
	}
	return p.err
}

// canvas is the default width of drawings in columns.
const canvas = 100

// drawings prints the drawings for terminals, and reports whether there are any.
func (p *printer) drawings(all []answer.Drawing) (drawn bool) {
	for _, d := range all {
		if d.Letters == nil || p.err != nil {
			continue
		}
		if drawn {
			p.line("")
		}
		width := p.o.Width
		width = cmp.Or(width, canvas)
		p.err, drawn = d.Letters(p.w, width, p.o.Colour), true
	}
	return drawn
}

// A printer writes text and stores the first error.
type printer struct {
	w    io.Writer
	o    Options
	err  error
	said map[[3]string]string // the rule that first had this advice and notice for a subject
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) heading(name string) { p.line("\n%s", name) }

// paper is the default width of sentences in columns.
const paper = 120

// sentence writes a wrapped sentence. Continuation lines are indented.
func (p *printer) sentence(indent, s, code string) {
	const more = "  "
	wide := p.width() - len(indent)
	lines := texttab.Wrap(texttab.Line(s), wide)
	if len(lines) > 1 {
		lines = append(lines[:1], texttab.Wrap(strings.Join(lines[1:], " "), wide-len(more))...)
	}
	for i, line := range lines {
		if i > 0 {
			line = more + line
		}
		p.line("%s%s", indent, p.paint(line, code))
	}
}

func (p *printer) width() int {
	if p.o.Width > 0 {
		return p.o.Width
	}
	return paper
}

// ANSI codes of tones and emphasis.
const bold = "1"

var codes = [...]string{answer.Plain: "", answer.Faint: "2", answer.Low: "36", answer.Medium: "33", answer.High: "1;31", answer.Bad: "33"}

func (p *printer) paint(s, code string) string {
	if !p.o.Colour || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) facts(all []answer.Fact) {
	t := texttab.Table{Width: p.width()}
	for _, f := range all {
		t.Row(f.Name, f.Text, f.Took)
	}
	p.write(&t)
}

// table writes a table. One without column names wraps its text to the page width. A table that
// is too wide for the terminal is split into several, which all have the first column.
func (p *printer) table(t *answer.Table, indent string, heads bool) {
	rest := make([]int, len(t.Columns))
	for i := range rest {
		rest[i] = i
	}
	for len(rest) > 0 {
		n := len(rest)
		tab := p.columns(t, rest, indent, heads)
		for heads && n > 2 && !tab.Fits() {
			n--
			tab = p.columns(t, rest[:n], indent, heads)
		}
		p.write(tab)
		if n == len(rest) {
			return
		}
		rest = append([]int{rest[0]}, rest[n:]...)
		p.line("")
	}
}

// columns returns a table with the selected columns.
func (p *printer) columns(t *answer.Table, which []int, indent string, heads bool) *texttab.Table {
	tab := &texttab.Table{Indent: indent, Right: map[int]bool{}, Width: p.o.Width}
	if !heads {
		tab.Width = p.width()
	}
	row := make([]string, len(which))
	for i, c := range which {
		column := t.Columns[c]
		row[i], tab.Right[i] = column.Name, column.Right
		if !column.AsIs {
			row[i] = strings.ToUpper(column.Name)
		}
	}
	if heads {
		tab.Row(row...)
	}
	for _, cells := range t.Rows {
		for i, c := range which {
			row[i] = cells[c].Text
		}
		tab.Row(row...)
		for i, c := range which {
			if code := codes[cells[c].Tone]; code != "" && p.o.Colour {
				tab.Paint(i, code)
			}
		}
	}
	return tab
}

func (p *printer) write(t *texttab.Table) {
	if p.err == nil {
		_, p.err = t.WriteTo(p.w)
	}
}
