package numa_test

import (
	"testing"

	"homenode/numa"
)

// TestDropped: ESXi 8.0 U2 and later do not run on processors without XSAVE.
func TestDropped(t *testing.T) {
	for _, tt := range []struct {
		cpu string
		r   numa.Release
		no  bool
	}{
		{"Intel(R) Xeon(R) CPU X5690 @ 3.47GHz", numa.ESXi80 + 2, true},
		{"Intel(R) Xeon(R) CPU X5690 @ 3.47GHz", numa.ESXi80 + 1, false},
		{"Intel(R) Xeon(R) CPU E7- 4870 @ 2.40GHz", numa.ESXi80 + 3, true},
		{"Intel(R) Xeon(R) CPU E5450 @ 3.00GHz", numa.ESXi80 + 3, true},
		{"Intel(R) Xeon(R) CPU X7560 @ 2.27GHz", numa.ESXi80 + 3, true},
		{"AMD Opteron(tm) Processor 6174", numa.ESXi80 + 3, true},
		{"Dual-Core AMD Opteron(tm) Processor 8220", numa.ESXi80 + 3, true},
		{"AMD Opteron(TM) Processor 6276", numa.ESXi80 + 3, false},
		{"Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz", numa.ESXi80 + 3, false},
		{"Intel(R) Xeon(R) CPU E7-4890 v2 @ 2.80GHz", numa.ESXi80 + 3, false},
		{"Intel(R) Xeon(R) Gold 5515+", numa.ESXi80 + 3, false},
		{"Intel(R) Xeon(R) W-3335 CPU @ 3.40GHz", numa.ESXi80 + 3, false},
		{"AMD EPYC 7543 32-Core Processor", numa.ESXi80 + 3, false},
		{"", numa.ESXi80 + 3, false},
	} {
		h := numa.Host{CPUModel: numa.ReadAt(tt.cpu, "")}
		if got := h.Dropped(tt.r); (got != "") != tt.no {
			t.Errorf("%s, %s: %q, want %v", tt.cpu, tt.r, got, tt.no)
		}
	}
}
