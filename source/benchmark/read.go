package benchmark

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// Read parses the results in r; name is used in places and messages. An error is a
// *numa.SyntaxError, or of r. A file with a header and no result gives no run and a warning.
func Read(name string, r io.Reader) (*Results, error) {
	in := bufio.NewReaderSize(bounded.Reader(r, maxFile), text.HeadSize)
	raw, err := in.Peek(text.HeadSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	format, ok := Detect(text.Decoded(raw))
	if !ok {
		return nil, unknown{&numa.SyntaxError{File: name, Msg: "found no result of " + tools() + " in the beginning of the file"}}
	}
	rd := &reader{in: text.NewLines(in), res: &Results{Name: name, Format: format}}
	i := slices.IndexFunc(formats, func(f formatReader) bool { return f.name == format })
	err = formats[i].read(rd)
	if rd.beyond != nil {
		return nil, rd.beyond
	}
	if broken := rd.in.Err(); broken != nil {
		return nil, fmt.Errorf("%s: %w", name, broken)
	}
	if err != nil {
		return nil, err
	}
	rd.flush()
	rd.run = nil // the following warnings belong to the file
	rd.res.Runs = slices.DeleteFunc(rd.res.Runs, func(run *Run) bool { return rd.drop(run) })
	if len(rd.res.Runs) == 0 && len(rd.res.Warnings) == 0 {
		rd.warn(max(rd.in.Line(), 1), 0, "found no result")
	}
	fact.SortWarnings(rd.res.Warnings)
	return rd.res, nil
}

// ErrUnknown is wrapped by the error for a file without benchmark results.
var ErrUnknown = errors.New("found no result of a benchmark")

// unknown is the error for a file without results: a *numa.SyntaxError, and ErrUnknown.
type unknown struct{ error }

func (unknown) Is(target error) bool { return target == ErrUnknown }
func (e unknown) Unwrap() error      { return e.error }

// Limits of a file, which may come from an archive with a high compression ratio. A year of results
// has some 10 MB and a few thousand numbers.
const (
	maxFile = 64 << 20 // bytes, unpacked
	maxKept = 100_000  // metrics, facts, settings and warnings
)

// bound reports whether the stored results are within the limit.
func (r *reader) bound() bool {
	if r.kept+len(r.res.Warnings)+r.lastSize() > maxKept {
		r.beyond = &numa.SyntaxError{File: r.res.Name, Line: r.in.Line(), Msg: fmt.Sprintf("found more than %d numbers and warnings, want the results of some thousand runs", maxKept)}
	}
	return r.beyond == nil
}

// lastSize returns the size of the last run.
func (r *reader) lastSize() int {
	if len(r.res.Runs) == 0 {
		return 0
	}
	run := r.res.Runs[len(r.res.Runs)-1]
	return len(run.Metrics) + len(run.Facts) + len(run.Settings) + len(run.Warnings)
}

// drop reports whether a run has no measurements, and keeps its warnings.
func (r *reader) drop(run *Run) bool {
	if len(run.Metrics) > 0 {
		return false
	}
	r.res.Warnings = append(r.res.Warnings, run.Warnings...)
	r.warn(run.Line, 0, "%s begins here and holds no result", run.Label())
	return true
}

// A reader parses a file line by line and collects its runs.
type reader struct {
	in        *text.Lines
	text.Line // the current one, with no-break spaces replaced by blanks at the same columns
	res       *Results
	run       *Run // the last of res.Runs; nil before the first
	kept      int  // size of all runs but the last
	beyond    *numa.SyntaxError
	// consecutive lines that could not be parsed
	odd struct {
		first, last, more int
		text              string
	}
}

// scan advances to the next line.
func (r *reader) scan() bool {
	if r.beyond != nil || !r.in.Scan() || !r.bound() {
		return false
	}
	// Two blanks for the two bytes of U+00A0, which HCIBench puts before units.
	r.Line = text.Line{N: r.in.Line(), Col: 1, Text: strings.ReplaceAll(r.in.Text(), "\u00a0", "  ")}
	if r.in.Cut() {
		r.warn(r.N, 0, "line is longer than %d bytes: its rest is skipped", text.MaxLine)
	}
	return true
}

// start starts a new run at the current line.
func (r *reader) start(tool, name string) *Run {
	r.flush()
	r.kept += r.lastSize()
	r.run = &Run{Source: r.res.Name, Format: r.res.Format, Tool: tool, Name: name, Line: r.N}
	r.res.Runs = append(r.res.Runs, r.run)
	return r.run
}

func (r *reader) warn(line, col int, format string, args ...any) {
	w := fact.Warning{Line: line, Col: col, Text: fmt.Sprintf(format, args...)}
	if r.run != nil {
		r.run.Warnings = append(r.run.Warnings, w)
		return
	}
	r.res.Warnings = append(r.res.Warnings, w)
}

// metric adds a metric to the run.
func (r *reader) metric(at text.Line, name string, value float64, unit string, better Better) {
	if r.run.has(name) {
		r.doubt(at, "found a second value of %q in one run: it is left out", name)
		return
	}
	if r.run.names == nil {
		r.run.names = map[string]bool{}
	}
	r.run.names[name] = true
	r.run.Metrics = append(r.run.Metrics, Metric{name, unit, value, better, at.N, at.Col})
}

// A measure is the metric for a number that a tool prints under its own name.
type measure struct {
	name, unit string
	better     Better
}

// measured adds the metric at a place. 0 is the value of an idle direction: a share of nothing,
// which is reported but not compared.
func (r *reader) measured(at text.Line, m measure) {
	n, ok := number(at.Text)
	switch {
	case !ok:
		r.doubt(at, "found %q, want the number of %s", text.Short(at.Text), m.name)
	case n == 0:
		r.run.fact(at, m.name, n, m.unit)
	default:
		r.metric(at, m.name, n, m.unit, m.better)
	}
}

// doubt adds a warning about a place.
func (r *reader) doubt(at text.Line, format string, args ...any) {
	r.warn(at.N, at.Col, format, args...)
}

// skip records that the current line could not be parsed. Consecutive lines make one warning:
// output is pasted into documents.
func (r *reader) skip() {
	if strings.TrimSpace(r.Text) == "" {
		return
	}
	o := &r.odd
	if o.first == 0 {
		o.first, o.text = r.N, r.Text
	} else {
		o.more++
	}
	o.last = r.N
}

// understood ends a sequence of unparsed lines.
func (r *reader) understood() { r.flush() }

func (r *reader) flush() {
	o := r.odd
	if o.first == 0 {
		return
	}
	r.odd.first, r.odd.more = 0, 0
	found := strconv.Quote(text.Short(strings.TrimSpace(o.text)))
	switch o.more {
	case 0:
		r.warn(o.first, 0, "found %s, which is no line of %s", found, r.res.Format)
	case 1:
		r.warn(o.first, 0, "found %s and one more line up to line %d, which are no lines of %s", found, o.last, r.res.Format)
	default:
		r.warn(o.first, 0, "found %s and %d more lines up to line %d, which are no lines of %s", found, o.more, o.last, r.res.Format)
	}
}

// squeeze returns s in lower case with single blanks, for comparison (formats change their blanks
// and capitals between releases).
func squeeze(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// number parses a finite number that is not negative, with or without commas between thousands.
// "-", "nan", "12,5" and hexadecimal numbers are rejected.
func number(s string) (float64, bool) {
	if strings.Contains(s, ",") {
		whole, rest, point := strings.Cut(s, ".")
		parts := strings.Split(whole, ",")
		for i, p := range parts {
			if len(p) != 3 && (i > 0 || len(p) == 0 || len(p) > 3) {
				return 0, false
			}
		}
		if s = strings.Join(parts, ""); point {
			s += "." + rest
		}
	}
	if s == "" || strings.Trim(s, "0123456789.eE+-") != "" || s[0] == '-' || s[0] == '+' {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, false
	}
	return v, true
}
