package numa

import (
	"slices"
	"strings"

	"example.org/homenode/numa/pattern"
)

// kernelSettings is the prefix of kernel settings, in lower case; some sources omit it, or its first part.
const kernelSettings = "vmkernel.boot."

// A HostOption is an advanced or kernel setting of a host about NUMA, large pages or page sharing.
type HostOption struct {
	Key     string
	Does    string  // empty if predictions or simulations use it: their tables describe it
	Default string  // of the newest release that has it; empty if it varies or is not published
	Since   Release // first release whose published list contains it; 0 for 6.0 U3
	Gone    Release // first release whose list no longer contains it; 0 for none
}

// HostOptions are those in the published lists of ESXi 6.0 U3 to 9.0.1 (C-18; https://github.com/lamw/esxi-advanced-and-kernel-settings),
// and Numa.InitialPlacementLoadThreshold (Broadcom KB 430776), which is in no list.
var HostOptions = []HostOption{
	{"Cpu.AllowWideVsmp", "", "0", 0, 0},
	{"Cpu.CoschedHandoffLLC", "whether a handoff stays on the last-level cache", "1", 0, 0},
	{"Cpu.HTRebalancePeriod", "milliseconds between moves of a vCPU inside a core", "5", 0, 0},
	{"Cpu.HostRebalancePeriod", "milliseconds between moves of a vCPU over the host", "2000", 0, 0},
	{"Cpu.L3RebalancePeriod", "milliseconds between moves of a vCPU under one L3 cache", "20", 0, 0},
	{"Cpu.PackageRebalancePeriod", "milliseconds between moves of a vCPU inside a package", "2000", 0, 0},
	{"FT.FTCptNumaIndex", "the node of the threads of fault tolerance", "0", 0, 0},
	{"LPage.LPageAlwaysTryForNPT", "", "1", 0, 0},
	{"LPage.LPageDefragEnable", "whether small pages are moved to make large ones", "1", 0, 0},
	{"LPage.LPageMarkLowNodes", "whether nodes with few large pages are marked", "1", 0, 0},
	{"LPage.MaxSharedPages", "shared pages of a large page that may be broken up for it", "510", 0, 0},
	{"LPage.MaxSwappedPagesInitVal", "swapped pages of a large page that may be read for it", "10", 0, 0},
	{"LPage.freePagesThresholdForRemote", "free small pages of the home nodes up to which a large page of another node is taken", "2048", 0, 0},
	{"Mem.AllocGuestLargePage", "whether guests get large pages", "1", 0, 0},
	{"Mem.MemMinFreePct", "", "0", 0, 0},
	{"Mem.ShareForceSalting", "", "2", 0, 0},
	{"Mem.ShareRateMax", "", "1024", 0, 0},
	{"Mem.ShareScanGHz", "MB a second and GHz that are looked at for sharing", "4", 0, 0},
	{"Mem.ShareScanTime", "", "60", 0, 0},
	{"Net.NetNetqNumaIOAwareDynamicLB", "whether network queues are balanced with nodes in mind", "1", 0, ESXi65},
	{"Net.NetNetqNumaIOCpuPinThreshold", "load from which on a network queue is pinned to a node", "0", 0, 0},
	{"Net.TeamingNUMAAware", "whether teaming prefers an uplink of the node", "1", ESXi70, 0},
	{"Numa.AutoMemAffinity", "whether a VM with CPU affinity gets memory affinity", "1", 0, ESXi65},
	{"Numa.CoreCapRatioPct", "", "90", 0, 0},
	{"Numa.CostopSkewAdjust", "what is done about vCPUs that run apart: 1 mixes them over clients, 2 lets them run on all nodes", "1", 0, 0},
	{"Numa.DeviceAffinity", "1: a VM is placed near its passthrough devices", "0", ESXi90, 0},
	{"Numa.FollowCoresPerSocket", "", "0", ESXi65, 0},
	{"Numa.InitialPlacementLoadThreshold", "", "", 0, 0},
	{"Numa.LTermFairnessInterval", "", "5", 0, 0},
	{"Numa.LTermMigImbalThreshold", "", "10", 0, 0},
	{"Numa.LargeInterleave", "whether interleaved memory alternates by large pages", "1", 0, 0},
	{"Numa.LatencyProbePeriod", "milliseconds between measurements of latency", "500", ESXi67, 0},
	{"Numa.LocalityWeightActionAffinity", "", "130", 0, 0},
	{"Numa.LocalityWeightMem", "", "1", 0, 0},
	{"Numa.MaxProximityDomains", "", "16", 0, ESXi65},
	{"Numa.MigImbalanceThreshold", "", "10", 0, 0},
	{"Numa.MigPreventLTermThresh", "", "0", 0, 0},
	{"Numa.MigThrashThreshold", "", "50", 0, 0},
	{"Numa.MigThreshold", "", "2", 0, 0},
	{"Numa.MonMigEnable", "whether the memory of the monitor moves too", "1", 0, 0},
	{"Numa.PPDStats", "whether clients are counted apart", "1", 0, ESXi65},
	{"Numa.PageMigEnable", "", "1", 0, 0},
	{"Numa.PageMigLinearRun", "pages that are looked at in order for migration", "95", 0, 0},
	{"Numa.PageMigRandomRun", "pages that are looked at by chance for migration", "5", 0, 0},
	{"Numa.PageMigRateMax", "", "32000", 0, 0},
	{"Numa.PreferHT", "", "0", 0, 0},
	{"Numa.RebalanceCoresNode", "", "2", 0, 0},
	{"Numa.RebalanceCoresTotal", "", "4", 0, 0},
	{"Numa.RebalanceEnable", "", "1", 0, 0},
	{"Numa.RebalancePeriod", "", "2000", 0, 0},
	{"Numa.SwapConsiderPeriod", "", "15", 0, 0},
	{"Numa.SwapInterval", "", "3", 0, 0},
	{"Numa.SwapLoadEnable", "", "1", 0, 0},
	{"Numa.SwapLocalityEnable", "", "1", 0, 0},
	{"Numa.SwapMigrateOnly", "", "2", 0, 0},
	{"Numa.UsePPDLocalityInfo", "whether the locality of each client counts", "1", 0, ESXi65},
	{"VMkernel.Boot.NUMACodeRepStress", "whether kernel code is copied to nodes as a test", "FALSE", 0, ESXi80},
	{"VMkernel.Boot.createNoMemFakeNUMAnode", "whether one node without memory is made", "FALSE", 0, 0},
	{"VMkernel.Boot.createNoPCPUFakeNUMAnode", "whether one node without PCPUs is made", "FALSE", 0, 0},
	{"VMkernel.Boot.dynamicLatency", "whether latency between nodes is measured again while the host runs", "FALSE", ESXi67, 0},
	{"VMkernel.Boot.fakeNUMAnodes", "nodes that are made on a host without NUMA", "0", 0, 0},
	{"VMkernel.Boot.forceHyperthreadingMitigation", "whether it does so on processors without the fault", "FALSE", ESXi70, 0},
	{"VMkernel.Boot.forceUseSafeZone", "whether it does so without hyper-threading", "FALSE", ESXi70, 0},
	{"VMkernel.Boot.hyperthreading", "whether hyper-threading is used", "TRUE", 0, 0},
	{"VMkernel.Boot.hyperthreadingMitigation", "whether the scheduler keeps VMs of one core apart", "FALSE", ESXi67, 0},
	{"VMkernel.Boot.hyperthreadingMitigationIntraVM", "whether it keeps vCPUs of one VM apart too", "TRUE", ESXi67, 0},
	{"VMkernel.Boot.interleaveFakeNUMAnodes", "whether the memory of made nodes is interleaved", "FALSE", 0, 0},
	{"VMkernel.Boot.llcSchedEnable", "whether the scheduler knows of several last-level caches of a node", "TRUE", ESXi70, 0},
	{"VMkernel.Boot.maxHTPerCore", "the most hyper-threads of a core that are used", "2", ESXi67, 0},
	{"VMkernel.Boot.maxNUMAHistoryEntries", "histories that the NUMA scheduler keeps", "32", ESXi90, 0},
	{"VMkernel.Boot.maxNumExtraSplitsPerNode", "further parts of the memory of a node", "0", 0, 0},
	{"VMkernel.Boot.maxPCPUS", "the most PCPUs that are used", "", 0, 0},
	{"VMkernel.Boot.maxPCPUsNUMAInterleaving", "whether PCPUs that are left out are taken from all nodes alike", "TRUE", 0, 0},
	{"VMkernel.Boot.memDistPolicyNumber", "how memory is distributed over nodes", "0", 0, 0},
	{"VMkernel.Boot.numaLatencyLoops", "rounds in which latency between nodes is measured; 0: none", "20", 0, ESXi65},
	{"VMkernel.Boot.numaLatencyPages", "pages of a node of which latency is measured", "20", 0, ESXi65},
	{"VMkernel.Boot.numaLatencyRemoteThresholdPct", "the difference of latency up to which two pairs of nodes are equally far, in percent", "10", 0, 0},
	{"VMkernel.Boot.sharePerNode", "whether equal pages are shared inside a node only", "TRUE", 0, 0},
	{"VMkernel.Boot.storAdptrMultCplWrldsPerNuma", "whether storage completes on several nodes", "TRUE", ESXi70, 0},
	{"VMkernel.Boot.useNUMAInfo", "FALSE: ESXi ignores the NUMA nodes of the firmware", "TRUE", 0, 0},
	{"VMkernel.Boot.useReliableMem", "whether memory that the firmware calls reliable is kept for the kernel", "TRUE", 0, 0},
	{"VMkernel.Boot.useSLIT", "whether distances come from the table of the firmware too", "TRUE", 0, 0},
}

