package vnuma

import (
	"testing"

	"example.org/homenode/numa"
)

// TestCPUsOfHigh checks that latency sensitivity High counts cores, with and without preferHT, and virtual cores with Hyper-threading.
func TestCPUsOfHigh(t *testing.T) {
	m := Machine{model: numa.ESXi80, Nodes: 2, Cores: 16, Threads: 32, AllCores: 32, AllThreads: 64}
	for _, c := range []struct {
		high, preferHT, virtualHT bool
		node, all                 int32
	}{
		{false, false, false, 16, 32}, {false, true, false, 32, 64}, {true, false, false, 16, 32},
		{true, true, false, 16, 32}, {true, true, true, 32, 64}, {true, false, true, 32, 64},
	} {
		g := Guest{VCPUs: 24, PreferHT: c.preferHT, VirtualHT: c.virtualHT, Needs: Needs{Exclusive: c.high}}
		if node, all := m.CPUs(&g); node != c.node || all != c.all {
			t.Errorf("%+v: %d on a node, %d in all", c, node, all)
		}
	}
}

// TestUnlike checks that a missing module of 16 counts, with what the kernel keeps of the other node, and the kernel's part alone does not.
func TestUnlike(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		least, most int64
		want        bool
	}{{491520, 524288, true}, {491520, 524288 - 12000, true}, {65423, 65536, false}, {524288 - 12000, 524288, false}} {
		if got := Unlike(c.least*mb, c.most*mb); got != c.want {
			t.Errorf("%d and %d MB: %v", c.least, c.most, got)
		}
	}
}
