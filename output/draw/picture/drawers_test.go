package picture_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/timeline"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/rules/verdict/matrix"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario/given"
)

// hostile is what a name from a stranger can hold, readable what a reader sees of it.
const (
	hostile  = `"><script>alert('1')</script>&` + "\x00\ufffe"
	readable = `"><script>alert('1')</script>&` + "\uFFFD\uFFFD"
)

// What attributes hold: an id is a name of XML that needs no character beyond ASCII.
var (
	xmlName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)
	number  = regexp.MustCompile(`^-?\d+(\.\d)?$`)
	path    = regexp.MustCompile(`^[MLHVmlhvazZ0-9. -]*$`)
)

// written is a picture as a reader of XML finds it.
type written struct{ ids, texts []string }

// check writes a picture alone, or inside a page, and reads it: it is well-formed and the same each time, has each id once, one for
// each shape, places that are numbers, and no reference to anything outside.
func check(t *testing.T, p *picture.Picture, inside bool) (out written) {
	t.Helper()
	var b, again bytes.Buffer
	if err := picture.Write(&b, p, inside); err != nil {
		t.Fatal(err)
	}
	if _ = picture.Write(&again, p, inside); !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("%s: two writings differ", p.ID)
	}
	pattern := 0
	for dec := xml.NewDecoder(&b); ; {
		token, err := dec.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", p.ID, err)
		}
		switch e := token.(type) {
		case xml.CharData:
			out.texts = append(out.texts, string(e))
		case xml.EndElement:
			if e.Name.Local == "pattern" {
				pattern--
			}
		case xml.StartElement:
			id := ""
			for _, a := range e.Attr {
				bad := false
				switch a.Name.Local {
				case "id":
					id = a.Value
					bad = !xmlName.MatchString(id) || slices.Contains(out.ids, id)
					out.ids = append(out.ids, id)
				case "x", "y", "x1", "x2", "y1", "y2", "width", "height":
					bad = !number.MatchString(a.Value)
				case "d":
					bad = pattern == 0 && !path.MatchString(a.Value)
				case "href", "src", "style":
					bad = true
				}
				if bad {
					t.Errorf("%s: %s has %s=%q", p.ID, e.Name.Local, a.Name.Local, a.Value)
				}
			}
			switch e.Name.Local {
			case "script":
				t.Errorf("%s: a label became markup", p.ID)
			case "pattern":
				pattern++
			case "rect", "line", "text", "path":
				if id == "" && pattern == 0 && !inside {
					t.Errorf("%s: a %s without an id", p.ID, e.Name.Local)
				}
			case "svg", "g":
				if id == "" {
					t.Errorf("%s: a %s without an id", p.ID, e.Name.Local)
				}
			}
		}
	}
}

const fleet = `
release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB cpu="Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"
host esx02 nodes=2 cores=18 memory=1024GB
vm sql01  host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm app01  host=esx01 vcpus=8 memory=64GB
vm hana01 host=esx02 vcpus=16 coresPerSocket=16 memory=740GB
cluster vdi
host vdi01 nodes=8 cores=8 memory=256GB release=8.0U2
vm desk[001-30] vcpus=2 memory=1GB
vm pin[01-20]  vcpus=4 memory=16GB cpuAffinity=0-3
vm ml01 vcpus=40 coresPerSocket=8 memory=64GB hw=21
cluster dark
host dark01 nodes=? cores=16
`

// strange are IDs that could collide with each other, or break out of an attribute. ml01 is wide, the pinned VMs without home node, all
// on one host.
var strange = map[string]string{
	"esx01": "a", "esx02": "a-node-0", "dark01": "a__node-0", "vdi01": "b",
	"ml01": "x", "pin01": "x-client-0", "pin02": "x__client-0", "pin03": "x-client-0-memory", "pin04": "X", "pin05": `"><script>`, "pin06": "ü\x00",
	"sql01": "y", "app01": "y-on-a", "hana01": "y__on-a", "desk001": "x_5fclient-0",
}

