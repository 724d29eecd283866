package qemu

import (
	"encoding/json"
	"fmt"
	"testing"

	"example.org/homenode/internal/testdeps"
)

// TestPlacement takes memory on each node of a guest, one of which has no processors, and checks by the system's answer for
// each page and by the private memory of the nodes that it is there.
func TestPlacement(t *testing.T) {
	testdeps.Proving(t)
	if testing.Short() {
		t.Skip("boots a guest")
	}
	Need(t)
	// Balancing moves memory without a policy, and before it does, Linux 6.1 says of its pages that they are nowhere
	// until they are touched again (seen here).
	out := Guest{Layout: placed(), Kernel: []string{"numa_balancing=disable"}, Run: []string{Program(t, "example.org/homenode/measure/qemu/testdata/place")}}.Boot(t)
	var places []struct {
		Node  int
		First bool
		Doubt string
		Pages map[int]int
		More  map[int]int64
	}
	if err := json.Unmarshal(out.Stdout, &places); err != nil || out.Exit != 0 {
		t.Fatalf("%v, exit code %d: %s", err, out.Exit, out.Stderr)
	}
	const size, page = 24 << 20, 4 << 10
	var got string
	for _, p := range places {
		got += fmt.Sprintf("%d %t, ", p.Node, p.First)
		if p.Doubt != "" || len(p.Pages) != 1 || p.Pages[p.Node] != size/page {
			t.Errorf("%+v: want all %d pages on node %d", p, size/page, p.Node)
		}
		if len(p.More) != len(placed().Nodes) {
			t.Errorf("%+v: private memory of %d nodes", p, len(p.More))
		}
		for node, more := range p.More {
			if there := node == p.Node; there && more < size*9/10 || !there && more > size/10 {
				t.Errorf("%+v: node %d has %d bytes more", p, node, more)
			}
		}
	}
	if want := "0 false, 0 true, 1 false, 1 true, 2 false, "; got != want {
		t.Errorf("took memory on %s want %s", got, want)
	}
	t.Logf("memory of %d kinds was on its node", len(places))
}

// placed is two nodes and one of memory only.
func placed() Layout {
	return Layout{SMP: "4,sockets=2,cores=2,threads=1", Nodes: []Node{{CPUs: "0-1", MiB: 512}, {CPUs: "2-3", MiB: 384}, {MiB: 128}}}
}

// TestPagesInGuest runs the tests of package pages where there is more than one node.
func TestPagesInGuest(t *testing.T) {
	testdeps.Proving(t)
	Need(t)
	out := Guest{Layout: placed(), Run: []string{Tests(t, "example.org/homenode/measure/guest/pages"), "-test.v"}}.Boot(t)
	if out.Exit != 0 {
		t.Errorf("exit code %d: %s%s", out.Exit, out.Stdout, out.Stderr)
	}
	t.Logf("%s", out.Stdout)
}
