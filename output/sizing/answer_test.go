package sizing

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"homenode/capacity"
	"homenode/internal/golden"
	"homenode/internal/texttab"
	"homenode/output/chart"
)

// example is an answer with every part, and with names from strangers.
func example() *Answer {
	cost := capacity.Figure[capacity.CyclesPerBit]{
		Value: 0.163, Low: 0.15, High: 0.175, Origin: capacity.Published, Source: "exp B-4", Hardware: "Xeon Gold 6544Y", Note: "TCP/IP, transmit",
	}
	return &Answer{
		Command: "size example", Question: "size example: 10 Gb/s of traffic",
		Assumed: []Assumption{
			Figure("network, transmit", cost, capacity.CyclesPerBit.String),
			{What: "core", Value: "3.6 GHz", Origin: capacity.Given, Source: "--core"},
		},
		Verdict: []string{"1.63 GHz: half a core."},
		Tables: []Table{{
			Name: "hosts", Title: "by host", Columns: []Column{{Name: "host"}, {Name: "share", Right: true}},
			Rows: [][]string{{"=esx|01", "1.4 %"}, {"esx02\x1b[31m", "-12"}},
		}},
		If:     []Change{{"traffic twice as much", "3.26 GHz", "+100 %"}},
		Notes:  []string{"the range is that of the article"},
		Next:   []string{"homenode size io --published"},
		Result: struct{ Hz capacity.Hz }{1.63 * capacity.GHz},
	}
}

func TestForms(t *testing.T) {
	for _, tt := range []struct {
		file  string
		write func(io.Writer, *Answer) error
	}{
		{"example.txt", func(w io.Writer, a *Answer) error { return Text(w, a, false) }},
		{"example.md", Markdown}, {"example.csv", CSV}, {"example.json", JSON},
	} {
		var b bytes.Buffer
		if err := tt.write(&b, example()); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/"+tt.file)
	}
}

// TestSVG holds that a command's own drawing wins over its charts, and that an answer
// without either is an error.
func TestSVG(t *testing.T) {
	a := example()
	if err := SVG(io.Discard, a); err == nil || err.Error() != "size example has no drawing" {
		t.Errorf("found %v, want: size example has no drawing", err)
	}
	a.NoDrawing = "no host"
	if err := SVG(io.Discard, a); err == nil || err.Error() != "size example has nothing to draw: no host" {
		t.Errorf("found %v, want: size example has nothing to draw: no host", err)
	}
	a.Charts = []chart.Chart{{ID: "example", Title: "hosts", Bars: &chart.Bars{Rows: []chart.Row{{Name: "esx01", Segments: []chart.Segment{{Value: 1}}}}}}}
	var b strings.Builder
	if err := SVG(&b, a); err != nil || !strings.HasPrefix(b.String(), `<svg xmlns="http://www.w3.org/2000/svg" class="chart" id="example" `) {
		t.Errorf("found %v, %s; want a chart", err, b.String())
	}
	b.Reset()
	a.Draw = func(w io.Writer) error { _, err := io.WriteString(w, "own"); return err }
	if err := SVG(&b, a); err != nil || b.String() != "own" {
		t.Errorf("found %q, %v; want the command's own drawing", b.String(), err)
	}
}

// TestNarrow holds that the question, what is assumed, the verdict and the notes fit a
// page, and that no word of them is lost.
func TestNarrow(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("words of three ", 20))
	a := &Answer{
		Question: "size x: " + long, Verdict: []string{long}, Notes: []string{long},
		Assumed: []Assumption{{What: "first", Value: "1", Source: "short"}, {What: "second one", Value: "20 GiB", Source: "exp B-4", Note: long}},
	}
	var b bytes.Buffer
	if err := Text(&b, a, false); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := texttab.Width(strings.TrimSuffix(line, "\n")); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if got := strings.Count(b.String(), "three"); got != 80 {
		t.Errorf("%d of 80 words are there", got)
	}
	wide := strings.Repeat("w", 76) // which leaves 120 - 2 - 76 - 2 = 40
	got := narrow(&Table{Columns: make([]Column, 2), Rows: [][]string{{wide, "a sentence that is as wide as it may be: 40"}, {"", "a sentence that is as wide as it may be:"}}})
	if want := [][]string{{wide, "a sentence that is as wide as it may be:"}, {"", "40"}, {"", "a sentence that is as wide as it may be:"}}; !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("rows %q, want %q", got.Rows, want)
	}
}
