// Package fetchstats parses answers of the service "Esxtop" of the vSphere API: one CounterInfo, which describes the columns,
// and any number of FetchStats, each a host at one moment. Scripts on top of PowerCLI or govmomi save them one after another in
// a file, or each in a file of its own.
//
//	|Server|MinFetchIntervalInUsec,U64|…|Time,S64|      CounterInfo
//	==NUM-OF-OBJ==                                      FetchStats
//	|Server|PCPU,1|PMem,1|…
//	==COUNTER-VALUE==
//	|Server|2000000|1|40445292577250|1570529635|
//	|SchedGroup|90356474|vm.13713826|1|1|frigo001|…
//
// An answer contains counters since the start of the host, a group or a world; a Tick's values over time are the differences to
// the answer before.
package fetchstats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// The formats that Detect distinguishes.
const (
	CounterInfo = "esxtop CounterInfo"
	FetchStats  = "esxtop FetchStats"
)

// The lines of an answer.
const (
	objects = "==NUM-OF-OBJ=="
	values  = "==COUNTER-VALUE=="
)

// maxAnswer bounds one answer in bytes; a host of 1,120 groups has 0.7 MB.
const maxAnswer = 64 << 20

const (
	// maxTypes bounds the types of rows in one CounterInfo; those of real hosts have about 40.
	maxTypes = 1000
	// maxSchemas bounds the cached CounterInfo: answers of so many releases may be mixed.
	maxSchemas = 16
)

// A Series converts the answers of one or several hosts to ticks. It spans files that belong together: the state after one file
// is used in the next.
type Series struct {
	// Host names the host, which no answer contains. When the answers turn out to come from several hosts and Known is false,
	// the others are named "HOST (2)" and so on.
	Host string
	// Known is true when all answers are of Host, as with an API, whatever their size, start and VMs indicate.
	Known bool
	// Machine maps the PCPUs of that host to nodes, which no answer does; nil leaves the load of the nodes unknown.
	Machine *numa.Host
	// Clock is the host's clock in the answer of the last tick. The tick is later when the clock was set back.
	Clock time.Time

	schemas []*schema // the last is the newest
	hosts   []*host
	spare   *answer
	tick    numa.Tick
}

// Detect detects the format from the start of a file, as text: CounterInfo for a file that begins so, with or without answers after it.
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

// HasAnswer reports whether an answer begins in the start of a file, as text.
func HasAnswer(head []byte) bool {
	for raw := range bytes.Lines(head) {
		if line := string(bytes.TrimSpace(raw)); line == objects || line == values {
			return true
		}
	}
	return false
}

// Read parses one file and calls visit for each answer that yields a tick, in the order of the file. The tick is valid until
// visit returns. The error is that of visit, of r, or a *numa.SyntaxError when the file cannot be parsed at all; lesser faults are warnings.
func (s *Series) Read(name string, r io.Reader, visit func(*numa.Tick) error) ([]fact.Warning, error) {
	f := &file{series: s, name: name, visit: visit}
	lines := text.NewLines(r)
	blank := false // the previous line: homenode record ends an answer with a blank one
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if err := f.line(lines.Line(), line); err != nil {
			return f.kinds.All(), err
		}
		blank = len(line) == 0
	}
	if err := lines.Err(); err != nil {
		err = fmt.Errorf("read %s: %w", name, err)
		if blank { // the truncated part belongs to the next answer
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

// Learn reads only the CounterInfo at the start of a file.
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

// Start returns the time of the first answer of a file, for sorting files; false with the reason when it has no readable one.
// The Series must know its CounterInfo.
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

// A file is one file being parsed.
type file struct {
	series *Series
	name   string
	visit  func(*numa.Tick) error
	kinds  fact.Kinds

	found  bool
	schema *schema // of the answer being parsed
	open   int     // first line of the answer; 0 outside
	inside bool    // after ==COUNTER-VALUE==
	text   []byte  // the relevant rows of the answer
	rows   []row   // their text is set at the end of the answer
	ends   []int   // of the rows in text
}

// used are the types of rows needed for a tick.
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

// row stores a row of the answer.
func (f *file) row(n int, line []byte) error {
	first, _, _ := bytes.Cut(line[1:], []byte("|"))
	name, ok := used[string(first)]
	if !ok {
		return nil
	}
	const beside = 64 // bytes stored for a row beside its text
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

// flush ends the current CounterInfo or answer.
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

// learn adds a schema; a known one becomes the newest.
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

// answer converts the rows to a tick.
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
