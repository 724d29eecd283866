package rule

import (
	"testing"

	"example.org/homenode/numa"
)

// TestSizes: vCPUs that can be added and are not there count in no cell.
func TestSizes(t *testing.T) {
	s := &numa.Stated{Shape: numa.Shape{Cells: []numa.Cell{{CPUs: []int{0, 1}}, {CPUs: []int{2, 3}}}}}
	v := &StatedVM{VM: &numa.VM{Stated: s}}
	if got := v.Sizes(); got != "2 × 2" {
		t.Errorf("found %s of all", got)
	}
	if s.Slots = []int{2, 3}; v.Sizes() != "2 + 0" {
		t.Errorf("found %s of half", v.Sizes())
	}
}
