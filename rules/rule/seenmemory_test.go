package rule

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// TestSeenMemory gives no remote part and no N%L of interleaved memory, of which ESXi counts all as local.
func TestSeenMemory(t *testing.T) {
	o := &numa.Observation{Local: numa.ReadAt(96*numa.GiB, "t"), Remote: numa.ReadAt(32*numa.GiB, "t")}
	apart, spread := &vnuma.Layout{}, &vnuma.Layout{}
	spread.Memory.Placement = vnuma.Interleaved
	const known = "96 GB local, 32 GB remote (N%L 75 %)"
	for l, want := range map[*vnuma.Layout]string{nil: known, apart: known, spread: "128 GB seen, of which the remote part is unknown: it is interleaved over the home nodes (C-17)"} {
		if got := SeenMemory(o, l); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := SeenMemory(&numa.Observation{}, apart); got != "" {
		t.Errorf("of nothing seen: %q", got)
	}
}
