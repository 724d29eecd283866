//go:build linux

package main

import (
	"fmt"
	"io"

	"example.org/homenode/cmd/bench/contest"
)

// A target is a required figure and the way to compute it.
type target struct {
	text string
	// measured returns the figure; ok is false if a contender did not take part.
	measured func(r results) (figure float64, ok bool)
	least    float64
	most     float64 // instead of least
	unit     string
}

// results finds contenders.
type results []*contender

func (r results) find(g group, name string, cores int) *contender {
	for _, c := range r {
		if c.group == g && c.name == name && c.cores == cores && len(c.runs) > 0 {
			return c
		}
	}
	return nil
}

// speed returns the speed of a contender.
func speed(g group, name string, cores int) func(results) (float64, bool) {
	return func(r results) (float64, bool) {
		if c := r.find(g, name, cores); c != nil {
			return c.speed(c.median()), true
		}
		return 0, false
	}
}

// rows returns the speed of a contender without fixed costs (start and header): it is computed
// from the difference of a longer and a shorter file.
func rows(name string, cores int) func(results) (float64, bool) {
	return func(r results) (float64, bool) {
		short, longer := r.find(question, name, cores), r.find(long, name, cores)
		if short == nil || longer == nil {
			return 0, false
		}
		seconds := longer.median().seconds - short.median().seconds
		return float64(longer.file.Bytes-short.file.Bytes) / seconds / 1e9, seconds > 0
	}
}

// over returns the ratio of two speeds, a/b.
func over(a, b func(results) (float64, bool)) func(results) (float64, bool) {
	return func(r results) (float64, bool) {
		x, ok := a(r)
		y, both := b(r)
		return x / y, ok && both
	}
}

// memory returns the resident memory of a contender, in MB.
func memory(g group, name string, cores int) func(results) (float64, bool) {
	return func(r results) (float64, bool) {
		if c := r.find(g, name, cores); c != nil {
			return float64(c.mostRSS()) / 1e6, true
		}
		return 0, false
	}
}

// targets returns the project's targets.
func targets() []target {
	own := readerAlone
	reader := speed(question, own, 1)
	out := []target{
		{text: "the question, one core", measured: reader, least: 3, unit: "GB/s"},
		{text: "the question about the longer file, one core", measured: speed(long, own, 1), least: 3, unit: "GB/s"},
		{text: "the question without the header, one core", measured: rows(own, 1), unit: "GB/s"},
		{text: "share of the speed of read(2)", measured: over(reader, speed(ceiling, readAlone, 1)), unit: "times"},
		{text: "the same for the longer file", measured: over(speed(long, own, 1), speed(ceiling, readAlone, 1)), unit: "times"},
		{text: "share of the speed of finding each newline", measured: over(reader, speed(ceiling, findNewlines, 1)), unit: "times"},
		{text: "two cores to one", measured: over(speed(question, own, 2), reader), least: 1.8, unit: "times"},
		{text: "two cores to one, longer file", measured: over(speed(long, own, 2), speed(long, own, 1)), least: 1.8, unit: "times"},
		{text: "the machine, two cores to one, reading and finding newlines", measured: over(speed(ceiling, findNewlines, 2), speed(ceiling, findNewlines, 1)), unit: "times"},
		{text: "the whole command, one core", measured: speed(command, wholeCommand, 1), unit: "GB/s"},
		{text: "the whole command, two cores to one", measured: over(speed(command, wholeCommand, 2), speed(command, wholeCommand, 1)), least: 1.8, unit: "times"},
		{text: "the whole command on the longer file, one core", measured: speed(long, wholeCommand, 1), unit: "GB/s"},
		{text: "the same, two cores to one", measured: over(speed(long, wholeCommand, 2), speed(long, wholeCommand, 1)), least: 1.8, unit: "times"},
		{text: "all columns converted, one core", measured: speed(everything, own, 1), least: 1, unit: "GB/s"},
		{text: "all columns converted, two cores to one", measured: over(speed(everything, own, 2), speed(everything, own, 1)), unit: "times"},
		{text: "against encoding/csv, one core", measured: over(reader, speed(question, encodingCSV, 1)), least: 8, unit: "times"},
		{text: "against polars, one core", measured: over(reader, speed(question, polars, 1)), least: 8, unit: "times"},
		{text: "against polars, two cores", measured: over(speed(question, own, 2), speed(question, polars, 2)), least: 8, unit: "times"},
		{text: "against DuckDB, one core", measured: over(reader, speed(question, duckDBAlone, 1)), least: 100, unit: "times"},
		{text: "against DuckDB that is told the columns, one core", measured: over(reader, speed(question, duckDB, 1)), least: 100, unit: "times"},
		{text: "against DuckDB that is told the columns, two cores", measured: over(speed(question, own, 2), speed(question, duckDB, 2)), least: 100, unit: "times"},
		{text: "against the index of esx-doctor, which is no answer yet", measured: over(reader, speed(question, esxDoctorIndex, 1)), least: 30, unit: "times"},
		{text: "against esx-doctor to the same answer", measured: over(reader, speed(question, esxDoctorAll, 1)), least: 30, unit: "times"},
	}
	for _, cores := range []int{1, 2} {
		on := fmt.Sprintf(", cores: %d", cores)
		out = append(out,
			target{text: "memory of the reader" + on, measured: memory(question, own, cores), most: 100, unit: "MB"},
			target{text: "memory of the reader, longer file" + on, measured: memory(long, own, cores), most: 100, unit: "MB"},
			target{text: "memory of the whole command" + on, measured: memory(command, wholeCommand, cores), most: 100, unit: "MB"},
			target{text: "memory of the whole command, longer file" + on, measured: memory(long, wholeCommand, cores), most: 100, unit: "MB"})
	}
	return out
}

// writeTargets prints each target with the measured figure.
func writeTargets(w io.Writer, s *settings, all []*contender) error {
	t := contest.Table{Markdown: s.markdown}
	t.Row("", "target", "measured", "")
	for _, g := range targets() {
		got, ok := g.measured(all)
		if !ok {
			continue
		}
		want, verdict := "–", ""
		switch {
		case g.least > 0:
			want, verdict = "at least "+contest.Figure(g.least), missed(got < g.least)
		case g.most > 0:
			want, verdict = "at most "+contest.Figure(g.most), missed(got > g.most)
		}
		t.Row(g.text, want, contest.Figure(got)+" "+g.unit, verdict)
	}
	return t.Write(w, "Targets")
}

func missed(yes bool) string {
	if yes {
		return "missed"
	}
	return "reached"
}
