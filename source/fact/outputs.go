package fact

import (
	"fmt"
	"io"

	"homenode/numa"
	"homenode/source/text"
)

// maxOutputs is the longest file of outputs that is read, in bytes: the settings of a
// host, the largest list that is known, have 0.5 MB.
const maxOutputs = 8 << 20

// Outputs reads a file that holds what commands printed, one output after another, and
// warns about the lines that belong to none.
type Outputs struct {
	Name string // of the file, as given
	Want string // for errors: "the output of lscpu, numactl -H or Coreinfo"
	Last *File  // of the last output; nil before the first
	// Endless lets the file have any length: the reader bounds each output.
	Endless bool

	early []Warning
	first text.Line // that belongs to no output
	run   int       // lines in a row that belong to none
}

// Read hands each line to line. The error is a *numa.SyntaxError for a file that is too
// long to be outputs.
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

// Stray warns of a line that belongs to no output; of several in a row only the first. What a
// terminal prints at a login is skipped.
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

// Known ends a row of stray lines.
func (o *Outputs) Known() { o.run = 0 }

func (o *Outputs) warn(n int, what string) {
	if o.Last == nil {
		o.early = append(o.early, Warning{Line: n, Text: what})
		return
	}
	o.Last.Warn(n, 0, "%s", what)
}

// End gives the warnings of the lines before the first output to it. Without an output
// it returns a *numa.SyntaxError.
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
