package vnuma

import (
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// TestLogLines checks the forms that the published logs do not: forms of each
// release are in rule book B-23
func TestLogLines(t *testing.T) {
	for _, tt := range []struct {
		name    string
		release numa.Release
		guest   Guest
		want    []string
	}{
		{"4.1 logs no layout", numa.ESX41, Guest{VCPUs: 2, CoresPerSocket: 1}, nil},
		{"6.0, cores per socket", numa.ESXi60, Guest{VCPUs: 10, CoresPerSocket: 5, Min: 2, MaxPerMachineNode: 3}, []string{
			"numa: Setting.vcpu.maxPerVirtualNode=5 to match cpuid.coresPerSocket",
			"numa: VCPU 0: VPD 0 (PPD 0)", "numa: VCPU 1: VPD 0 (PPD 0)", "numa: VCPU 2: VPD 0 (PPD 0)",
			"numa: VCPU 3: VPD 0 (PPD 1)", "numa: VCPU 4: VPD 0 (PPD 1)",
			"numa: VCPU 5: VPD 1 (PPD 2)", "numa: VCPU 6: VPD 1 (PPD 2)", "numa: VCPU 7: VPD 1 (PPD 2)",
			"numa: VCPU 8: VPD 1 (PPD 3)", "numa: VCPU 9: VPD 1 (PPD 3)",
			"numaHost: 2 virtual nodes, 2 virtual sockets, 4 physical domains"}},
		{"6.0, hot add names PPD 0", numa.ESXi60, Guest{VCPUs: 4, CoresPerSocket: 2, HotAdd: true, MaxPerMachineNode: 2}, []string{
			"NUMA and VCPU hot add are incompatible.  Forcing UMA.",
			"numa: VCPU 0: VPD 0 (PPD 0)", "numa: VCPU 1: VPD 0 (PPD 0)", "numa: VCPU 2: VPD 0 (PPD 0)", "numa: VCPU 3: VPD 0 (PPD 0)",
			"numaHost: 1 virtual nodes, 2 virtual sockets, 2 physical domains"}},
		{"7.0, one slice over two clients", numa.ESXi70, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 4 * gib, HotAdd: true, MaxPerMachineNode: 2}, []string{
			"numaHost: NUMA config: consolidation= 1 preferHT= 0 partitionByMemory = 0",
			"numa: Hot add is enabled and vNUMA hot add is disabled, forcing UMA.",
			"numaHost: 4 VCPUs 1 VPDs 2 PPDs",
			"numaHost: VCPU 0 VPD 0 PPD 0 NodeMask ffffffffffffffff", "numaHost: VCPU 1 VPD 0 PPD 0 NodeMask ffffffffffffffff",
			"numaHost: VCPU 2 VPD 0 PPD 1 NodeMask ffffffffffffffff", "numaHost: VCPU 3 VPD 0 PPD 1 NodeMask ffffffffffffffff",
			"numaHost: 1 mem slices",
			"numaHost: memSlice 0 PPD 0 - 1 BPN [ 0x4000000000 - 0x4000100000 )"}},
		{"8.0, sized by hand", numa.ESXi80, Guest{VCPUs: 2, CoresPerSocket: 1, CoresPerNode: 1, Memory: 2 * gib, PreferHT: true}, []string{
			"numaHost: NUMA config: consolidation= 1 preferHT= 1 partitionByMemory = 0",
			"numa: Not autosizing due to either numa.vcpu.maxPerVirtualNode manual setting or manual Cores per Node user override.",
			"numaHost: 2 VCPUs 2 VPDs 2 PPDs",
			"numaHost: VCPU 0 VPD 0 PPD 0 NodeMask ffffffffffffffff", "numaHost: VCPU 1 VPD 1 PPD 1 NodeMask ffffffffffffffff",
			"numaHost: 2 mem slices",
			"numaHost: memSlice 0 PPD 0 - 0 BPN [ 0x4000000000 - 0x4000040000 )",
			"numaHost: memSlice 1 PPD 1 - 1 BPN [ 0x4000040000 - 0x4000080000 )"}},
		{"8.0, a stored size", numa.ESXi80, Guest{VCPUs: 1, CoresPerSocket: 1, Stored: 1, CookieVCPUs: 1}, []string{
			"numaHost: NUMA config: consolidation= 1 preferHT= 0 partitionByMemory = 0",
			"numaHost: 1 VCPUs 1 VPDs 1 PPDs", "numaHost: VCPU 0 VPD 0 PPD 0 NodeMask ffffffffffffffff"}},
		{"9.0, hot add", numa.ESXi90, Guest{VCPUs: 1, CoresPerSocket: 1, HotAdd: true, Spread: true}, []string{
			"numaHost: NUMA config: consolidation= 0 preferHT= 0 partitionByMemory = 0",
			"numa: Hot-add is enabled and vNUMA hot-add is disabled, forcing UMA.",
			"numaHost: 1 VCPUs 1 VPDs 1 PPDs", "numaHost: VCPU 0 VPD 0 PPD 0 NodeMask ffffffffffffffff"}},
	} {
		m := machineOf(t, tt.release, 2, 10, 20, 64*gib)
		l := Predict(&tt.guest, &m, &Case{})
		if got := LogLines(&l, &tt.guest, &m); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}
