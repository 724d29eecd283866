// Package fetchstats reads what the service "Esxtop" of the vSphere API answers: one
// CounterInfo, which says what the columns are, and any number of FetchStats, each a host
// at one moment. Scripts on top of PowerCLI or govmomi save them one after another in a
// file, or each in a file of its own.
//
//	|Server|MinFetchIntervalInUsec,U64|…|Time,S64|      CounterInfo
//	==NUM-OF-OBJ==                                      FetchStats
//	|Server|PCPU,1|PMem,1|…
//	==COUNTER-VALUE==
//	|Server|2000000|1|40445292577250|1570529635|
//	|SchedGroup|90356474|vm.13713826|1|1|frigo001|…
//
// An answer states counters since the start of the host, a group or a world; what a Tick
// says of a stretch of time is the difference to the answer before.
package fetchstats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"homenode/numa"
	"homenode/source/fact"
	"homenode/source/text"
)

// The formats that Detect distinguishes.
const (
	CounterInfo = "esxtop CounterInfo"
	FetchStats  = "esxtop FetchStats"
)

// The lines that an answer consists of.
const (
	objects = "==NUM-OF-OBJ=="
	values  = "==COUNTER-VALUE=="
)

// maxAnswer bounds one answer in bytes; a host of 1,120 groups has 0.7 MB.
const maxAnswer = 64 << 20

const (
	// maxTypes bounds the types of rows in one CounterInfo; those of real hosts have about 40.
	maxTypes = 1000
	// maxSchemas bounds what is kept of CounterInfo: answers of so many releases may be mixed.
	maxSchemas = 16
)

// A Series turns the answers of one host, or of several, into ticks. It lives as long as
// there are files that belong together: what one file says is known in the next.
type Series struct {
	// Host names the host, as no answer does. Unless it is Known, when the answers turn out to be of
	// several hosts, the others are named "HOST (2)" and so on.
	Host string
	// Known says that all answers are of Host, as an API tells: whatever its size, start
	// and VMs show.
	Known bool
	// Machine tells which PCPU of that host is on which node, as no answer does; nil
	// leaves the load of the nodes unknown.
	Machine *numa.Host
	// Clock is what the host's clock said in the answer that the last tick is of. The tick is later when the clock was set back.
	Clock time.Time

	schemas []*schema // the last is the newest
	hosts   []*host
	spare   *answer
	tick    numa.Tick
}

// Detect tells by the beginning of a file, as text, which format it has: CounterInfo for a
// file that begins so, with or without answers behind it.
func Detect(head []byte) (format string, ok bool) {
	for raw := range bytes.Lines(head) {
		line := bytes.TrimSpace(raw)
		switch {
		case len(line) == 0:
			continue
		case string(line) == objects || string(line) == values:
			return FetchStats, true
		case line[0] != '|':
			continue // a script may write a line of its own
		}
		_, _, ok := schemaRow(line)
		return CounterInfo, ok
	}
	return "", false
}

// HasAnswer reports whether an answer begins in the beginning of a file, as text.
func HasAnswer(head []byte) bool {
	for raw := range bytes.Lines(head) {
		if line := string(bytes.TrimSpace(raw)); line == objects || line == values {
			return true
		}
	}
	return false
}

// Read reads one file and calls visit for each answer of which it can make a tick, in the
// order of the file. The tick is valid until visit returns. The error is that of visit, of
// r, or a *numa.SyntaxError when the file cannot be read at all; what is lesser is a
// warning.
func (s *Series) Read(name string, r io.Reader, visit func(*numa.Tick) error) ([]fact.Warning, error) {
	f := &file{series: s, name: name, visit: visit}
	lines := text.NewLines(r)
	blank := false // the line before: homenode record ends an answer with one
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if err := f.line(lines.Line(), line); err != nil {
			return f.kinds.All(), err
		}
		blank = len(line) == 0
	}
	if err := lines.Err(); err != nil {
		err = fmt.Errorf("read %s: %w", name, err)
		if blank { // what is cut off is the answer after this one
			err = errors.Join(f.flush(), err)
		}
		return f.kinds.All(), err
	}
	if err := f.flush(); err != nil {
		return f.kinds.All(), err
	}
	if !f.found {
		return f.kinds.All(), &numa.SyntaxError{File: name, Line: 1, Msg: "found neither CounterInfo nor FetchStats"}
	}
	return f.kinds.All(), nil
}

// Learn reads the CounterInfo with which a file begins and nothing else.
func (s *Series) Learn(name string, r io.Reader) error {
	f := &file{series: s, name: name}
	lines := text.NewLines(r)
	for lines.Scan() && f.open == 0 {
		if err := f.line(lines.Line(), bytes.TrimSpace(lines.Bytes())); err != nil {
			return err
		}
	}
	f.open = 0
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return f.flush()
}

