package truth

import (
	"bytes"
	"io"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/compare"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/fact"
)

func run(tool, name string, settings []fact.Fact, values ...benchmark.Metric) *benchmark.Run {
	return &benchmark.Run{Tool: tool, Name: name, Settings: settings, Metrics: values}
}

func report() *compare.Report {
	var a, b []*benchmark.Run
	for i := range 3 {
		x := float64(i)
		a = append(a, run("fio", "job\x1b[2J", []fact.Fact{{Name: "bs", Value: "4k"}},
			benchmark.Metric{Name: "IOPS", Unit: "1/s", Better: benchmark.Higher, Value: 1234567.8 + x},
			benchmark.Metric{Name: "latency", Unit: "µs", Better: benchmark.Lower, Value: 100 + x},
			benchmark.Metric{Name: "errors", Better: benchmark.Lower},
			benchmark.Metric{Name: "size", Unit: "MB", Value: 10}))
		b = append(b, run("fio", "job\x1b[2J", []fact.Fact{{Name: "bs", Value: "8k"}},
			benchmark.Metric{Name: "IOPS", Unit: "1/s", Better: benchmark.Higher, Value: 2234567.8 + x},
			benchmark.Metric{Name: "latency", Unit: "µs", Better: benchmark.Lower, Value: 100.5 + x},
			benchmark.Metric{Name: "errors", Better: benchmark.Lower, Value: 2 + x},
			benchmark.Metric{Name: "size", Unit: "MB", Value: 0.000012345}))
	}
	a = append(a, run("mlc", "", nil, benchmark.Metric{Name: "peak", Unit: "MB/s", Better: benchmark.Higher, Value: 200}, benchmark.Metric{Name: "x"}, benchmark.Metric{Name: "y"}, benchmark.Metric{Name: "z"}, benchmark.Metric{Name: "zz"}))
	b = append(b, run("mlc", "", []fact.Fact{{Name: "version", Value: "v3"}}, benchmark.Metric{Name: "peak", Unit: "MB/s", Better: benchmark.Higher, Value: 150}), run("iometer", "4K", nil, benchmark.Metric{Name: "IOPS"}))
	var sets [2]compare.Set
	sets[0].Add([]*benchmark.Results{{Name: "a", Runs: a}})
	sets[1].Add([]*benchmark.Results{{Name: "b1", Runs: b[:1]}, {Name: "b2", Runs: b[1:]}})
	r, err := compare.Of(&sets[0], &sets[1], []string{"a:7: odd"})
	if err != nil {
		panic(err) // a bug of the test
	}
	return r
}

func TestCompare(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *answer.Answer, format.Options) error{"txt": format.Text, "csv": format.CSV} {
		var b bytes.Buffer
		if err := write(&b, Compare(report()), format.Options{}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/compare."+name)
	}
}

func TestNotesAreLimited(t *testing.T) {
	r := report()
	for range 20 {
		r.Notes = append(r.Notes, "again")
	}
	notes := Compare(r).Notes
	if got, want := notes[len(notes)-1].Text, "9 more notes on files (--format json lists all)"; got != want || len(notes) != 6+most+1 {
		t.Errorf("%d notes, the last %q, want %d and %q", len(notes), got, 6+most+1, want)
	}
}
