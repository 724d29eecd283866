package fact

import (
	"fmt"
	"io"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// maxOutputs is the maximum size of a file of outputs, in bytes. The settings of a host, the
// largest known output, have 0.5 MB.
const maxOutputs = 8 << 20

// Outputs reads a file of command outputs, one after another, and warns about the lines that
// belong to none.
type Outputs struct {
	Name string // of the file, as given
	Want string // for errors: "the output of lscpu, numactl -H or Coreinfo"
	Last *File  // of the last output; nil before the first
	// Endless removes the size limit: the reader limits each output.
	Endless bool

	early []Warning
	first text.Line // first line in the row that belongs to no output
	run   int       // number of consecutive lines that belong to none
}

// Read passes each line to the function. It returns a *numa.SyntaxError if the file is too long
// for outputs.
func (o *Outputs) Read(r io.Reader, line func(n int, raw string)) error {
	lines := text.NewLines(r)
	size := 0
	for lines.Scan() {
		if size += len(lines.Bytes()) + 1; size > maxOutputs && !o.Endless {
			return &numa.SyntaxError{File: o.Name, Line: lines.Line(), Msg: fmt.Sprintf("found more than %d MB, want the output of a command", maxOutputs>>20)}
		}
		line(lines.Line(), lines.Text())
		if lines.Cut() {
			o.warn(lines.Line(), "the line is cut")
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", o.Name, err)
	}
	return nil
}

// Stray warns about a line that belongs to no output; of consecutive ones, only about the
// first. Login messages of a terminal are skipped.
func (o *Outputs) Stray(l text.Line) {
	if text.IsBanner(l.Text) {
		return
	}
	if o.first.N == 0 {
		o.first = l
	}
	if o.run++; o.run == 1 {
		o.warn(l.N, fmt.Sprintf("not understood: %q", text.Short(l.Text)))
	}
}

// Known ends a sequence of stray lines.
func (o *Outputs) Known() { o.run = 0 }

func (o *Outputs) warn(n int, what string) {
	if o.Last == nil {
		o.early = append(o.early, Warning{Line: n, Text: what})
		return
	}
	o.Last.Warn(n, 0, "%s", what)
}

// End moves the warnings about the lines before the first output to that output. Without an
// output it returns a *numa.SyntaxError.
func (o *Outputs) End(first *File) error {
	switch {
	case first != nil:
		first.Warnings = append(o.early, first.Warnings...)
		o.early = nil
		return nil
	case o.first.N == 0:
		return &numa.SyntaxError{File: o.Name, Line: 1, Msg: "found no text, want " + o.Want}
	}
	return &numa.SyntaxError{File: o.Name, Line: o.first.N, Col: o.first.Col, Msg: fmt.Sprintf("found %q, want %s", text.Short(o.first.Text), o.Want)}
}
