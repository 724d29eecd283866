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
	p.line("%s", p.bold(texttab.Clean(a.Question)))
	if len(a.Assumed) > 0 {
		p.heading("assumed")
		p.table(assumedTable(a), "  ", false)
	}
	p.heading("result")
	for _, line := range a.Verdict {
		p.line("  %s", p.bold(texttab.Clean(line)))
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
			p.wrapped(texttab.Clean(n))
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

// wrapped writes a sentence in lines that fit a page, the further ones set in.
func (p *printer) wrapped(s string) {
	const wide = 118
	for i, line := range svg.Wrap(s, wide) {
		if i > 0 {
			line = "  " + line
		}
		p.line("  %s", line)
	}
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
