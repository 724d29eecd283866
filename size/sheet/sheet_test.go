package sheet

import (
	"encoding/json"
	"reflect"
	"testing"
	"testing/fstest"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

const small = `
# A sheet of all kinds of tables.
== figures
name | value | low | high | unit | origin | source
each | 2 * 3 | 5 | 8 | hz | published | a book

== formulas
name | unit | when | formula
of.all | hz | n > 0 || false | n * each
unlikely | | n < 0 | n

== row
name | unit | when | formula
cost | hz | | weight * of.all

== totals
name | unit | when | formula
sum | hz | | total(cost)
`

func run(t *testing.T, more string, in Input) *Run {
	t.Helper()
	return Load(fstest.MapFS{"s": {Data: []byte(small + more)}}, "s").Run(in)
}

// TestEval checks numbers with their ranges, unknown values, texts, rows and changes.
func TestEval(t *testing.T) {
	r := run(t, "", Input{Values: map[string]any{"n": Plain(2, ""), "none": nil, "word": "text"},
		Rows: []map[string]any{{"weight": Plain(1, ""), "name": "a"}, {"weight": Plain(3, ""), "name": "b"}}})
	for expression, want := range map[string]any{
		"low(of.all) == 10 && of.all == 12 && high(of.all) == 16":              true,
		"low(10 - each) == 2 && high(10 - each) == 5":                          true,
		"low(24 / each) == 3 && 24 / each == 4":                                true,
		"low(min(each, 7)) == 5 && high(min(each, 7)) == 7 && floor(7.9) == 7": true,
		"unlikely == nil && unlikely + 1 == nil && none == nil":                true,
		"low(sum) == 40 && sum == 48 && high(sum) == 64":                       true,
		`join(weight > 1, name + "!")`:                                         "b!",
		`most(weight, weight < 3, name, "none")`:                               "a",
		`most(weight, weight > 3, name, "none")`:                               "none",
		`each > 5 ? "more, " + word : "less"`:                                  "more, text",
		"ends(each)":                                                           "5 to 8 Hz",
		"full(each)":                                                           "6 Hz (5 to 8 Hz)",
		"source(each)":                                                         "a book",
		"share(each / 8)":                                                      "75 %",
		`plural(n, "host")`:                                                    "2 hosts",
		`list("a", "", "b")`:                                                   "a, b",
		"rounded(123456)":                                                      Value{unit.Figure[float64]{Value: 123000, Low: 123000, High: 123000}, ""},
	} {
		if got := r.Get(expression); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: found %v, want %v", expression, got, want)
		}
	}
	if got := r.Text("{n} of {each}, {word}{none}"); got != "2 of 6 Hz, text" {
		t.Errorf("found %q", got)
	}
	if next := r.With("n = 2 * n"); next.Get("of.all == 24 && was.of.all == 12 && sum == 96") != true {
		t.Errorf("found %v", next.Values)
	}
	b, err := json.Marshal(r)
	want := `{"of":{"all":{"value":12,"low":10,"high":16,"origin":"derived","source":""}},"rows":[` +
		`{"cost":{"value":12,"low":10,"high":16,"origin":"derived","source":""}},{"cost":{"value":36,"low":30,"high":48,"origin":"derived","source":""}}],` +
		`"sum":{"value":48,"low":40,"high":64,"origin":"derived","source":""}}`
	if string(b) != want {
		t.Errorf("found %s, %v; want %s", b, err, want)
	}
}

// TestUnknown checks that a test of a calculator sees a name or a function that nothing has.
func TestUnknown(t *testing.T) {
	r := run(t, "== notes\nwhen | text\nn > m | {hz(n)} {herz(n)} {was.of.all} {of.al}\n", Input{Values: map[string]any{"n": Plain(2, "")}, Rows: []map[string]any{{"weight": Plain(1, "")}}})
	if got, want := r.Unknown(), []string{"herz()", "m", "of.al"}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestFields checks that the fields of a struct are values by their names in JSON.
func TestFields(t *testing.T) {
	type inner struct {
		Free *numa.Bytes `json:"free"`
	}
	type Base struct{ Name string }
	got := Fields("host", &struct {
		Base
		Memory numa.Bytes   `json:"memory,omitempty"`
		Core   unit.Hz      `json:"core"`
		On     bool         `json:"on"`
		N      int          `json:"n"`
		Limits *inner       `json:"limits"`
		Since  numa.Release `json:"since"`
		List   []int
	}{Base{"a"}, 1, 2, true, 3, nil, numa.ESXi80, nil})
	want := map[string]any{"host.name": "a", "host.memory": Plain(1, "gb"), "host.core": Plain(2, "hz"), "host.on": true, "host.n": Plain(3, "whole"), "host.limits.free": nil, "host.since": "8.0"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// TestUnits checks how numbers are written.
func TestUnits(t *testing.T) {
	const gib = float64(numa.GiB)
	for _, tt := range []struct {
		in   string
		v    float64
		want string
	}{
		{"gib", 16106127360, "15 GiB"}, {"gib", 8162115584, "7.60 GiB"}, {"gib", 119.9 * gib, "119.9 GiB"}, {"gib", 101 << 20, "0.10 GiB"}, {"gib", 1536 * gib, "1,536 GiB"},
		{"gib", -0.8804 * gib, "-0.88 GiB"}, {"gib", 9.996 * gib, "10.0 GiB"}, {"gib", 0, "0 GiB"}, {"decimal", 16106127360, "16.1 GB"},
		{"gb", 1.5 * gib, "1.5 GB"}, {"gb", 532 << 20, "532 MB"}, {"block", 32 << 10, "32 KiB"}, {"block", 512, "512 B"}, {"block", 1000, "1,000 B"}, {"short", 0.00763, "0.0076"},
		{"hours", 16384, "4 h 33 min"}, {"hours", 600, "10 min"}, {"deviation", 0.0901, "+9.0 %"}, {"deviation", -1e-9, "0 %"}, {"signed", -0.001, "+0 %"}, {"si", 3450000, "3.45 M"},
	} {
		if got := Units[tt.in](tt.v); got != tt.want {
			t.Errorf("%s of %v: found %s, want %s", tt.in, tt.v, got, tt.want)
		}
	}
}