// KeepOption reports whether the host option with this key belongs in a fleet: one of the groups Numa, LPage and Mem, or of HostOptions; a
// kernel setting may lack its VMkernel.Boot.
func KeepOption(key string) bool {
	k := strings.ToLower(key)
	if strings.HasPrefix(k, "numa.") || strings.HasPrefix(k, "lpage.") || strings.HasPrefix(k, "mem.") {
		return true
	}
	bare := strings.TrimPrefix(strings.TrimPrefix(k, "vmkernel."), "boot.")
	return slices.ContainsFunc(HostOptions, func(o HostOption) bool {
		name := strings.ToLower(o.Key)
		return k == name || kernelSettings+bare == name
	})
}

// OptionNames returns the keys of HostOptions.
func OptionNames() []string {
	names := make([]string, len(HostOptions))
	for i := range HostOptions {
		names[i] = HostOptions[i].Key
	}
	return names
}

// A Mitigation is the side-channel mitigation of the CPU scheduler on a host with active hyper-threading (rule book E-2, E-3).
type Mitigation uint8

const (
	NoMitigation Mitigation = iota
	SCAv1                   // one thread of each core
	SCAv2                   // both threads of a core for vCPUs of one VM only
)

// The options against side channels; sources write them with or without VMkernel.Boot.
const (
	MitigationOption        = "hyperthreadingMitigation"
	MitigationIntraVMOption = "hyperthreadingMitigationIntraVM" // TRUE by default
	MitigationForceOption   = "forceHyperthreadingMitigation"
)

