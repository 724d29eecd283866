// Package benchmark parses the output of benchmark tools: homenode measure, Intel Memory Latency Checker,
// google/multichase, PassMark PerformanceTest, HammerDB, fio, HCIBench, Iometer, and waits of SQL Server stored by
// sp_BlitzFirst. A file may contain several runs; each becomes a Run whose metrics have the same names in every repetition,
// so that runs can be compared.
package benchmark

import (
	"fmt"

	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// A Better is the direction in which a metric improves.
type Better string

// The directions of a metric.
const (
	Higher  Better = "higher"
	Lower   Better = "lower"
	Neither Better = "" // a size, or a cost that depends on the speed reached
)

// A Metric is one number that a run measured.
type Metric struct {
	Name   string  `json:"name"`           // the same in every run of the tool
	Unit   string  `json:"unit,omitempty"` // "MB/s" is 10^6 bytes a second, "MiB/s" 2^20; "1/s", "ns", "ms", "%"; empty for scores
	Value  float64 `json:"value"`          // finite, not negative
	Better Better  `json:"better,omitempty"`
	Line   int     `json:"line"`
	Col    int     `json:"col,omitempty"` // from 1, in bytes of the decoded line
}

// A Run is the measurements of one run of a tool, with its configuration.
type Run struct {
	Source string // the file, as given
	Format string // of the file, as Detect names it
	Tool   string // "Intel MLC", "fio", …
	// Name identifies the test, equal in every repetition: the access specification, the job and its block size. Empty for
	// tools with a single test.
	Name     string
	Line     int         // where the run begins
	Settings []fact.Fact // its configuration: version, block size, VMs, …
	Facts    []fact.Fact // other statements
	Metrics  []Metric    // no name twice
	Warnings []fact.Warning
	// Untrusted reports that the run itself marks its figures as unreliable; Warnings give the reasons.
	Untrusted bool

	names map[string]bool // of Metrics
}

// Label returns the tool with the name of the run.
func (r *Run) Label() string {
	if r.Name == "" {
		return r.Tool
	}
	return r.Tool + " " + r.Name
}

// File returns the facts of the run.
func (r *Run) File() *fact.File {
	f := &fact.File{Name: r.Source, Format: r.Format, Warnings: r.Warnings}
	r.appendTo(f, r.Label())
	return f
}

func (r *Run) appendTo(f *fact.File, subject string) {
	first := len(f.Facts)
	for _, list := range [][]fact.Fact{r.Settings, r.Facts} {
		for _, x := range list {
			x.Subject = subject
			f.Facts = append(f.Facts, x)
		}
	}
	for _, m := range r.Metrics {
		f.Add(m.Line, m.Col, subject, m.Name, m.Value, m.Unit)
	}
	fact.SortFacts(f.Facts[first:])
}

func (r *Run) setting(at text.Line, name string, value any, unit string) {
	r.Settings = append(r.Settings, fact.Fact{Name: name, Value: value, Unit: unit, Line: at.N, Col: at.Col})
}

func (r *Run) fact(at text.Line, name string, value any, unit string) {
	r.Facts = append(r.Facts, fact.Fact{Name: name, Value: value, Unit: unit, Line: at.N, Col: at.Col})
}

func (r *Run) has(name string) bool { return r.names[name] }

// Results are the runs of one file, in its order.
type Results struct {
	Name     string // the file, as given
	Format   string // as Detect names it
	Runs     []*Run
	Warnings []fact.Warning // of no run
}

// File returns the facts of the file, run by run. Runs with equal labels are numbered.
func (r *Results) File() *fact.File {
	f := &fact.File{Name: r.Name, Format: r.Format}
	total, n := map[string]int{}, map[string]int{}
	for _, run := range r.Runs {
		total[run.Label()]++
	}
	for _, run := range r.Runs {
		label := run.Label()
		if n[label]++; total[label] > 1 {
			label = fmt.Sprintf("%s, run %d of %d", label, n[label], total[label])
		}
		run.appendTo(f, label)
	}
	f.Warnings = r.AllWarnings()
	return f
}

// AllWarnings returns the warnings of the file and of its runs, by line.
func (r *Results) AllWarnings() []fact.Warning {
	var all []fact.Warning
	all = append(all, r.Warnings...)
	for _, run := range r.Runs {
		all = append(all, run.Warnings...)
	}
	fact.SortWarnings(all)
	return all
}
