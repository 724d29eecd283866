package format_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/format"
)

// example is an answer with every part, and with names from strangers.
func example() *answer.Answer {
	return &answer.Answer{
		Command: "size example", Question: "size example: 10 Gb/s of traffic",
		Assumed: []answer.Assumption{
			{What: "network, transmit", Value: "0.163 Hz per b/s", Range: "0.15 Hz per b/s to 0.175 Hz per b/s", Origin: unit.Published, Source: "b-network", Hardware: "Xeon Gold 6544Y", Note: "TCP/IP, transmit"},
			{What: "core", Value: "3.6 GHz", Origin: unit.Given, Source: "--core"},
		},
		Verdict: []string{"1.63 GHz: half a core."},
		Tables: []answer.Table{{
			Name: "hosts", Title: "by host", Columns: []answer.Column{{Name: "host"}, {Name: "share", Right: true}},
			Rows: [][]answer.Cell{{{Text: "=esx|01", Ref: "esx01"}, {Text: "1.4 %", Sort: "1.4"}}, {{Text: "esx02\x1b[31m"}, {Text: "-12", Tone: answer.Bad}}},
			Cut:  "3 more hosts: --details",
			Foot: []string{"share: of the time, <em>not</em> of the cores."},
		}},
		Facts:   []answer.Fact{{Name: "read", Text: "a host <b>", Took: ""}},
		Changes: []answer.Change{{If: "traffic twice as much", Result: "3.26 GHz", Change: "+100 %"}},
		Notes:   []answer.Note{{Text: "the range is that of the article"}, {Text: "no <i>memory</i>", At: "vm 3", From: "source"}},
		Drawings: []answer.Drawing{{ID: "drawing", About: "a square", Picture: func() *picture.Picture {
			return &picture.Picture{ID: "square", Class: "chart", Title: "a square", Width: 90, Height: 90, Groups: []picture.Group{{ID: "square__one", Shapes: []picture.Shape{{Class: "bar", W: 90, H: 90}}}}}
		}}},
		Next:   []string{"homenode size io --published"},
		Result: struct{ Hz unit.Hz }{1.63 * unit.GHz},
	}
}

func TestForms(t *testing.T) {
	for _, tt := range []struct{ form, file string }{
		{"table", "example.txt"}, {"markdown", "example.md"}, {"csv", "example.csv"}, {"json", "example.json"}, {"html", "example.html"}, {"svg", "example.svg"},
	} {
		var b bytes.Buffer
		if err := format.Write(&b, tt.form, example(), format.Options{Version: "1.2.3"}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/"+tt.file)
	}
}

// TestNoDrawing checks that an answer without a drawing is an error that says why.
func TestNoDrawing(t *testing.T) {
	a := example()
	a.Drawings = nil
	if err := format.SVG(io.Discard, a); err == nil || err.Error() != "size example has no drawing" {
		t.Errorf("found %v, want: size example has no drawing", err)
	}
	a.NoDrawing = "no host"
	if err := format.SVG(io.Discard, a); err == nil || err.Error() != "size example has nothing to draw: no host" {
		t.Errorf("found %v, want: size example has nothing to draw: no host", err)
	}
}

// TestWidth checks that everything fits the width of a terminal and that no word is lost.
func TestWidth(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("words of three ", 20))
	a := &answer.Answer{
		Question: "size x: " + long, Verdict: []string{long}, Notes: []answer.Note{{Text: long}}, Facts: []answer.Fact{{Name: "read", Text: long}},
		Assumed: []answer.Assumption{{What: "first", Value: "1", Source: "short"}, {What: "second one", Value: "20 GiB", Source: "b-network", Note: long}},
		Tables:  []answer.Table{{Columns: []answer.Column{{Name: "a number of VMs", Right: true}, {Name: "what"}, {Name: "who"}}, Rows: [][]answer.Cell{{{Text: "1"}, {Text: long}, {Text: long}}}}},
	}
	for _, width := range []int{80, 100, 120} {
		var b bytes.Buffer
		if err := format.Text(&b, a, format.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := texttab.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns instead of %d: %s", n, width, line)
			}
		}
		if got := strings.Count(b.String(), "three"); got != 140 {
			t.Errorf("%d of 140 words are there", got)
		}
	}
}

// TestNarrow checks that no line of an answer is wider than the terminal, and that a table that
// is too wide keeps all of its columns.
func TestNarrow(t *testing.T) {
	names := []string{"VM"}
	for i := range 12 {
		names = append(names, fmt.Sprintf(">counter%02d", i))
	}
	table := answer.Table{Name: "wide", Columns: answer.Columns(names...)}
	row := []string{"sql01"}
	for i := range 12 {
		row = append(row, fmt.Sprintf("%d.5 GHz", 100+i))
	}
	table.Add(row...)
	a := &answer.Answer{Command: "try", Verdict: []string{strings.Repeat("a sentence of many words ", 8)}, Tables: []answer.Table{table}}
	var b strings.Builder
	if err := format.Text(&b, a, format.Options{Width: 60}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := texttab.Width(strings.TrimRight(line, "\n")); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for i := range 12 {
		if want := fmt.Sprintf("%d.5 GHz", 100+i); !strings.Contains(b.String(), want) {
			t.Errorf("%s is left out:\n%s", want, b.String())
		}
	}
}