// MitigationOf returns the mitigation that the options of a host request. The first option affects only processors with L1TF, so no AMD
// processor (KB 330041); other processors are not checked for it. Version 2 exists from 6.7 U2 on; without hyperthreadingMitigationIntraVM
// = FALSE it is version 1.
func MitigationOf(h *Host) Mitigation {
	if _, on, _ := h.BootOption(MitigationOption); on && !strings.Contains(h.CPUModel.Value, "AMD") {
		if _, intra, set := h.BootOption(MitigationIntraVMOption); set && !intra && h.Release.Value >= ESXi67U2 {
			return SCAv2
		}
		return SCAv1
	}
	if _, on, _ := h.BootOption(MitigationForceOption); on {
		return SCAv2
	}
	return NoMitigation
}

// affected matches processors that are known to have L1TF: Xeon E3 to E7 and the first
// Xeon Scalable (Intel 2009 to 2018).
var affected = pattern.Of(`Xeon.*(E[357]-|(Platinum|Gold|Silver|Bronze) \d1\d\d)`)

// HasL1TF reports whether the processor of h is known to have L1TF, so that the options against side channels act.
func (h *Host) HasL1TF() bool { return affected.MatchString(h.CPUModel.Value) }

// BootOption looks up a boolean kernel setting by its name without prefix. key is its name as the source wrote it.
func (h *Host) BootOption(name string) (key string, on, set bool) {
	for _, s := range h.Options.Value {
		if last := s.Key[strings.LastIndexByte(s.Key, '.')+1:]; strings.EqualFold(last, name) {
			value := strings.TrimSpace(s.Value)
			return s.Key, strings.EqualFold(value, "true") || value == "1", true
		}
	}
	return "", false, false
}
