package guest

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// reason returns why a part is not there.
func reason(list []machine.Missing, part string) string {
	i := slices.IndexFunc(list, func(m machine.Missing) bool { return m.Part == part })
	if i < 0 {
		return ""
	}
	return list[i].Reason
}

// TestNothingLeft plans where the control group has no memory left, or next to none.
func TestNothingLeft(t *testing.T) {
	for _, left := range []numa.Bytes{0, 1, 1 << 20, 4 << 20, 100 << 20} {
		for _, profile := range []measured.Profile{measured.Quick, measured.Default} {
			m := machineOf(2, 2)
			m.Limits.MemoryLeft = numa.ReadAt(left, "test")
			p, err := MakePlan(m, Options{Profile: profile, Loaded: true})
			if err != nil {
				t.Fatal(err)
			}
			if n := p.Touched(); n > tinyMemory || n > int64(left)/2 {
				t.Errorf("%v left: %d bytes are touched", left, n)
			}
			for _, part := range []string{"latency by working set, huge pages", "latency from node to node"} {
				if why := reason(p.Missing, part); !strings.Contains(why, "control group) may be touched") {
					t.Errorf("%v left: %s: %q", left, part, why)
				}
			}
			planned := slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Name == "hidden nodes" })
			if said := reason(p.Missing, "hidden nodes") != ""; planned == said || planned != (left/2 >= tinyMemory) {
				t.Errorf("%v left: hidden nodes planned %v, said to be missing %v", left, planned, said)
			}
		}
	}
}

// TestNothingIsLeftOut asks for processors of one node and memory of another, and plans for a kernel without nodes.
func TestNothingIsLeftOut(t *testing.T) {
	p, err := MakePlan(machineOf(2, 2), Options{CPUs: []int{0, 1}, Nodes: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"hidden nodes", "latency from node to node", "bandwidth from node to node"} {
		if why := reason(p.Missing, part); !strings.HasPrefix(why, "none of the measured logical processors") {
			t.Errorf("%s: %q", part, why)
		}
	}
	m := machineOf(1, 2)
	m.Topology.Nodes = nil
	if p, err = MakePlan(m, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"latency from node to node", "bandwidth from node to node"} {
		if why := reason(p.Missing, part); why != "the kernel knows no nodes" {
			t.Errorf("%s: %q", part, why)
		}
	}
	if p, err = MakePlan(m, Options{Parts: []Part{Cores}}); err != nil || len(p.Missing) > 0 {
		t.Errorf("what was not asked for is missing: %+v, %v", p.Missing, err)
	}
}

// TestOneGiB plans where a machine could give 1 GiB: a quarter of it is touched at most, also by a matrix of several nodes, and all is measured.
func TestOneGiB(t *testing.T) {
	for _, profile := range []measured.Profile{measured.Quick, measured.Default} {
		m := machineOf(2, 4)
		m.Limits.Available = numa.ReadAt(numa.Bytes(1<<30), "test")
		p, err := MakePlan(m, Options{Profile: profile, Loaded: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Touched(); n > 256<<20 || n < 128<<20 {
			t.Errorf("%s: %d bytes are touched", profile, n)
		}
		if i := slices.IndexFunc(p.Missing, func(m machine.Missing) bool { return strings.Contains(m.Reason, "may be touched") }); i >= 0 {
			t.Errorf("%s: %+v", profile, p.Missing[i])
		}
	}
}

// TestMatrixBytes plans a matrix of two nodes: memory of both is touched at once where it may be, for latency and for bandwidth.
func TestMatrixBytes(t *testing.T) {
	for memory, want := range map[int64]int64{512 << 20: 512 << 20, 300 << 20: 256 << 20} {
		p, err := MakePlan(machineOf(2, 4), Options{Profile: measured.Default, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"latency from node to node", "bandwidth from node to node"} {
			i := slices.IndexFunc(p.Tasks, func(t Task) bool { return t.Name == name })
			if i < 0 || p.Tasks[i].Bytes != want {
				t.Errorf("%d MiB: %s: %+v", memory>>20, name, p.Tasks)
			}
		}
	}
}
