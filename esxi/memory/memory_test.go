package memory

import (
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// TestReserveOf holds the reserves of published hosts and of each era of releases, in MB.
func TestReserveOf(t *testing.T) {
	for _, tt := range []struct {
		name                string
		memory              numa.Bytes
		nodes               int
		release             numa.Release
		percent             int
		fill                bool
		minFree, news, home numa.Bytes
	}{
		{"e-spill: remote with 12544 MB free", 264000 * numa.MiB, 2, numa.ESXi60, 0, false, 3252, 13009, 1626},
		{"f-96gb", 128 * numa.GiB, 2, numa.ESXi65, 0, false, 1923, 7692, 961},
		{"F-23, the alternative", 128 * numa.GiB, 2, numa.ESXi65, 0, true, 1923, 1923, 961},
		{"unknown release", 128 * numa.GiB, 2, 0, 0, false, 1923, 7692, 961},
		{"5.5", 128 * numa.GiB, 2, numa.ESXi55, 0, false, 1923, 1923, 961},
		{"4.1 fills its nodes", 96 * numa.GiB, 2, numa.ESX41, 0, false, 5898, 0, 2949},
		{"Mem.MemMinFreePct", 100 * numa.GiB, 4, numa.ESXi70, 6, false, 6144, 12288, 1536},
		{"12 nodes of SNC 3", 3072 * numa.GiB, 12, numa.ESXi80, 0, false, 32069, 21379, 2672},
		{"8 nodes, 5.5", 128 * numa.GiB, 8, numa.ESXi55, 0, false, 1923, 480, 240},
	} {
		got := ReserveOf(tt.memory, tt.nodes, tt.release, tt.percent, tt.fill)
		if got.MinFree/numa.MiB != tt.minFree || got.New/numa.MiB != tt.news || got.Home/numa.MiB != tt.home {
			t.Errorf("%s: %d, %d, %d MB; want %d, %d, %d", tt.name, got.MinFree/numa.MiB, got.New/numa.MiB, got.Home/numa.MiB, tt.minFree, tt.news, tt.home)
		}
	}
}

// TestFill follows new memory from the home to the other nodes and down to nothing.
func TestFill(t *testing.T) {
	free := []int64{100, 90, 50}
	for _, tt := range []struct {
		want, nowhere int64
		allowed       numa.NodeSet
		gives         []int64
	}{
		{80, 0, 7, []int64{80, 0, 0}},
		{100, 0, 7, []int64{80, 20, 0}},
		{175, 0, 7, []int64{80, 70, 25}},
		{190, 0, 7, []int64{90, 70, 30}},
		{230, 0, 7, []int64{100, 90, 40}},
		{300, 60, 7, []int64{100, 90, 50}},
		{160, 10, 5, []int64{100, 0, 50}},
	} {
		gives := make([]int64, 3)
		if nowhere := Fill(free, 0, tt.allowed, tt.want, 20, gives); nowhere != tt.nowhere || !slices.Equal(gives, tt.gives) {
			t.Errorf("%d on %v: %v and %d nowhere, want %v and %d", tt.want, tt.allowed, gives, nowhere, tt.gives, tt.nowhere)
		}
	}
	gives := make([]int64, 3)
	if nowhere := Spread(free, 48, gives); nowhere != 0 || !slices.Equal(gives, []int64{20, 18, 10}) {
		t.Errorf("Spread: %v and %d nowhere", gives, nowhere)
	}
}
