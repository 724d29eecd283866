package picture

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// drawn has a shape of each form, a label of a stranger and a pattern.
func drawn() *Picture {
	p := &Picture{ID: "p", Prefix: "x-", Class: "chart", Title: "a <b> & c", Width: 1000, Height: 505, Margin: 100, NumbersY: 400, Letter: 80}
	p.Add(Group{ID: "p__a", Class: "row", Focus: true, Numbers: "a: 1234567890", Shapes: []Shape{
		{Class: "bar", X: 10, Y: 15, W: 20, H: 30, Fill: "soft-3"}, {Class: "bar", X: 10, Y: 15, W: 20, H: 30}, {Class: "limit", X: 10, Y: 20, H: 5},
		{Class: "tick left", X: 1, Y: 2, Text: `"x"`}, {Class: "name", X: 1, Y: 2, Text: "n", After: "more"}, {Class: "dot", Path: "M0 0"},
	}})
	p.Add(Group{ID: "p__b", Class: "slice", Numbers: "b", NumbersY: 30})
	return p
}

// want is the picture inside a page; alone it has the style, the paper and an id for each shape.
const want = `<svg xmlns="http://www.w3.org/2000/svg" class="picture chart" id="x-p" viewBox="0 0 100 50.5" width="100" height="50.5" role="group" aria-labelledby="x-p__name">
<title id="x-p__name">a &lt;b&gt; &amp; c</title>
<defs>
<pattern id="x-p__fill-soft-3" class="soft kind-3" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6"/><path d="M0 0V6"/></pattern>
</defs>
<g id="x-p__a" class="row" tabindex="0" role="img" aria-label="a: 1234567890"><title>a: 1234567890</title><rect class="bar" x="1" y="1.5" width="2" height="3" fill="url(#x-p__fill-soft-3)"/><rect class="bar" x="1" y="1.5" width="2" height="3"/><line class="limit" x1="1" y1="2" x2="1" y2="2.5"/><text class="tick left" x="0.1" y="0.2">&#34;x&#34;</text><text class="name" x="0.1" y="0.2">n<tspan class="facts" dx="12">more</tspan></text><path class="dot" d="M0 0"/><text class="numbers" x="10" y="40">a: 123456…</text></g>
<g id="x-p__b" class="slice"><title>b</title><text class="numbers" x="10" y="3">b</text></g>
</svg>
`

func TestWrite(t *testing.T) {
	var inside, alone strings.Builder
	if err := Write(&inside, drawn(), true); err != nil || inside.String() != want {
		t.Errorf("inside: found %v\n%s\nwant\n%s", err, inside.String(), want)
	}
	if err := Write(&alone, drawn(), false); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"<style>\n.picture {", `<rect id="x-p__paper" class="paper" width="100" height="50.5"/>`, `id="x-p__a__bar" class="bar"`, `id="x-p__a__bar-2"`, `id="x-p__a__tick-left"`, `id="x-p__b__numbers"`} {
		if !strings.Contains(alone.String(), part) {
			t.Errorf("alone: no %s in\n%s", part, alone.String())
		}
	}
	if strings.Contains(Style, "url(") || strings.Contains(Style, "@import") {
		t.Error("the style refers to another resource")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteError(t *testing.T) {
	if err := Write(broken{}, drawn(), true); err == nil || err.Error() != "broken pipe" {
		t.Errorf("found %v, want broken pipe", err)
	}
}

func TestID(t *testing.T) {
	for _, tt := range []struct{ id, want string }{
		{"host-12", "host-12"},
		{"esx01.example.com", "esx01.example.com"},
		{"a b", "a_20b"},
		{"a_20b", "a_5f20b"},
		{"</svg>", "_3c_2fsvg_3e"},
		{"é", "_c3_a9"},
	} {
		if got := ID(tt.id); got != tt.want {
			t.Errorf("ID(%q) = %q, want %q", tt.id, got, tt.want)
		}
	}
}

// TestStack checks that blocks are in true proportion: twice as much is twice as high, as far as whole tenths of a pixel go, and what
// fills the scale reaches its end.
func TestStack(t *testing.T) {
	high := func(v float64) Px {
		s := Stack{Scale: Scale{High: 48, From: 3000, To: 400}}
		return s.Next(v).H
	}
	for _, v := range []float64{12, 24, 1, 0.5} {
		if a, b := high(2*v), 2*high(v); a < b-1 || a > b+1 {
			t.Errorf("%v is %s high, twice that %s", v, b/2, a)
		}
	}
	s := Stack{X: 10, W: 50, Scale: Scale{High: 48, From: 3000, To: 400}}
	one, two := s.Next(36), s.Next(12)
	if want := (Shape{X: 10, Y: 400, W: 50, H: 650}); two != want || one.Y != two.Y+two.H || one.H != 1950 {
		t.Errorf("found %+v on %+v, want %+v", two, one, want)
	}
}

// TestScale checks the ends of scales, and that what is beyond them is at them.
func TestScale(t *testing.T) {
	linear, log := Scale{High: 10, From: 100, To: 0}, Scale{Low: 1, High: 100, From: 0, To: 100, Log: true}
	for v, want := range map[float64][2]Px{0: {100, 0}, 1: {90, 0}, 10: {0, 50}, 100: {0, 100}, 1000: {0, 100}, -1: {100, 0}} {
		if got := [2]Px{linear.At(v), log.At(v)}; got != want {
			t.Errorf("%v is at %v, want %v", v, got, want)
		}
	}
}

// TestPaths checks that a curve is cut where its steps do not touch.
func TestPaths(t *testing.T) {
	all := []Step{{0, 10, 100, 50}, {10, 20, 100, 60}, {40, 50, 100, 70}}
	if got, want := Area(all), "M0 10V5H1V6H2V10H1V10H0ZM4 10V7H5V10H4Z"; got != want {
		t.Errorf("area %s, want %s", got, want)
	}
	if got, want := Line(all), "M0 5H1V6H2M4 7H5"; got != want {
		t.Errorf("line %s, want %s", got, want)
	}
}

// TestLegend checks that entries take as many lines as they need, and that what no entry has room for is cut.
func TestLegend(t *testing.T) {
	p := &Picture{Width: 2000, Margin: 100, Letter: 50, Y: 10}
	p.Legend(Swatch("a", "x", "remote", "aaa"), Stroke("b", "y", "line", "bbb"), Swatch("c", "z", "", strings.Repeat("c", 99)))
	var got []string
	for _, g := range p.Groups {
		text := g.Shapes[1]
		got = append(got, fmt.Sprintf("%s %s: %s %s %s", g.ID, g.Class, text.X, text.Y, text.Text))
	}
	want := []string{"a legend x: 40 12 aaa", "b legend y: 105 12 bbb", "c legend z: 40 29 " + strings.Repeat("c", 29) + "…"}
	if !slices.Equal(got, want) || p.Y != 10+2*LineHeight+60 || !p.Uses("remote") || p.Uses("spread") {
		t.Errorf("found %q to %s, want %q", got, p.Y, want)
	}
}
