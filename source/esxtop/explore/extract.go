package explore

import (
	"fmt"
	"io"
	"time"

	"homenode/source/esxtop"
)

// A Stretch is the time range of the rows to write, both ends included; zero is no bound.
type Stretch struct{ From, To time.Time }

// An Extraction is the time and some columns of a batch file. Close it.
type Extraction struct {
	Columns []string // without the time
	// Results of Each.
	Rows     int
	Outside  int      // rows outside the Stretch
	Warnings []string // file:line:column: text; the first of each kind

	rd      *esxtop.Reader
	name    string
	during  Stretch
	once    bool // the file cannot be read again: later columns were not searched for
	header  *esxtop.Header
	columns []esxtop.Column // in the order of Columns
	places  []int           // their index among the header's wanted columns; -1 when it lacks one
}

// Extract reads the columns that match one of the patterns, in the order of the file. A pattern is
// a glob, as in Options, for OBJECT(INSTANCE)\COUNTER, or for the whole name with \\HOST\ before.
// Columns of the same name are numbered. A pattern without matching columns is an error.
//
// A file can have another header further down, as VMs come and go. again reopens the file to search
// for these first, so that later columns are included too. It may be nil for a stream that can be
// read once: then only columns of the first header are included, and a warning counts the others.
func Extract(name string, r io.Reader, again func() (io.ReadCloser, error), patterns []string, workers int, during Stretch) (*Extraction, error) {
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
			if g.matches(c) { // each one counts its own matches
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
	for _, g := range globs {
		if g.hits == 0 {
			rd.Close()
			return nil, g.miss(name, rd.Header(), again == nil)
		}
	}
	x := &Extraction{rd: rd, name: name, during: during, once: again == nil, header: rd.Header()}
	x.choose(later)
	return x, nil
}

// Each yields the rows of the Stretch: their time in UTC, and their cells as in the file, nil for a
// cell missing in the row. The cells are valid until the next row.
func (x *Extraction) Each(yield func(at time.Time, cells [][]byte) bool) {
	cells := make([][]byte, len(x.columns))
	for x.rd.Scan() {
		row := x.rd.Row()
		if row.Time.Before(x.during.From) || !x.during.To.IsZero() && row.Time.After(x.during.To) {
			x.Outside++
			continue
		}
		if row.Header != x.header {
			x.change(row.Header)
		}
		for i, at := range x.places {
			if cells[i] = nil; at >= 0 {
				cells[i] = row.Text(at)
			}
		}
		x.Rows++
		if !yield(row.Time, cells) {
			break
		}
	}
	for _, warning := range x.rd.Warnings() {
		x.Warnings = append(x.Warnings, warning.Error())
	}
}

// Err returns the error that ended reading before the end of the file.
func (x *Extraction) Err() error { return x.rd.Err() }

// Close stops reading.
func (x *Extraction) Close() { x.rd.Close() }

// laterColumns returns the wanted columns of all headers of a file, each once; none when it cannot be read again.
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
	return all, nil // faults of the file are reported when it is read
}

// choose lists the wanted columns of the first header, then the later ones.
func (x *Extraction) choose(later []esxtop.Column) {
	known := map[esxtop.Column]bool{}
	for i, at := range x.header.Wanted {
		c := plain(x.header.Columns[at])
		known[c] = true
		x.columns, x.places = append(x.columns, c), append(x.places, i)
	}
	for _, c := range later {
		if !known[c] {
			x.columns, x.places = append(x.columns, c), append(x.places, -1)
		}
	}
	for i := range x.columns {
		c := &x.columns[i]
		name := c.String()
		if c.Copy > 0 {
			name = fmt.Sprintf("%s #%d", name, c.Copy+1)
		}
		x.Columns = append(x.Columns, name)
	}
}

// change finds the written columns in another header.
func (x *Extraction) change(h *esxtop.Header) {
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
