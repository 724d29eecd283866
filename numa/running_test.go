package numa_test

import (
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// TestNotRunning: a running VM does not move between Intel and AMD, and nothing is said of unknown processors.
func TestNotRunning(t *testing.T) {
	host := func(model string) *numa.Host {
		return &numa.Host{Name: "esx01", CPUModel: numa.ReadAt(model, "a table")}
	}
	for _, tt := range []struct {
		from, to string
		stays    bool
	}{
		{"Intel(R) Xeon(R) Gold 6240", "AMD EPYC 7543", true},
		{"AMD EPYC 7543", "Intel(R) Xeon(R) Gold 6240", true},
		{"AMD EPYC 7543", "EPYC 9654", false},
		{"Intel(R) Xeon(R) Gold 6240", "", false},
	} {
		if got := numa.NotRunning(host(tt.from), host(tt.to)); (got != "") != tt.stays || tt.stays && !strings.Contains(got, "powered off") {
			t.Errorf("from %s to %s: %q, stays %v", tt.from, tt.to, got, tt.stays)
		}
	}
}
