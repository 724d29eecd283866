package measure

import (
	"bytes"
	"io"
	"testing"

	"homenode/internal/golden"
	"homenode/measure/compare"
	"homenode/output/answer"
	"homenode/output/form"
)

func run(tool, name string, settings []compare.Setting, values ...compare.Value) compare.Run {
	return compare.Run{Tool: tool, Name: name, Settings: settings, Values: values}
}

func report() *compare.Report {
	var a, b []compare.Run
	for i := range 3 {
		x := float64(i)
		a = append(a, run("fio", "job\x1b[2J", []compare.Setting{{Name: "bs", Value: "4k"}},
			compare.Value{Name: "IOPS", Unit: "1/s", Better: compare.Higher, Value: 1234567.8 + x},
			compare.Value{Name: "latency", Unit: "µs", Better: compare.Lower, Value: 100 + x},
			compare.Value{Name: "errors", Better: compare.Lower},
			compare.Value{Name: "size", Unit: "MB", Value: 10}))
		b = append(b, run("fio", "job\x1b[2J", []compare.Setting{{Name: "bs", Value: "8k"}},
			compare.Value{Name: "IOPS", Unit: "1/s", Better: compare.Higher, Value: 2234567.8 + x},
			compare.Value{Name: "latency", Unit: "µs", Better: compare.Lower, Value: 100.5 + x},
			compare.Value{Name: "errors", Better: compare.Lower, Value: 2 + x},
			compare.Value{Name: "size", Unit: "MB", Value: 0.000012345}))
	}
	a = append(a, run("mlc", "", nil, compare.Value{Name: "peak", Unit: "MB/s", Better: compare.Higher, Value: 200}, compare.Value{Name: "x"}, compare.Value{Name: "y"}, compare.Value{Name: "z"}, compare.Value{Name: "zz"}))
	b = append(b, run("mlc", "", []compare.Setting{{Name: "version", Value: "v3"}}, compare.Value{Name: "peak", Unit: "MB/s", Better: compare.Higher, Value: 150}), run("iometer", "4K", nil, compare.Value{Name: "IOPS"}))
	return compare.Of(compare.Set{Files: []string{"a"}, Runs: 4}, compare.Set{Files: []string{"b1", "b2"}, Runs: 5}, compare.Sets(a, b), []string{"a:7: odd"})
}

func TestCompare(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *answer.Answer, form.Options) error{"txt": form.Text, "json": form.JSON, "csv": form.CSV} {
		var b bytes.Buffer
		if err := write(&b, Compare(report()), form.Options{}); err != nil {
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
