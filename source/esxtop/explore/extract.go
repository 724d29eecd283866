package explore

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"homenode/source/esxtop"
)

// Extracted is what Extract has written.
type Extracted struct {
	Columns  int // without the time
	Rows     int
	Warnings []string // file:line:column: text; the first of each kind
}

// Extract writes a CSV file with the time, in UTC as RFC 3339 has it, and the
// columns that one of the patterns matches, in the order of the file. A pattern is a glob,
// as in Options, of OBJECT(INSTANCE)\COUNTER, or of the whole name with \\HOST\ before.
// Cells are written as they stand. A cell that a row does not have is empty. Columns of
// the same name are numbered.
//
// Nothing is written when a pattern matches no column. When the file cannot be read to its
// end, what was read is written and the error returned.
func Extract(w io.Writer, name string, r io.Reader, patterns []string, workers int) (*Extracted, error) {
	var globs []*pathGlob
	for _, p := range patterns {
		g, err := newPathGlob(p)
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	rd, err := esxtop.NewReader(name, r, esxtop.Options{Workers: workers, Text: true, Want: func(c *esxtop.Column) bool {
		wanted := false
		for _, g := range globs {
			if g.matches(c) { // each one counts its own
				wanted = true
			}
		}
		return wanted
	}})
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	for _, g := range globs {
		if g.hits == 0 {
			return nil, g.miss(name, rd.Header())
		}
	}
	x := &extraction{w: bufio.NewWriterSize(w, 64<<10), name: name}
	x.head(rd.Header())
	for rd.Scan() {
		x.row(rd.Row())
	}
	for _, warning := range rd.Warnings() {
		x.Warnings = append(x.Warnings, warning.Error())
	}
	if err := x.w.Flush(); err != nil {
		return nil, err
	}
	return &x.Extracted, rd.Err()
}

// An extraction is a CSV file that is being written. The errors of w stay in it up to
// Flush.
type extraction struct {
	Extracted
	w       *bufio.Writer
	name    string
	header  *esxtop.Header
	columns []esxtop.Column // written, in their order
	places  []int           // of them among the header's wanted columns; -1 when it lacks one
}

func (x *extraction) head(h *esxtop.Header) {
	x.w.WriteString("time")
	for i, at := range h.Wanted {
		c := h.Columns[at]
		x.columns = append(x.columns, plain(c))
		x.places = append(x.places, i)
		x.w.WriteByte(',')
		name := c.String()
		if c.Copy > 0 {
			name = fmt.Sprintf("%s #%d", name, c.Copy+1)
		}
		x.cell([]byte(name))
	}
	x.w.WriteByte('\n')
	x.header, x.Columns = h, len(x.columns)
}

func (x *extraction) row(row *esxtop.Row) {
	if row.Header != x.header {
		x.change(row.Header)
	}
	x.w.Write(row.Time.AppendFormat(x.w.AvailableBuffer(), "2006-01-02T15:04:05.999Z07:00"))
	for _, at := range x.places {
		x.w.WriteByte(',')
		if at >= 0 {
			x.cell(row.Text(at))
		}
	}
	x.w.WriteByte('\n')
	x.Rows++
}

// change finds the written columns in another header.
func (x *extraction) change(h *esxtop.Header) {
	x.header = h
	at := map[esxtop.Column]int{}
	for i, c := range h.Wanted {
		at[plain(h.Columns[c])] = i
	}
	for i, c := range x.columns {
		x.places[i] = -1
		if place, ok := at[c]; ok {
			x.places[i] = place
			delete(at, c)
		}
	}
	if len(at) > 0 {
		x.Warnings = append(x.Warnings, fmt.Sprintf("%s:%d:1: found %d columns that match but were not in the first header: they are left out", x.name, h.Line, len(at)))
	}
}

// cell writes a cell, in quotes when it needs them. What would move the cursor of a
// terminal is replaced.
func (x *extraction) cell(b []byte) {
	plain := true
	for _, c := range b {
		if c < ' ' || c == 0x7f || c == ',' || c == '"' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		x.w.Write(b)
		return
	}
	s := strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, string(bytes.ToValidUTF8(b, []byte("\uFFFD"))))
	if strings.ContainsAny(s, `,"`) {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	x.w.WriteString(s)
}
