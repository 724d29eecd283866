package numa_test

import (
	"testing"

	"example.org/homenode/numa"
)

// TestDropped: a processor is not supported from one release on, and no later one takes it back.
func TestDropped(t *testing.T) {
	releases := []numa.Release{numa.ESXi60, numa.ESXi65, numa.ESXi67, numa.ESXi70, numa.ESXi80, numa.ESXi80 + 1, numa.ESXi80 + 2, numa.ESXi80 + 3, numa.ESXi90}
	for cpu, from := range map[string]numa.Release{
		"Intel(R) Xeon(R) CPU            5160  @ 3.00GHz": numa.ESXi65,
		"Intel(R) Xeon(R) CPU           X5355  @ 2.66GHz": numa.ESXi65,
		"Intel(R) Xeon(R) CPU E5450 @ 3.00GHz":            numa.ESXi67,
		"Intel(R) Xeon(R) CPU E5540 @ 2.53GHz":            numa.ESXi67,
		"Intel(R) Xeon(R) CPU X7560 @ 2.27GHz":            numa.ESXi67,
		"AMD Opteron(tm) Processor 6174":                  numa.ESXi67,
		"Six-Core AMD Opteron(tm) Processor 2427":         numa.ESXi67,
		"Intel(R) Xeon(R) CPU X5690 @ 3.47GHz":            numa.ESXi70,
		"Intel(R) Xeon(R) CPU E7- 4870 @ 2.40GHz":         numa.ESXi70,
		"AMD Opteron(TM) Processor 6276":                  numa.ESXi80,
		"AMD Opteron(tm) Processor 6380":                  numa.ESXi80,
		"Intel(R) Xeon(R) CPU E31230 @ 3.20GHz":           numa.ESXi80,
		"Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz":        numa.ESXi80,
		"Intel(R) Xeon(R) CPU E7-4890 v2 @ 2.80GHz":       numa.ESXi80,
		"Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz":       numa.ESXi80,
		"Dual-Core AMD Opteron(tm) Processor 8220":        numa.ESXi80 + 2,
		"Intel(R) Xeon(R) CPU 7140M @ 3.40GHz":            numa.ESXi80 + 2,
		"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz":       numa.ESXi90,
		"Intel(R) Xeon(R) CPU E7-8880 v4 @ 2.20GHz":       numa.ESXi90,
		"Intel(R) Xeon(R) CPU D-1541 @ 2.10GHz":           numa.ESXi90,
		"Intel(R) Xeon(R) W-2155 CPU @ 3.30GHz":           numa.ESXi90,
		"Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz":        0,
		"Intel(R) Xeon(R) Gold 5320 CPU @ 2.20GHz":        0,
		"Intel(R) Xeon(R) Gold 5515+":                     0,
		"Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz":   0,
		"Intel(R) Xeon(R) W-3335 CPU @ 3.40GHz":           0,
		"Intel(R) Xeon(R) 6530P":                          0,
		"Intel(R) Xeon(R) D-2776NT CPU @ 2.10GHz":         0,
		"AMD EPYC 7543 32-Core Processor":                 0,
		"":                                                0,
	} {
		h := numa.Host{CPUModel: numa.ReadAt(cpu, "")}
		for _, r := range releases {
			if got, want := h.Dropped(r) != "", from > 0 && r >= from; got != want {
				t.Errorf("%s, %s: %q, want %v", cpu, r, h.Dropped(r), want)
			}
		}
	}
}
