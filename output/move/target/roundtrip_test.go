package target

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.org/homenode/change/move"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	kvmsource "example.org/homenode/source/kvm"
)

// bigHost is virsh capabilities of a host of 16 nodes of 16 CPUs, as at places cells.
func bigHost() string {
	var b strings.Builder
	b.WriteString("<capabilities><host><topology><cells>\n")
	for n := range 16 {
		fmt.Fprintf(&b, "<cell id='%d'><memory unit='GiB'>512</memory><cpus num='16'>\n", n)
		for c := range 16 {
			fmt.Fprintf(&b, "<cpu id='%d' socket_id='%d' core_id='%d'/>\n", n*16+c, n, c)
		}
		b.WriteString("</cpus></cell>\n")
	}
	b.WriteString("</cells></topology></host></capabilities>\n")
	return b.String()
}

// TestRoundTrip writes the domain of each shape, without a host and on one, reads it back as a fleet of KVM, and finds the shape and
// the placement that were written, and nothing to judge.
func TestRoundTrip(t *testing.T) {
	host := bigHost()
	for _, s := range shapes {
		for _, on := range []struct {
			name string
			at   func() move.Options
		}{{"nowhere", func() move.Options { return move.Options{} }}, {"placed", func() move.Options { return move.Options{At: at(12)} }}, {"unnumbered", func() move.Options { return move.Options{At: unnumbered} }}} {
			if on.name == "placed" && len(s.nodes) > 12 {
				continue
			}
			t.Run(s.name+" "+on.name, func(t *testing.T) {
				m := moved(t, s.name, "libvirt", on.at())
				if m.Refused != nil {
					t.Fatalf("refused: %q", m.Refused)
				}
				roundTrip(t, host, m)
			})
		}
	}
	for _, b := range boots {
		if b.shape != nil {
			t.Run(b.name, func(t *testing.T) {
				roundTrip(t, host, &move.Move{Name: "vm", Platform: move.PlatformOf("libvirt"), To: "libvirt", Shape: b.shape})
			})
		}
	}
}

// roundTrip writes and reads one move.
func roundTrip(t *testing.T, host string, m *move.Move) {
	t.Helper()
	files := Files([]*move.Move{m})
	f, err := kvmsource.ReadFS("fleet", fstest.MapFS{
		"kvm01/capabilities.xml":         {Data: []byte(host)},
		"kvm01/domains/" + files[0].Name: {Data: files[0].Data},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.VMs) != 1 || len(f.Notes) > 0 {
		t.Fatalf("%d VMs, notes %v", len(f.VMs), f.Notes)
	}
	got := *f.VMs[0].Stated
	shape := got.Shape
	shape.Cells = slices.Clone(shape.Cells)
	for i := range shape.Cells {
		shape.Cells[i].At = ""
	}
	want := *m.Shape
	if len(want.Cells) == 1 {
		want.Distance = nil // a single cell is not written: the guest sees one node without it
	}
	if !reflect.DeepEqual(shape, want) {
		t.Errorf("read back\n%+v\nwritten\n%+v", shape, want)
	}
	for i := range shape.Cells {
		var runs, bound []int
		if m.Binding() != nil {
			runs, bound = []int{m.At.Nodes[i]}, []int{m.At.Nodes[i]}
		}
		if h := &f.Hosts[0]; !slices.Equal(got.RunsOn(i, h), runs) || !slices.Equal(got.Bound[i].Nodes, bound) {
			t.Errorf("cell %d runs on %v with memory of %v, want %v and %v", i, got.RunsOn(i, h), got.Bound[i].Nodes, runs, bound)
		}
	}
	for _, x := range rules.Run(f, rules.Options{}).Findings {
		wide := len(m.Shape.Cells[0].CPUs) > 16 && m.At != nil && x.Rule == "K004"                                                       // at places a cell on a node, whatever that has
		alone := x.Rule == "K002" && slices.ContainsFunc(m.Shape.Cells, func(c numa.Cell) bool { return c.CPUs == nil && c.Memory > 0 }) // a shape that is booted has it
		if !wide && !alone {
			t.Errorf("%s %s: %s", x.Rule, x.VM, x.Message)
		}
	}
}
