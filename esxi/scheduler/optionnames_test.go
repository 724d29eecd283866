package scheduler

import (
	"slices"
	"testing"

	"homenode/numa"
)

// TestOptionNames checks that stories know every option that is simulated, and that none of
// them passes for another one misspelt.
func TestOptionNames(t *testing.T) {
	for _, key := range slices.Concat(SimulatedOptions(), shapes[:2]) {
		if !slices.Contains(numa.OptionNames, key) {
			t.Errorf("numa.OptionNames has no %s", key)
		}
	}
}
