package scheduler

import (
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// TestOptionNames checks that stories know every option that is simulated, and that none of
// them passes for another one misspelt.
func TestOptionNames(t *testing.T) {
	keys := slices.Clone(shapes[:2])
	for i := range options {
		keys = append(keys, options[i].key)
	}
	for _, key := range keys {
		if !slices.Contains(numa.OptionNames(), key) {
			t.Errorf("numa.OptionNames has no %s", key)
		}
	}
}
