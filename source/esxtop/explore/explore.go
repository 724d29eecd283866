// Package explore describes the contents of an esxtop batch file for an administrator who does not
// know it yet: its objects, their instances and counters, its time and its damage. It also extracts
// single counters. Both are one pass in constant memory.
package explore

import (
	"fmt"
	"io"
	"time"

	"homenode/source/esxtop"
)

// Options select columns by globs, ignoring case: * is any text, ? is one character, other
// characters are literal. An empty glob matches everything.
type Options struct {
	Object   string // Group Memory
	Instance string // *:sql01
	Counter  string // Numa *
	Workers  int    // goroutines that read ahead; 0 means none
}

// A Listing describes the contents of a file.
type Listing struct {
	File      string     `json:"file"`
	Quoted    bool       `json:"quoted"`    // every field is in quotes, as esxtop writes it
	Separator string     `json:"separator"` // "," as esxtop writes it
	Zone      string     `json:"zone"`      // as the header names it
	Bias      float64    `json:"bias"`      // minutes added to the stamps for UTC
	Hosts     []string   `json:"hosts"`
	Columns   int        `json:"columns"` // of all headers, without the time
	Headers   int        `json:"headers"` // number of different headers; more than 1 when columns changed
	Rows      int        `json:"rows"`
	First     *time.Time `json:"first,omitempty"` // nil without rows
	Last      *time.Time `json:"last,omitempty"`
	// Interval is nil when fewer than two rows are later than the one before.
	Interval *Interval `json:"interval,omitempty"`
	Warnings []string  `json:"warnings,omitempty"` // file:line:column: text; the first of each kind
	Objects  []*Object `json:"objects"`            // selected by Options, in the order of the file
}

// An Interval is the time between rows, in seconds.
type Interval struct {
	Least float64 `json:"least"`
	Mean  float64 `json:"mean"`
	Most  float64 `json:"most"`
}

// An Object is a kind of object with counters.
type Object struct {
	Name      string      `json:"name"` // empty for columns whose name is no path
	Columns   int         `json:"columns"`
	Counters  []*Counter  `json:"counters"`
	Instances []*Instance `json:"instances"`

	counters  map[string]*Counter
	instances map[instanceKey]*Instance
}

// A Counter is one quantity of an object.
type Counter struct {
	Name    string `json:"name"`
	Columns int    `json:"columns"` // one per instance that has it
}

// An Instance is one object of a kind. Its name is empty when it is the only one.
type Instance struct {
	Host    string `json:"host"`
	Name    string `json:"name"`
	Columns int    `json:"columns"`
}

type instanceKey struct{ host, name string }

// List reads a file to its end. After a read error it returns the partial listing with the error.
// The error is that of esxtop.NewReader, of r, or names a glob without matches.
func List(name string, r io.Reader, opt Options) (*Listing, error) {
	rd, err := esxtop.NewReader(name, r, esxtop.Options{Workers: opt.Workers, Want: func(*esxtop.Column) bool { return false }})
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	l := newListing(name, opt)
	header := rd.Header()
	l.add(header)
	if err := l.nothing(header); err != nil {
		return nil, err
	}
	var gaps gaps
	for rd.Scan() {
		row := rd.Row()
		if rd.Header() != header {
			header = rd.Header()
			l.add(header)
		}
		l.Rows++
		gaps.add(row.Time, row.Line)
	}
	l.Interval = gaps.interval()
	if l.Rows > 0 {
		l.First, l.Last = &gaps.first, &gaps.latest
	}
	for _, w := range rd.Warnings() {
		l.Warnings = append(l.Warnings, w.Error())
	}
	if gaps.back > 0 {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s:%d: found a row that is earlier than the one before (%d in all)", name, gaps.backLine, gaps.back))
	}
	return &l.Listing, rd.Err()
}

// A listing is a Listing under construction.
type listing struct {
	Listing
	pick    picker
	objects map[string]*Object
	hosts   map[string]bool
	seen    map[esxtop.Column]bool // nil with one header
	header  *esxtop.Header
}

func newListing(name string, opt Options) *listing {
	l := &listing{pick: newPicker(opt), objects: map[string]*Object{}, hosts: map[string]bool{}}
	l.File, l.Objects = name, []*Object{}
	return l
}

// add adds the columns of a header; for a further header, only the new ones.
func (l *listing) add(h *esxtop.Header) {
	l.Headers++
	if l.header == nil {
		l.header = h
		quoted, separator := h.Form()
		l.Quoted, l.Separator, l.Zone, l.Bias = quoted, string(rune(separator)), h.Zone, h.Bias.Minutes()
	} else if l.seen == nil {
		l.seen = map[esxtop.Column]bool{}
		for i := range l.header.Columns {
			l.seen[plain(l.header.Columns[i])] = true
		}
	}
	for i := range h.Columns {
		c := &h.Columns[i]
		if l.seen != nil {
			if l.seen[plain(*c)] {
				continue
			}
			l.seen[plain(*c)] = true
		}
		l.Columns++
		if !l.hosts[c.Host] && c.Host != "" {
			l.hosts[c.Host] = true
			l.Hosts = append(l.Hosts, c.Host)
		}
		if l.pick.matches(c) {
			l.column(c)
		}
	}
}

// plain returns c without its position.
func plain(c esxtop.Column) esxtop.Column {
	c.Index, c.Damaged = 0, false
	return c
}

func (l *listing) column(c *esxtop.Column) {
	o := l.objects[c.Object]
	if o == nil {
		o = &Object{Name: c.Object, counters: map[string]*Counter{}, instances: map[instanceKey]*Instance{}}
		l.objects[c.Object] = o
		l.Objects = append(l.Objects, o)
	}
	o.Columns++
	counter := o.counters[c.Counter]
	if counter == nil {
		counter = &Counter{Name: c.Counter}
		o.counters[c.Counter] = counter
		o.Counters = append(o.Counters, counter)
	}
	counter.Columns++
	key := instanceKey{c.Host, c.Instance}
	instance := o.instances[key]
	if instance == nil {
		instance = &Instance{Host: c.Host, Name: c.Instance}
		o.instances[key] = instance
		o.Instances = append(o.Instances, instance)
	}
	instance.Columns++
}

// gaps are the times between rows.
type gaps struct {
	first, latest, before time.Time
	least, most, sum      time.Duration
	n                     int
	back, backLine        int
}

func (g *gaps) add(t time.Time, line int) {
	switch {
	case g.first.IsZero():
		g.first, g.latest = t, t
	case t.Before(g.before):
		if g.back++; g.back == 1 {
			g.backLine = line
		}
	case t.After(g.before):
		d := t.Sub(g.before)
		if g.n == 0 || d < g.least {
			g.least = d
		}
		g.most = max(g.most, d)
		g.sum += d
		g.n++
	}
	if t.After(g.latest) {
		g.latest = t
	}
	if t.Before(g.first) {
		g.first = t
	}
	g.before = t
}

func (g *gaps) interval() *Interval {
	if g.n == 0 {
		return nil
	}
	return &Interval{Least: g.least.Seconds(), Mean: g.sum.Seconds() / float64(g.n), Most: g.most.Seconds()}
}