// topologies draws all hosts and VMs of a fleet and its matrices; rename gives VMs and hosts other IDs, and called a name.
func topologies(t *testing.T, text string, rename func(string) string, called string) (out []*picture.Picture) {
	t.Helper()
	f := given.Fleet(t, "fleet.txt", []byte(text))
	for i := range f.Hosts {
		f.Hosts[i].ID = rename(f.Hosts[i].ID)
	}
	for i := range f.VMs {
		f.VMs[i].ID, f.VMs[i].Host = rename(f.VMs[i].ID), rename(f.VMs[i].Host)
		if called != "" {
			f.VMs[i].Name = called
		}
	}
	r := rules.Run(f, rules.Options{})
	for i := range f.Hosts {
		out = append(out, topo.OfHost(r, &f.Hosts[i]).Picture())
	}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			for _, h := range c.Hosts {
				if d := topo.OfVM(v, h, vnuma.Choices{}); d != nil {
					out = append(out, d.Picture())
				}
			}
		}
		out = append(out, topo.OfMatrix(matrix.Of(c, matrix.Options{})))
	}
	return out
}

func same(id string) string { return id }

// recorded draws every host and VM of the recording that the demo has, with findings, events and a performance index; VMs are called
// a name.
func recorded(t *testing.T, called string) (out []*picture.Picture) {
	t.Helper()
	in, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	all := capture.NewRecorders(capture.Options{Locality: .8, Remote: 8 * numa.GiB, BusyNode: .9, IdleNode: .5, Ready: .05, SpillFree: 4 * numa.GiB, SpillStep: 64 * numa.MiB,
		Lopsided: .9, Window: 10 * time.Minute, Gap: 5 * time.Minute, Buckets: 64})
	all.Open(in.Name, "incident")
	if err := in.Ticks(func(k *numa.Tick) error { all.Add(k); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, rec := range all.Recordings() {
		o := timeline.Options{Simulated: true, Moment: rec.First.Add(rec.Last.Sub(rec.First) / 2), Migrations: []capture.Count{{Time: rec.First, N: 3}},
			Events: func(*capture.Recording, *capture.VM) []capture.Event {
				return []capture.Event{{Time: rec.First, Text: hostile, Note: hostile}, {Time: rec.Last, Text: hostile}}
			},
			Speed: func(*capture.VM) []simulate.SpeedPoint {
				return []simulate.SpeedPoint{{Time: rec.First, Value: .9, Low: .85, High: .95}, {Time: rec.Last, Value: .8, Low: .75, High: .85}}
			}}
		for i := range rec.VMs {
			v := &rec.VMs[i]
			if called != "" {
				v.Name, v.GID, v.Nth = called, -1, i
			}
			o.Findings = append(o.Findings, finding.Finding{Rule: "M001", Host: rec.Host, VM: v.Name, GID: v.GID, Nth: v.Nth, Message: hostile, From: rec.First, To: rec.Last})
		}
		out = append(out, timeline.Host(rec, o))
		for i := range rec.VMs {
			out = append(out, timeline.VM(rec, &rec.VMs[i], o))
		}
	}
	return out
}

// charts are many rows, curves and cells, of one name.
func charts() *picture.Picture {
	bars, lines, areas := chart.Bars{}, chart.Lines{}, chart.Areas{Names: []string{hostile, "b"}}
	heat, hosts := chart.Heat{Unit: hostile, Columns: []string{hostile, "b"}}, chart.Hosts{Measures: []string{hostile}, Dark: hostile, Bad: hostile}
	for i := range 50 {
		bars.Rows = append(bars.Rows, chart.Row{Name: hostile, Value: "v", Segments: []chart.Segment{{Kind: fmt.Sprint(i % 11), Value: float64(i)}}})
		lines.Series = append(lines.Series, chart.Series{Name: hostile, Points: []chart.Point{{X: 1, Y: float64(i)}, {X: 2, Y: 3}}})
		lines.Marks = append(lines.Marks, chart.Mark{Name: "m", Value: 1.5}, chart.Mark{Name: "m", Value: 1.5, Horizontal: true})
		areas.Steps = append(areas.Steps, chart.Step{From: float64(i), To: float64(i + 1), Values: []float64{float64(i), 1}, Text: hostile})
		heat.Rows, heat.Cells = append(heat.Rows, hostile), append(heat.Cells, []chart.HeatCell{{Value: float64(i), Known: true}, {}})
		hosts.Groups = append(hosts.Groups, chart.HostGroup{Name: hostile, Hosts: []chart.HostRow{{ID: hostile, Name: hostile, Nodes: []chart.HostNode{{Values: []chart.Shade{{Known: true, Bad: true, Text: hostile}}}}}}})
	}
	return chart.Of(chart.Chart{ID: "a", Title: hostile, Note: hostile, Figure: &bars}, chart.Chart{ID: "b", Figure: &lines}, chart.Chart{ID: "c", Figure: &areas},
		chart.Chart{ID: "d", Figure: &heat}, chart.Chart{ID: "e", Figure: &hosts})
}

// Every picture is well-formed whatever names and IDs are made of, labels read as they were given, and no two pictures of a page have
// an id in common.
func TestDrawers(t *testing.T) {
	other := func(id string) string {
		if s := strange[id]; s != "" {
			return s
		}
		return id
	}
	for name, all := range map[string][]*picture.Picture{
		"topologies": topologies(t, fleet, same, ""), "topologies of strange IDs": topologies(t, fleet, other, hostile),
		"recordings": recorded(t, ""), "recordings of strange names": recorded(t, hostile), "charts": {charts()},
	} {
		seen, reads := map[string]string{}, 0
		for _, p := range all {
			check(t, p, true)
			one := check(t, p, false)
			for _, id := range one.ids {
				if before := seen[id]; before != "" || name != "charts" && !strings.HasPrefix(id, p.ID) {
					t.Errorf("%s: id %q is in %s and in %q, or does not begin with its picture's", name, id, p.ID, before)
				}
				seen[id] = p.ID
			}
			if slices.ContainsFunc(one.texts, func(s string) bool { return strings.Contains(s, readable) }) {
				reads++
			}
		}
		if len(seen) < 700 {
			t.Errorf("%s: %d ids: the test looks at little", name, len(seen))
		}
		if strange := strings.Contains(name, "strange") || name == "charts"; strange && reads < len(all)/2 {
			t.Errorf("%s: %d of %d pictures read %q", name, reads, len(all), readable)
		}
	}
}

// What is drawn of a VM keeps its ids when other VMs come, go or stand in another
// order.
func TestIDsAreStable(t *testing.T) {
	about := func(text, vm string) map[string]bool {
		out := map[string]bool{}
		for _, p := range topologies(t, text, same, "") {
			for _, id := range check(t, p, false).ids {
				if strings.Contains(id, vm) && !strings.HasPrefix(id, "matrix") {
					out[id] = true
				}
			}
		}
		return out
	}
	lines := strings.Split(fleet, "\n")
	sql, app := lines[5], lines[6]
	if !strings.HasPrefix(sql, "vm sql01") || !strings.HasPrefix(app, "vm app01") {
		t.Fatalf("the scenario has changed: %q, %q", sql, app)
	}
	other := strings.Replace(fleet, sql+"\n"+app, app+"\nvm aaa01 host=esx01 vcpus=12 memory=64GB\n"+sql, 1)
	for _, vm := range []string{"sql01", "app01"} {
		before, after := about(fleet, "vm-"+vm), about(other, "vm-"+vm)
		if !maps.Equal(before, after) || len(before) < 10 {
			t.Errorf("the ids about %s were %v, with other VMs %v", vm, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
		}
	}
}

// FuzzCharts checks that any values and names give a well-formed picture.
func FuzzCharts(f *testing.F) {
	f.Add("a", 1.0, 2.0, 3.0, -4.0, uint8(0))
	f.Add(hostile, math.NaN(), math.Inf(1), 1e308, -1e308, uint8(255))
	f.Add("", 1e-320, 5e-100, 1e100, 0.0, uint8(3))
	f.Add("b", 1e10, 1e10+1e-6, 1e10, 1e10, uint8(1))
	f.Add("c", 0.1, 0.30000000000000004, 1.0, 1e99, uint8(86))
	f.Fuzz(func(t *testing.T, name string, a, b, c, d float64, bits uint8) {
		on := func(n int) bool { return bits&(1<<n) != 0 }
		x := picture.Axis{Label: name, Log: on(0), Bytes: on(1)}
		y := picture.Axis{Label: name, Log: on(2), Bytes: on(3)}
		points := []chart.Point{{X: a, Y: b, Low: c, High: d, Measured: on(4)}, {X: b, Y: c}, {X: c, Y: d, Low: a, High: b}}
		check(t, chart.Of(chart.Chart{ID: "l", Title: name, Note: name, Figure: &chart.Lines{
			X: x, Y: y, Series: []chart.Series{{Name: name, Points: points}, {Name: name, Points: points[:1]}},
			Marks: []chart.Mark{{Name: name, Value: d}, {Name: name, Value: a, Horizontal: on(7)}},
		}}, chart.Chart{ID: "b", Title: name, Figure: &chart.Bars{X: x, Rows: []chart.Row{
			{Name: name, Value: name, Limit: d, Segments: []chart.Segment{{Kind: name, Value: a, Low: c, High: d, Soft: on(4)}, {Value: b}}},
			{Name: name, Segments: []chart.Segment{{Kind: "k", Value: c}}},
		}}}), on(6))
	})
}
