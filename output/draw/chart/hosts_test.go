package chart

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/output/draw/picture"
)

// hostsOf are so many hosts of two clusters; the third has a bad node, the last none.
func hostsOf(n int) *Hosts {
	h := &Hosts{Measures: []string{"load", "free"}, Dark: "busy or full", Bad: "too much", Groups: []HostGroup{{Name: "a<b>"}, {Name: "c"}}}
	for i := range n {
		row := HostRow{ID: fmt.Sprint("host-", i), Name: fmt.Sprint("esx", i), Link: fmt.Sprint("/host?host=host-", i, "&x=\""), Note: "not seen"}
		for k := range 2 {
			if i == n-1 {
				break
			}
			row.Nodes = append(row.Nodes, HostNode{Node: k, Values: []Shade{{Known: true, Bad: i == 2 && k == 1, Dark: float64(i%8) / 7, Text: fmt.Sprint(i, " %")}, {}}})
		}
		g := &h.Groups[i%2]
		g.Hosts = append(g.Hosts, row)
	}
	return h
}

// TestHosts draws few hosts with their numbers and many as blocks: each links to its page, says its numbers, and is told bad without colour.
func TestHosts(t *testing.T) {
	for n, want := range map[int]struct{ bad, none string }{
		10:  {`class="heatcell heat-2"`, `class="facts" x=`},
		500: {`class="heatcell badfill"`, `class="unseen"`},
	} {
		var b bytes.Buffer
		if err := picture.Write(&b, Of(Chart{ID: "fleet", Title: "Nodes", Figure: hostsOf(n)}), true); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if got := strings.Count(text, "<a href="); got != n {
			t.Errorf("%d hosts: %d links", n, got)
		}
		for _, part := range []string{want.bad, want.none, `aria-label="esx2: node 0: load 2 %, free unknown; node 1: load 2 %, free unknown"`, `href="/host?host=host-1&amp;x=&quot;"`, "a&lt;b&gt;", fmt.Sprintf("esx%d: not seen", n-1)} {
			if !strings.Contains(text, part) && !strings.Contains(text, strings.ReplaceAll(part, "&quot;", "&#34;")) {
				t.Errorf("%d hosts: %s is not drawn", n, part)
			}
		}
		if got := strings.Count(text, "badfill") + strings.Count(text, "badtext"); n == 10 && got != 1 || n == 500 && got != 2 { // with the legend's
			t.Errorf("%d hosts: %d bad cells", n, got)
		}
		// Nothing is drawn beyond the picture.
		size := regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`).FindStringSubmatch(text)
		var wide, tall float64
		fmt.Sscan(size[1], &wide)
		fmt.Sscan(size[2], &tall)
		for _, m := range regexp.MustCompile(`<rect[^>]* x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="([0-9.]+)"`).FindAllStringSubmatch(text, -1) {
			var x, y, w, h float64
			fmt.Sscan(strings.Join(m[1:], " "), &x, &y, &w, &h)
			if x+w > wide || y+h > tall {
				t.Errorf("%d hosts: %s is beyond %v × %v", n, m[0], wide, tall)
			}
		}
	}
	var b bytes.Buffer
	if err := picture.Write(&b, Of(Chart{ID: "fleet", Title: "Nodes", Figure: &Hosts{}}), false); err != nil || !strings.Contains(b.String(), "nothing to draw") {
		t.Errorf("of no hosts: %v", err)
	}
	if both := Of(Chart{ID: "fleet", Figure: hostsOf(10)}, Chart{ID: "other", Figure: &Bars{}}); both.Width != width {
		t.Errorf("beside others: %s wide", both.Width)
	}
}
