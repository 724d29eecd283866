package vnuma

import (
	"testing"

	"example.org/homenode/numa"
)

// caseArgs are the numbers that a fuzz target varies; any values make a case
// within the bounds of numa.Fleet.Check.
type caseArgs struct {
	release, nodes byte
	cores, nodeGB  uint16 // of a node; nodeGB 0 is unknown
	from           byte   // 0: no other host
	vcpus, cps     uint16
	memoryGB       uint16 // and as many bytes, so that pages do not come out even
	hardware       byte   // 0: unknown
	stored         uint16
	cookie         byte // 0: none, 1: version 1, 2: version 2, 3: of another vCPU count
	manual, limit  uint16
	least          byte
	flags          uint16
	event          byte
}

// The flags of caseArgs.
const (
	flagHT = 1 << iota
	flagAMD
	flagHostPreferHT
	flagHostFollow
	flagHotAdd
	flagVNUMAHotAdd
	flagAuto
	flagFollow
	flagPreferHT
	flagSpread
	flagSizeEachTime
	flagPowerCycle
	flagAutosize
	flagAffinity
	flagLimitIsClient
	flagCoresPerNode
)

// fromHosts are the hosts a VM may come from: the published moves (D-1) and some
// of other releases.
var fromHosts = []struct {
	release      numa.Release
	nodes, cores int
}{
	{numa.ESXi70, 2, 20}, {numa.ESXi70, 4, 14}, {numa.ESXi60, 2, 10}, {numa.ESXi80, 8, 8}, {numa.ESX41, 2, 6}, {numa.ESXi67, 1, 16},
}

// build returns the case of the arguments.
func (a caseArgs) build(t testing.TB) (Guest, Machine, Case) {
	t.Helper()
	has := func(flag uint16) bool { return a.flags&flag != 0 }
	releases := sweepReleases()
	cores := 1 + int(a.cores)%numa.MaxCoresPerNode
	threads := cores
	if has(flagHT) {
		threads = 2 * cores
	}
	m := machineOf(t, releases[int(a.release)%len(releases)], 1+int(a.nodes)%numa.MaxNodes, cores, threads, int64(a.nodeGB)*gib)
	m.EPYC, m.PreferHT, m.Follow = has(flagAMD), has(flagHostPreferHT), has(flagHostFollow)
	g := Guest{
		VCPUs: 1 + int32(a.vcpus)%numa.MaxVCPUs, CoresPerSocket: 1 + int32(a.cps)%numa.MaxVCPUs,
		Memory: int64(a.memoryGB) * (gib + 1), Hardware: int32(a.hardware % 100), Min: int32(a.least),
		Stored: int32(a.stored) % (numa.MaxVCPUs + 1), MaxPerVirtualNode: int32(a.manual) % (numa.MaxVCPUs + 1),
		MaxPerMachineNode: int32(a.limit) % (numa.MaxVCPUs + 1),
		HotAdd:            has(flagHotAdd), VNUMAHotAdd: has(flagVNUMAHotAdd), AutoCPS: has(flagAuto),
		Follow: has(flagFollow), PreferHT: has(flagPreferHT), Spread: has(flagSpread), SizeEachTime: has(flagSizeEachTime),
		PowerCycleReboot: has(flagPowerCycle), Autosize: has(flagAutosize), Affinity: has(flagAffinity),
	}
	if has(flagLimitIsClient) {
		g.MaxPerMachineNode, g.MaxPerClient = 0, g.MaxPerMachineNode
	}
	if has(flagCoresPerNode) {
		g.MaxPerVirtualNode, g.CoresPerNode = 0, g.MaxPerVirtualNode
	}
	switch a.cookie % 4 {
	case 1:
		g.CookieVCPUs = g.VCPUs
	case 2:
		g.CookieVCPUs, g.CookieCPS = g.VCPUs, min(g.CoresPerSocket, 999) // three digits hold it
	case 3:
		g.CookieVCPUs = 1 + g.VCPUs%numa.MaxVCPUs
	}
	c := Case{Event: Event(int(a.event) % len(eventNames))}
	if a.from > 0 {
		f := fromHosts[int(a.from)%len(fromHosts)]
		from := machineOf(t, f.release, f.nodes, f.cores, 2*f.cores, 128*gib)
		c.From = &from
	}
	return g, m, c
}

// seeds are one case per release band and reason.
var seeds = []caseArgs{
	{release: 0, nodes: 1, cores: 5, nodeGB: 32, vcpus: 7, memoryGB: 16, hardware: 4},
	{release: 2, nodes: 1, cores: 5, nodeGB: 32, vcpus: 7, memoryGB: 16, hardware: 7},
	{release: 6, nodes: 1, cores: 9, nodeGB: 64, vcpus: 15, cps: 1, memoryGB: 12, hardware: 11},
	{release: 6, nodes: 1, cores: 9, nodeGB: 64, vcpus: 21, cps: 11, memoryGB: 24, hardware: 11, flags: flagHotAdd},
	{release: 7, nodes: 1, cores: 7, nodeGB: 64, vcpus: 7, memoryGB: 96, hardware: 13, stored: 8, cookie: 1, flags: flagSpread},
	{release: 9, nodes: 1, cores: 19, nodeGB: 256, vcpus: 29, cps: 5, memoryGB: 64, hardware: 17},
	{release: 9, nodes: 3, cores: 13, nodeGB: 128, from: 6, vcpus: 35, cps: 1, memoryGB: 128, hardware: 17, stored: 18, cookie: 2, event: 3},
	{release: 10, nodes: 1, cores: 9, nodeGB: 256, vcpus: 11, memoryGB: 384, hardware: 20, flags: flagHT | flagAuto | flagPreferHT},
	{release: 11, nodes: 7, cores: 7, nodeGB: 64, vcpus: 63, manual: 12, memoryGB: 256, hardware: 21, flags: flagAMD | flagCoresPerNode},
	{release: 10, nodes: 1, cores: 19, vcpus: 39, limit: 6, least: 4, hardware: 20, flags: flagHotAdd | flagVNUMAHotAdd | flagLimitIsClient},
}

func fuzzCases(f *testing.F, check func(t *testing.T, a caseArgs)) {
	for _, a := range seeds {
		f.Add(a.release, a.nodes, a.cores, a.nodeGB, a.from, a.vcpus, a.cps, a.memoryGB, a.hardware,
			a.stored, a.cookie, a.manual, a.limit, a.least, a.flags, a.event)
	}
	f.Fuzz(func(t *testing.T, release, nodes byte, cores, nodeGB uint16, from byte, vcpus, cps, memoryGB uint16, hardware byte,
		stored uint16, cookie byte, manual, limit uint16, least byte, flags uint16, event byte) {
		check(t, caseArgs{release, nodes, cores, nodeGB, from, vcpus, cps, memoryGB, hardware,
			stored, cookie, manual, limit, least, flags, event})
	})
}

func FuzzPredictMatchesSpec(f *testing.F) {
	fuzzCases(f, func(t *testing.T, a caseArgs) {
		g, m, c := a.build(t)
		checkSpec(t, &g, &m, &c)
	})
}