// Start returns the time of the first answer of a file, for the order of files; false
// when it has none that can be read, and then why. The Series has to know its CounterInfo.
func (s *Series) Start(name string, r io.Reader) (start time.Time, why []fact.Warning, ok bool, err error) {
	look := &Series{Host: s.Host, schemas: append([]*schema(nil), s.schemas...)}
	why, err = look.Read(name, r, func(t *numa.Tick) error {
		start, ok = t.Time, true
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return start, why, ok, err
}

var errEnough = errors.New("enough")

// A file is one file that is being read.
type file struct {
	series *Series
	name   string
	visit  func(*numa.Tick) error
	kinds  fact.Kinds

	found  bool
	schema *schema // being read
	open   int     // line on which the answer begins; 0 outside
	inside bool    // behind ==COUNTER-VALUE==
	text   []byte  // of the rows of the answer that matter
	rows   []row   // their text is set when the answer ends
	ends   []int   // of the rows in text
}

// used are the types of rows that a tick is made of.
var used = map[string]string{"Server": "Server", "PCPU": "PCPU", "LCPU": "LCPU", "PMem": "PMem", "NUMANode": "NUMANode", "Sched": "Sched",
	"SchedGroup": "SchedGroup", "VMNUMANodeMem": "VMNUMANodeMem", "VCPU": "VCPU", "VMem": "VMem"}

func (f *file) line(n int, line []byte) error {
	switch {
	case len(line) == 0:
		return nil
	case string(line) == objects, string(line) == values && (f.open == 0 || f.inside):
		if err := f.flush(); err != nil {
			return err
		}
		f.found, f.open, f.inside = true, n, string(line) == values
		return nil
	case string(line) == values:
		f.inside = true
		return nil
	}
	if line[0] != '|' {
		f.stray(n, line)
		return nil
	}
	if name, fields, ok := schemaRow(line); ok {
		if f.schema == nil || f.schema.types[name] != nil {
			if err := f.flush(); err != nil {
				return err
			}
			f.found, f.schema = true, &schema{line: n}
		}
		if f.schema.add(name, fields); len(f.schema.types) > maxTypes {
			return &numa.SyntaxError{File: f.name, Line: f.schema.line, Msg: fmt.Sprintf("found a CounterInfo of more than %d types", maxTypes)}
		}
		return nil
	}
	if !f.inside {
		if f.open == 0 {
			f.stray(n, line)
		}
		return nil
	}
	return f.row(n, line)
}

// row keeps a row of the answer.
func (f *file) row(n int, line []byte) error {
	first, _, _ := bytes.Cut(line[1:], []byte("|"))
	name, ok := used[string(first)]
	if !ok {
		return nil
	}
	const beside = 64 // bytes that are kept of a row beside its text
	if len(f.text)+len(line)+beside*len(f.rows) > maxAnswer {
		return &numa.SyntaxError{File: f.name, Line: n, Msg: fmt.Sprintf("found an answer of more than %d MB", maxAnswer>>20)}
	}
	f.text = append(f.text, line...)
	f.rows = append(f.rows, row{name: name, line: n})
	f.ends = append(f.ends, len(f.text))
	return nil
}

func (f *file) stray(n int, line []byte) {
	f.kinds.Warn("stray", n, 1, "not understood: %q", text.Short(string(line)))
}

// flush ends the CounterInfo or answer that is being read.
func (f *file) flush() error {
	if f.schema != nil {
		if lack := f.schema.lacks(); lack != "" {
			return &numa.SyntaxError{File: f.name, Line: f.schema.line, Msg: "found a CounterInfo without " + lack}
		}
		f.series.learn(f.schema)
		f.schema = nil
	}
	if f.open == 0 {
		return nil
	}
	from := 0
	for i, end := range f.ends {
		f.rows[i].text = f.text[from:end]
		from = end
	}
	err := f.answer()
	f.open, f.inside, f.text, f.rows, f.ends = 0, false, f.text[:0], f.rows[:0], f.ends[:0]
	return err
}

// learn keeps a schema; one that is known becomes the newest.
func (s *Series) learn(c *schema) {
	for i, known := range s.schemas {
		if known.same(c) {
			s.schemas = append(append(s.schemas[:i:i], s.schemas[i+1:]...), known)
			return
		}
	}
	s.schemas = append(s.schemas, c)
	if len(s.schemas) > maxSchemas {
		s.schemas = s.schemas[1:]
	}
}

// answer makes a tick of the rows.
func (f *file) answer() error {
	s := f.series
	if len(s.schemas) == 0 {
		return &numa.SyntaxError{File: f.name, Line: f.open, Msg: "found FetchStats without CounterInfo: what the columns are differs by release; " +
			"save the answer to CounterInfo of the same host before it in the file, or beside it in the folder"}
	}
	var fit *schema
	misfit := ""
	for i := len(s.schemas) - 1; i >= 0 && fit == nil; i-- {
		why := s.schemas[i].misfit(f.rows)
		if why == "" {
			fit = s.schemas[i]
		} else if misfit == "" {
			misfit = why
		}
	}
	warn := func(kind string, line int, text string) { f.kinds.Warn(kind, line, 0, "%s", text) }
	if fit == nil {
		f.kinds.Warn("misfit", f.open, 0, "the answer is left out: %s: it is cut off, or CounterInfo is of another host", misfit)
		return nil
	}
	a := s.spare
	if s.spare = nil; a == nil {
		a = &answer{}
	}
	if err := a.read(fit, f.rows, warn); err != nil {
		f.kinds.Warn("unread", f.open, 0, "the answer is left out: %v", err)
		s.spare = a
		return nil
	}
	a.line = f.open
	h := s.hostOf(a, warn)
	if !s.next(h, a, warn) {
		s.spare = a
		return nil
	}
	s.tick.Line = f.open
	return f.visit(&s.tick)
}

func nth(name string, n int) string {
	return strings.TrimSpace(fmt.Sprintf("%s (%d)", name, n))
}
