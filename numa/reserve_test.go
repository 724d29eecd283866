package numa

import "testing"

func TestMinFree(t *testing.T) {
	for _, tt := range []struct {
		name              string
		memory            Bytes
		release           Release
		minFree, reserved Bytes // MB
	}{
		{"esxtop shows 1920 (Denneman, Deep Dive Part 5)", 130961 * MiB, ESXi60, 1921, 7687},
		{"100 GB", 100 * GiB, ESXi65, 1636, 6545},
		{"two nodes of 132000 MB: spill with 12544 MB free", 264000 * MiB, ESXi60, 3252, 13009},
		{"all tiers", 28 * GiB, ESXi70, 899, 3596},
		{"two tiers", 12 * GiB, ESXi70, 573, 2293},
		{"one tier", 4 * GiB, ESXi70, 245, 983},
		{"5.x: the high state is 100 %", 264000 * MiB, ESXi55, 3252, 3252},
		{"before 5.0: 6 %", 100 * GiB, ESX41, 6144, 6144},
		{"nothing", 0, ESXi70, 0, 0},
	} {
		if got := MinFree(tt.memory, tt.release) / MiB; got != tt.minFree {
			t.Errorf("%s: MinFree %d MB, want %d", tt.name, got, tt.minFree)
		}
		if got := SoftReserve(tt.memory, tt.release) / MiB; got != tt.reserved {
			t.Errorf("%s: SoftReserve %d MB, want %d", tt.name, got, tt.reserved)
		}
	}
	// More memory never wants less free.
	for last, m := Bytes(0), GiB; m < 4*TiB; m += GiB / 2 {
		if got := MinFree(m, ESXi70); got < last {
			t.Fatalf("MinFree(%v) = %v, less than before", m, got)
		} else {
			last = got
		}
	}
}

func TestNodeOfPCPU(t *testing.T) {
	h := Host{Nodes: ReadAt([]Node{{ID: 0, Cores: 4, Threads: 8}, {ID: 2, Cores: 4, Threads: 8}}, "")}
	for pcpu, want := range map[int]int{0: 0, 7: 0, 8: 2, 15: 2, 16: -1, -1: -1} {
		got, ok := h.NodeOfPCPU(pcpu)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("PCPU %d is on node %d, %v; want %d", pcpu, got, ok, want)
		}
	}
	h.HyperThreading = ReadAt(false, "")
	if got, ok := h.NodeOfPCPU(4); got != 2 || !ok {
		t.Errorf("without hyper-threading PCPU 4 is on node %d, %v; want 2", got, ok)
	}
}
