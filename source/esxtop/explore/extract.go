package explore

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"homenode/source/esxtop"
)

// Extracted is what Extract has written.
type Extracted struct {
	Columns  int // without the time
	Rows     int
	Outside  int      // rows outside the Stretch
	Warnings []string // file:line:column: text; the first of each kind
}

// A Stretch is the time that rows are written of, both ends with it; zero is no bound.
type Stretch struct{ From, To time.Time }

// Extract writes a CSV file with the time, in UTC as RFC 3339 has it, and the
// columns that one of the patterns matches, in the order of the file. A pattern is a glob,
// as in Options, of OBJECT(INSTANCE)\COUNTER, or of the whole name with \\HOST\ before.
// Cells are written as they stand. A cell that a row does not have is empty. Columns of
// the same name are numbered.
//
// A file can have another header further down, as VMs come and go. again opens it once more
// to look for them first, so that columns that come later are written, too; it may be nil for
// what can be read once: then those of the first header are written, and a warning counts the
// others.
//
// Nothing is written when a pattern matches no column. When the file cannot be read to its
// end, what was read is written and the error returned.
func Extract(w io.Writer, name string, r io.Reader, again func() (io.ReadCloser, error), patterns []string, workers int, during Stretch) (*Extracted, error) {
	var globs []*pathGlob
	for _, p := range patterns {
		g, err := newPathGlob(p)
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	want := func(c *esxtop.Column) bool {
		wanted := false
		for _, g := range globs {
			if g.matches(c) { // each one counts its own
				wanted = true
			}
		}
		return wanted
	}
	later, err := laterColumns(name, again, want, workers)
	if err != nil {
		return nil, err
	}
	rd, err := esxtop.NewReader(name, r, esxtop.Options{Workers: workers, Text: true, Want: want})
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	for _, g := range globs {
		if g.hits == 0 {
			return nil, g.miss(name, rd.Header(), again == nil)
		}
	}
	x := &extraction{w: bufio.NewWriterSize(w, 64<<10), name: name, once: again == nil}
	x.head(rd.Header(), later)
	for rd.Scan() {
		if t := rd.Row().Time; t.Before(during.From) || !during.To.IsZero() && t.After(during.To) {
			x.Outside++
			continue
		}
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

// laterColumns returns the wanted columns of all headers of a file, each once; none when it
// cannot be read again.
func laterColumns(name string, again func() (io.ReadCloser, error), want func(*esxtop.Column) bool, workers int) (all []esxtop.Column, err error) {
	if again == nil {
		return nil, nil
	}
	r, err := again()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	seen := map[esxtop.Column]bool{}
	rd, err := esxtop.NewReader(name, r, esxtop.Options{Workers: workers, Want: func(*esxtop.Column) bool { return false }})
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	take := func(h *esxtop.Header) {
		for i := range h.Columns {
			if c := plain(h.Columns[i]); !seen[c] && want(&h.Columns[i]) {
				seen[c] = true
				all = append(all, c)
			}
		}
	}
	header := rd.Header()
	take(header)
	for rd.Scan() {
		if h := rd.Header(); h != header {
			header = h
			take(h)
		}
	}
	return all, nil // what is wrong with the file shows when it is read
}

// An extraction is a CSV file that is being written. The errors of w stay in it up to
// Flush.
type extraction struct {
	Extracted
	w       *bufio.Writer
	name    string
	once    bool // the file cannot be read again: columns that come later were not looked for
	header  *esxtop.Header
	columns []esxtop.Column // written, in their order
	places  []int           // of them among the header's wanted columns; -1 when it lacks one
}

// head writes the names of the wanted columns of the first header, then of those that come
// later.
func (x *extraction) head(h *esxtop.Header, all []esxtop.Column) {
	x.w.WriteString("time")
	known := map[esxtop.Column]bool{}
	for i, at := range h.Wanted {
		c := plain(h.Columns[at])
		known[c] = true
		x.columns, x.places = append(x.columns, c), append(x.places, i)
	}
	for _, c := range all {
		if !known[c] {
			x.columns, x.places = append(x.columns, c), append(x.places, -1)
		}
	}
	for i := range x.columns {
		c := &x.columns[i]
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
	if len(at) > 0 && x.once {
		x.Warnings = append(x.Warnings, fmt.Sprintf("%s:%d:1: found %d columns that match but were not in the first header: they are left out, as what is read once has the columns of its first header; extract from the file itself", x.name, h.Line, len(at)))
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
