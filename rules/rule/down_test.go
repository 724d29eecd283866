package rule

import (
	"slices"
	"testing"
)

// TestDown: of the counts of vCPUs that are tried, those that make even clients come before others, and odd ones last.
func TestDown(t *testing.T) {
	for _, tt := range []struct {
		most, node int
		first      []int
	}{
		{32, 4, []int{32, 28, 24, 20, 30, 26, 22, 18}},
		{30, 16, []int{30, 28, 26, 24, 22, 20, 18, 16, 29}},
		{9, 9, []int{9, 8, 6, 4, 2, 7, 5, 3, 1}},
		{3, 18, []int{3, 2, 1}},
		{1, 18, []int{1}},
	} {
		got := down(tt.most, 16, tt.node)
		if len(got) < len(tt.first) || !slices.Equal(got[:len(tt.first)], tt.first) {
			t.Errorf("at most %d on nodes of %d: %v, want %v first", tt.most, tt.node, got, tt.first)
		}
	}
}
