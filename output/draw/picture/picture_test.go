package picture

import (
	"errors"
	"strings"
	"testing"
)

// drawn has a shape of each form, a label of a stranger and a pattern.
func drawn() *Picture {
	p := &Picture{ID: "p", Class: "chart", Title: "a <b> & c", Style: ".chart { }\n", Width: 1000, Height: 505, NumbersX: 100, NumbersY: 400, Letter: 80,
		Patterns: []Pattern{{Name: "0", Class: "kind-0", Size: 6}, {Name: "soft", Class: "soft", Size: 5, Tilted: true, Marks: "M0 0V5"}}}
	p.Add(Group{ID: "p__a", Class: "row", Focus: true, Numbers: "a: 1234567890", Shapes: []Shape{
		{Class: "bar", X: 10, Y: 15, W: 20, H: 30, Fill: "soft"}, {Class: "bar", X: 10, Y: 15, W: 20, H: 30}, {Class: "limit", X: 10, Y: 20, H: 5},
		{Class: "tick left", X: 1, Y: 2, Text: `"x"`}, {Class: "name", X: 1, Y: 2, Text: "n", After: "more"}, {Class: "dot", Path: "M0 0"},
	}})
	p.Add(Group{ID: "p__b", Class: "slice", Numbers: "b", NumbersY: 30})
	return p
}

const want = `<svg xmlns="http://www.w3.org/2000/svg" class="chart" id="p" viewBox="0 0 100 50.5" width="100" height="50.5" role="group" aria-labelledby="p__name">
<title id="p__name">a &lt;b&gt; &amp; c</title>
<style>
.chart { }
</style>
<defs>
<pattern id="p__fill-0" class="kind-0" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6"/></pattern>
<pattern id="p__fill-soft" class="soft" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5"/><path d="M0 0V5"/></pattern>
</defs>
<rect id="p__paper" class="paper" width="100" height="50.5"/>
<g id="p__a" class="row" tabindex="0" role="img" aria-label="a: 1234567890"><title>a: 1234567890</title><rect id="p__a__bar" class="bar" x="1" y="1.5" width="2" height="3" fill="url(#p__fill-soft)"/><rect id="p__a__bar-2" class="bar" x="1" y="1.5" width="2" height="3"/><line id="p__a__limit" class="limit" x1="1" y1="2" x2="1" y2="2.5"/><text id="p__a__tick-left" class="tick left" x="0.1" y="0.2">&#34;x&#34;</text><text id="p__a__name" class="name" x="0.1" y="0.2">n<tspan class="facts" dx="12">more</tspan></text><path id="p__a__dot" class="dot" d="M0 0"/><text id="p__a__numbers" class="numbers" x="10" y="40">a: 123456…</text></g>
<g id="p__b" class="slice"><title>b</title><text id="p__b__numbers" class="numbers" x="10" y="3">b</text></g>
</svg>
`

func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, drawn()); err != nil || b.String() != want {
		t.Errorf("found %v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	p := drawn()
	p.Inline = true
	if err := Write(&b, p); err != nil || strings.Contains(b.String(), `id="p__paper"`) || strings.Contains(b.String(), `id="p__a__bar"`) || !strings.Contains(b.String(), `id="p__a"`) {
		t.Errorf("inline, %v: want ids of groups alone and no paper\n%s", err, b.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteError(t *testing.T) {
	if err := Write(broken{}, drawn()); err == nil || err.Error() != "broken pipe" {
		t.Errorf("found %v, want broken pipe", err)
	}
}
