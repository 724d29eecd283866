package svg_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"homenode/output/draw/svg"
	"homenode/output/draw/topo"
	"homenode/rules"
	"homenode/source/scenario"
)

// idsOf returns the ids of a drawing in order, and what has none although it shows
// something.
func idsOf(t *testing.T, drawing []byte) (ids, without []string) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(drawing))
	inside := 0 // patterns
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return ids, without
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			if e.Name.Local == "pattern" {
				inside++
			}
			id := ""
			for _, a := range e.Attr {
				if a.Name.Local == "id" {
					id = a.Value
				}
			}
			switch e.Name.Local {
			case "svg", "g", "rect", "line", "text", "circle", "path", "pattern":
				if id == "" && (inside == 0 || e.Name.Local == "pattern") {
					without = append(without, e.Name.Local)
				}
			}
			if id != "" {
				ids = append(ids, id)
			}
		case xml.EndElement:
			if e.Name.Local == "pattern" {
				inside--
			}
		}
	}
}

// xmlName is a name of XML that needs no character beyond ASCII.
var xmlName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)

// drawAll draws all hosts and VMs of a fleet; rename gives VMs and hosts other IDs.
func drawAll(t *testing.T, text string, rename func(string) string, o svg.Options) map[string][]byte {
	t.Helper()
	f, err := scenario.Read("fleet.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Hosts {
		f.Hosts[i].ID = rename(f.Hosts[i].ID)
	}
	for i := range f.VMs {
		f.VMs[i].ID, f.VMs[i].Host = rename(f.VMs[i].ID), rename(f.VMs[i].Host)
	}
	r := rules.Run(f, rules.Options{})
	out := map[string][]byte{}
	for i := range f.Hosts {
		out["host "+f.Hosts[i].Name] = draw(t, topo.OfHost(r, &f.Hosts[i]), o)
	}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			for _, h := range c.Hosts {
				if d := topo.OfVM(v, h); d != nil {
					out["vm "+v.Name+" on "+h.Name] = draw(t, d, o)
				}
			}
		}
	}
	return out
}

func same(id string) string { return id }

// Every shape has an id, and on a page with all drawings of a fleet no two ids are
// alike and each is an XML name, also when IDs of the model are made to collide.
func TestEveryShapeHasAnID(t *testing.T) {
	hostile := map[string]string{
		"esx01": "a", "esx02": "a-node-0", "dark01": "a__node-0", "vdi01": "b",
		// ml01 is wide, the pinned VMs without home node, all on one host.
		"ml01": "x", "pin01": "x-client-0", "pin02": "x__client-0", "pin03": "x-client-0-memory", "pin04": "X", "pin05": `"><script>`, "pin06": "ü\x00",
		"sql01": "y", "app01": "y-on-a", "hana01": "y__on-a", "desk001": "x_5fclient-0",
	}
	for _, rename := range []func(string) string{same, func(id string) string {
		if other := hostile[id]; other != "" {
			return other
		}
		return id
	}} {
		seen := map[string]string{}
		for _, o := range []svg.Options{{}, {Inline: true}} {
			clear(seen)
			for name, drawing := range drawAll(t, drawn, rename, o) {
				ids, without := idsOf(t, drawing)
				if without != nil && !o.Inline {
					t.Errorf("%s: without an id: %v", name, without)
				}
				if slices.Contains(without, "g") {
					t.Errorf("%s: a group without an id", name)
				}
				for _, id := range ids {
					if !xmlName.MatchString(id) {
						t.Errorf("%s: id %q is not a plain XML name", name, id)
					}
					if seen[id] != "" {
						t.Errorf("id %q is in %s and in %s", id, seen[id], name)
					}
					seen[id] = name
				}
			}
		}
		if len(seen) < 1000 {
			t.Errorf("found %d ids: the test looks at little", len(seen))
		}
	}
}

// What is drawn of a VM keeps its ids when other VMs come, go or stand in another
// order.
func TestIDsAreStable(t *testing.T) {
	idsAbout := func(text, vm string) map[string]bool {
		out := map[string]bool{}
		for _, drawing := range drawAll(t, text, same, svg.Options{}) {
			ids, _ := idsOf(t, drawing)
			for _, id := range ids {
				if strings.Contains(id, vm) {
					out[id] = true
				}
			}
		}
		return out
	}
	lines := strings.Split(strings.TrimSpace(drawn), "\n")
	// The VMs of esx01 in the other order, one more, and one less on esx02.
	other := strings.Join(lines, "\n")
	sql, app := lines[4], lines[5]
	if !strings.HasPrefix(sql, "vm sql01") || !strings.HasPrefix(app, "vm app01") {
		t.Fatalf("the scenario has changed: %q, %q", sql, app)
	}
	other = strings.Replace(other, sql+"\n"+app, app+"\nvm aaa01 host=esx01 vcpus=12 memory=64GB\n"+sql, 1)
	for _, vm := range []string{"sql01", "app01"} {
		before, after := idsAbout(drawn, "vm-"+vm), idsAbout(other, "vm-"+vm)
		if !maps.Equal(before, after) || len(before) < 10 {
			t.Errorf("the ids about %s were %v, with other VMs %v", vm, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
		}
	}
}
