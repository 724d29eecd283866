package vnuma

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name     string
		split    Split
		sizes    []int
		min, max int
		even     bool
		text     string
	}{
		{"none", Split{}, []int{}, 0, 0, true, "0"},
		{"one vCPU", fill(1, 1), []int{1}, 1, 1, true, "1"},
		{"one group", fill(10, 10), []int{10}, 10, 10, true, "10"},
		{"group larger than the VM", fill(8, 20), []int{8}, 8, 8, true, "8"},
		{"no group size", fill(8, 0), []int{8}, 8, 8, true, "8"},
		{"two equal", fill(12, 6), []int{6, 6}, 6, 6, true, "2 × 6"},
		{"a remainder", fill(30, 16), []int{16, 14}, 14, 16, false, "16 + 14"},
		{"one vCPU left", fill(13, 4), []int{4, 4, 4, 1}, 1, 4, false, "3 × 4 + 1"},
		{"two VPDs of two PPDs", fill(40, 20).within(10), []int{10, 10, 10, 10}, 10, 10, true, "4 × 10"},
		{"PPDs never cross a VPD", fill(24, 12).within(10), []int{6, 6, 6, 6}, 6, 6, true, "4 × 6"},
		{"an uneven split in each VPD", fill(22, 11).within(8), []int{6, 5, 6, 5}, 5, 6, false, "6 + 5 + 6 + 5"},
		{"the last VPD holds a larger PPD", fill(22, 12).within(10), []int{6, 6, 10}, 6, 10, false, "2 × 6 + 10"},
		{"the last VPD is small", fill(26, 12).within(10), []int{6, 6, 6, 6, 2}, 2, 6, false, "4 × 6 + 2"},
		{"the last VPD is divided, the others are not", fill(17, 9).within(9), []int{9, 8}, 8, 9, false, "9 + 8"},
		{"too long to list", fill(40, 11).within(2), []int{2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 1, 2, 2, 2, 1},
			1, 2, false, "22 groups of 1 to 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.split
			if got := s.Sizes(); !slices.Equal(got, tt.sizes) {
				t.Errorf("Sizes() = %v, want %v", got, tt.sizes)
			}
			if s.Min() != tt.min || s.Max() != tt.max || s.Even() != tt.even || s.String() != tt.text {
				t.Errorf("Min, Max, Even, String = %d, %d, %v, %q; want %d, %d, %v, %q",
					s.Min(), s.Max(), s.Even(), s.String(), tt.min, tt.max, tt.even, tt.text)
			}
		})
	}
}

func TestSplitEqual(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b Split
		want bool
	}{
		{"the same", fill(12, 6), fill(12, 6), true},
		{"other sizes", fill(12, 6), fill(12, 4), false},
		{"other vCPU counts", fill(12, 6), fill(11, 6), false},
		{"as many groups of other sizes", fill(12, 7), fill(12, 8), false},
		{"by way of VPDs", fill(40, 20).within(10), fill(40, 10), true},
		{"by way of VPDs, with another border", fill(24, 20).within(10), fill(24, 8), false},
		{"both none", Split{}, Split{}, true},
	} {
		if got := tt.a.Equal(tt.b); got != tt.want || tt.b.Equal(tt.a) != tt.want {
			t.Errorf("%s: %v Equal %v = %v, want %v", tt.name, tt.a, tt.b, got, tt.want)
		}
	}
}

func TestSplitCrosses(t *testing.T) {
	for _, tt := range []struct {
		name       string
		ppds, vpds Split
		want       bool
	}{
		{"one for one", fill(12, 6), fill(12, 6), false},
		{"two PPDs a VPD", fill(40, 10), fill(40, 20), false},
		{"a PPD of two VPDs", fill(12, 12), fill(12, 6), true},
		{"36 vCPUs moved to nodes of 14 (D-1)", fill(36, 12), fill(36, 18), true},
		{"only the last PPD", fill(10, 4), fill(10, 9), true},
	} {
		if got := tt.ppds.Crosses(tt.vpds); got != tt.want {
			t.Errorf("%s: %v crosses %v = %v, want %v", tt.name, tt.ppds, tt.vpds, got, tt.want)
		}
	}
}

// naive is a Split as a slice: the group of each vCPU.
func naive(n, per, limit int) (group []int, sizes []int) {
	if per <= 0 || per > n {
		per = n
	}
	for _, block := range specFill(n, per) {
		parts := []int{block}
		if limit > 0 {
			parts = specEven(block, limit)
		}
		for _, size := range parts {
			for range size {
				group = append(group, len(sizes))
			}
			sizes = append(sizes, size)
		}
	}
	return group, sizes
}

// FuzzSplit compares two splits with plain slices.
func FuzzSplit(f *testing.F) {
	f.Add(uint16(22), uint16(12), uint16(10), uint16(8), uint16(0))
	f.Add(uint16(36), uint16(12), uint16(0), uint16(18), uint16(0))
	f.Add(uint16(1), uint16(0), uint16(1), uint16(1), uint16(1))
	f.Add(uint16(40), uint16(20), uint16(10), uint16(10), uint16(0))
	f.Add(uint16(17), uint16(9), uint16(4), uint16(5), uint16(3))
	f.Fuzz(func(t *testing.T, vcpus, per, limit, otherPer, otherLimit uint16) {
		n := 1 + int(vcpus)%1000
		s, t2 := fill(int32(n), int32(per)), fill(int32(n), int32(otherPer))
		if limit > 0 {
			s = s.within(int32(limit))
		}
		if otherLimit > 0 {
			t2 = t2.within(int32(otherLimit))
		}
		group, sizes := naive(n, int(per), int(limit))
		otherGroup, otherSizes := naive(n, int(otherPer), int(otherLimit))
		if !slices.Equal(s.Sizes(), sizes) || s.Len() != len(sizes) || s.Sum() != n {
			t.Fatalf("Sizes() = %v, Len() = %d, Sum() = %d; want %v, %d, %d", s.Sizes(), s.Len(), s.Sum(), sizes, len(sizes), n)
		}
		if s.Min() != slices.Min(sizes) || s.Max() != slices.Max(sizes) || s.Even() != (slices.Min(sizes) == slices.Max(sizes)) {
			t.Errorf("%v: Min, Max, Even = %d, %d, %v", sizes, s.Min(), s.Max(), s.Even())
		}
		first := 0
		for i, size := range sizes {
			if a, k := s.Group(i); a != first || k != size {
				t.Errorf("%v: Group(%d) = %d, %d; want %d, %d", sizes, i, a, k, first, size)
			}
			first += size
		}
		crosses := false
		for v := range n {
			if s.Of(v) != group[v] {
				t.Fatalf("%v: Of(%d) = %d, want %d", sizes, v, s.Of(v), group[v])
			}
			crosses = crosses || v > 0 && group[v] == group[v-1] && otherGroup[v] != otherGroup[v-1]
		}
		if got := s.Equal(t2); got != slices.Equal(sizes, otherSizes) {
			t.Errorf("%v Equal %v = %v", sizes, otherSizes, got)
		}
		if got := s.Crosses(t2); got != crosses {
			t.Errorf("%v Crosses %v = %v", sizes, otherSizes, got)
		}
	})
}
