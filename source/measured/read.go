package measured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/strict"
	"example.org/homenode/source/text"
)

// maxFile is more than the output of a guest with 1,024 vCPUs, in bytes.
const maxFile = 64 << 20

var begins = pattern.Of(`^\s*\{\s*"format"\s*:\s*"` + Format + `"`)

// Detect reports whether the start of a file, decoded text, is that of homenode measure.
func Detect(head []byte) bool { return begins.Match(head) }

// Write writes the result in the format that Read parses.
func Write(w io.Writer, r *Result) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("measured: %w", err)
	}
	_, err = texttab.EscapedJSON(w).Write(append(b, '\n'))
	return err
}

// Read parses the results of a file: one, or several after another. name is used in errors, which are a *numa.SyntaxError for
// malformed input. The results before it are returned with the error: a file to which a run appends may be truncated.
func Read(name string, from io.Reader) ([]*Document, error) {
	lines := text.NewLines(bounded.Reader(from, maxFile))
	var doc bytes.Buffer
	for lines.Scan() {
		if lines.Cut() {
			return nil, &numa.SyntaxError{File: name, Line: lines.Line(), Msg: fmt.Sprintf("found a line of more than %d bytes", text.MaxLine)}
		}
		doc.Write(lines.Bytes())
		doc.WriteByte('\n')
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return decode(name, doc.Bytes())
}

// decode parses the documents of a text.
func decode(name string, doc []byte) ([]*Document, error) {
	d := strict.NewDecoder(name, noun, doc)
	var all []*Document
	line, counted := 1, int64(0) // number of lines up to there
	for all == nil || d.More() {
		r := &Result{}
		from := d.Begin()
		if err := d.Next(r); err != nil {
			return all, err
		}
		if err := r.check(); err != nil {
			return all, strict.At(name, doc, from, err.Error())
		}
		line, counted = line+bytes.Count(doc[counted:from], []byte("\n")), from
		all = append(all, &Document{Result: r, Source: name, Line: line})
	}
	return all, nil
}

// noun names the content of a file in errors.
const noun = "result of homenode measure"

// A fault is a value that no run of homenode measure writes.
type fault struct{ path, msg string }

func (f *fault) Error() string { return f.path + ": " + f.msg }

// check returns an error for content that no run writes: another format or version, impossible numbers.
func (r *Result) check() error {
	if r.Format != Format {
		return &fault{"format", fmt.Sprintf("found %.40q, want %q", r.Format, Format)}
	}
	if r.Version != Version {
		return &fault{"version", fmt.Sprintf("found %d, want %d: a newer homenode reads it", r.Version, Version)}
	}
	if r.Machine == nil {
		return &fault{"machine", "found none"}
	}
	c := &checker{}
	for i, rung := range r.Rungs {
		c.stats(fmt.Sprintf("rungs[%d].latencyNs", i), &rung.Latency)
	}
	for i, l := range r.Levels {
		c.number(fmt.Sprintf("levels[%d].latencyNs", i), l.Latency, math.MaxFloat64)
	}
	for i, t := range r.Threads {
		c.number(fmt.Sprintf("bandwidthByThreads[%d].mbPerSecond", i), t.MBps, math.MaxFloat64)
	}
	c.matrix("latencyMatrix", r.Latency)
	c.matrix("bandwidthMatrix", r.Bandwidth)
	for i := range r.Loaded {
		c.stats(fmt.Sprintf("loaded[%d].latencyNs", i), &r.Loaded[i].Latency)
	}
	for i := range r.Steps {
		c.stats(fmt.Sprintf("steps[%d].latencyNs", i), &r.Steps[i].Latency)
	}
	if r.Cores != nil {
		for i, p := range r.Cores.Pairs {
			c.number(fmt.Sprintf("cores.pairs[%d].latencyNs.median", i), p.Latency.Median, math.MaxFloat64)
		}
	}
	if h := r.Hidden; h != nil {
		for i, s := range h.Shares {
			at := fmt.Sprintf("hidden.shares[%d].", i)
			c.number(at+"remote", s.Remote, 1)
			c.number(at+"low", s.Low, 1)
			c.number(at+"high", s.High, 1)
		}
		if m := h.Modes; m != nil {
			c.number("hidden.modes.nearNs", m.Near, math.MaxFloat64)
			c.number("hidden.modes.farNs", m.Far, math.MaxFloat64)
		}
	}
	if r.Lost != nil {
		c.number("lost.byHost", r.Lost.ByHost, 1)
	}
	return c.first
}

// A checker keeps the first fault.
type checker struct{ first error }

func (c *checker) number(path string, v, most float64) {
	if c.first == nil && !(v >= 0 && v <= most) {
		c.first = &fault{path, fmt.Sprintf("found %v, want 0 to %v", v, most)}
		if most == math.MaxFloat64 {
			c.first = &fault{path, fmt.Sprintf("found %v, want a number that is not negative", v)}
		}
	}
}

func (c *checker) stats(path string, s *Stats) {
	for _, v := range []float64{s.Median, s.Low, s.High, s.Min, s.P25, s.P75, s.P99} {
		c.number(path, v, math.MaxFloat64)
	}
}

func (c *checker) matrix(path string, m *Matrix) {
	if m == nil || c.first != nil {
		return
	}
	if len(m.Cells) != len(m.From) {
		c.first = &fault{path + ".cells", fmt.Sprintf("found %d rows, want %d as in from", len(m.Cells), len(m.From))}
		return
	}
	for i, row := range m.Cells {
		if len(row) != len(m.To) {
			c.first = &fault{fmt.Sprintf("%s.cells[%d]", path, i), fmt.Sprintf("found %d cells, want %d as in to", len(row), len(m.To))}
			return
		}
		for j, cell := range row {
			if cell.Stats != nil {
				c.stats(fmt.Sprintf("%s.cells[%d][%d]", path, i, j), cell.Stats)
			}
		}
	}
}
