package comparison

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"homenode/measure/compare"
)

func run(tool, name string, settings []compare.Setting, values ...compare.Value) compare.Run {
	return compare.Run{Tool: tool, Name: name, Settings: settings, Values: values}
}

func report() *Report {
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
	return &Report{Comparison: compare.Sets(a, b), A: Set{[]string{"a"}, 4}, B: Set{[]string{"b1", "b2"}, 5}, Notes: []string{"a:7: odd"}}
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := Text(&b, report(), false); err != nil {
		t.Fatal(err)
	}
	const want = `B is worse in 1 of 4 metrics, better in 1, different in 1; too few runs for 1 more
read   A 4 runs in 1 file, B 5 runs in 2 files

fio job�[2J
METRIC   UNIT     A (RUNS)      B (RUNS)  DIFFERENCE      95 % INTERVAL  VERDICT
IOPS     1/s   1234569 (3)   2234569 (3)     +81.0 %    +81.0 … +81.0 %  better
latency  µs        101 (3)     101.5 (3)      +0.5 %      −1.5 … +2.5 %  same
errors               0 (3)         3 (3)          +3            +2 … +4  worse
size     MB         10 (3)  1.23e-05 (3)    −100.0 %  −100.0 … −100.0 %  differs

mlc
METRIC  UNIT  A (RUNS)  B (RUNS)  DIFFERENCE  95 % INTERVAL  VERDICT
peak    MB/s   200 (1)   150 (1)     −25.0 %                 too few runs

note   of 4 judged metrics about 0.4 would differ by chance alone: 5 % of them, 10 % with 3 runs on a side
note   same: no difference could be shown with these runs, which does not prove that there is none
note   fio job�[2J: bs differs: A 4k, B 8k
note   mlc: version differs: A does not say, B v3
note   only A has mlc: x, y, z, 1 more
note   only B has iometer 4K: IOPS
note   a:7: odd
`
	if b.String() != want {
		t.Errorf("Text = \n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Text(&b, report(), true); err != nil || !strings.Contains(b.String(), "\x1b[1;31mworse\x1b[0m") || strings.Contains(b.String(), "\x1b[2J") {
		t.Errorf("in colour: %q, %v", b.String(), err)
	}
}

func TestNotesAreLimited(t *testing.T) {
	r := report()
	for range 20 {
		r.Notes = append(r.Notes, "again")
	}
	var b strings.Builder
	if err := Text(&b, r, false); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "note   again"); n != most-1 || !strings.HasSuffix(b.String(), "note   9 more notes on files (--format json lists all)\n") {
		t.Errorf("%d notes:\n%s", n, b.String())
	}
}

func TestJSON(t *testing.T) {
	var b, again bytes.Buffer
	if err := errors.Join(JSON(&b, report()), JSON(&again, report())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same runs give other bytes")
	}
	var got struct {
		Format, Version  any
		MetricsByVerdict map[string]int
		Metrics          []struct {
			Metric, Verdict    string
			Difference         float64
			RelativeDifference *float64
			Interval           *struct{ Low, High float64 }
		}
		OnlyA, OnlyB []struct{ Metric string }
		Settings     []struct {
			Setting string
			A, B    []string
		}
		Notes []string
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "homenode-comparison" || got.Version != 1.0 || got.MetricsByVerdict["worse"] != 1 || len(got.Metrics) != 5 || len(got.OnlyA) != 4 || len(got.OnlyB) != 1 || len(got.Settings) != 2 || len(got.Notes) != 1 {
		t.Errorf("%+v", got)
	}
	if errors := got.Metrics[2]; errors.Metric != "errors" || errors.RelativeDifference != nil || errors.Difference != 3 || errors.Interval == nil || errors.Interval.Low != 2 || errors.Verdict != "worse" {
		t.Errorf("%+v", errors)
	}
	if peak := got.Metrics[4]; peak.Interval != nil || peak.RelativeDifference == nil || *peak.RelativeDifference != -0.25 {
		t.Errorf("%+v", peak)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteErrors(t *testing.T) {
	for name, write := range map[string]func() error{
		"text": func() error { return Text(broken{}, report(), false) },
		"JSON": func() error { return JSON(broken{}, report()) },
	} {
		if err := write(); err == nil || err.Error() != "broken pipe" {
			t.Errorf("%s = %v", name, err)
		}
	}
}
