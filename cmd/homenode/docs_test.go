package main

import (
	"strings"
	"testing"
)

// TestFactsPage: the page says of those facts that a plan changes them which fix writes.
func TestFactsPage(t *testing.T) {
	for word, changed := range map[string]bool{"iommu": false, "memoryAffinity": false, "firmware": false, "hotAdd": true, "cpuAffinity": true} {
		_, row, _ := strings.Cut(string(factsPage()), "| `"+word+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if got := strings.HasSuffix(row, "` |"); got != changed {
			t.Errorf("%s: %q, want changed by fix: %v", word, row, changed)
		}
	}
}
