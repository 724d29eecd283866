package vnuma

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/product"
	"example.org/homenode/numa"
)

// A Guest is the model's input about a VM, as plain numbers. The names of settings are beside the fields; 0 means unset unless stated otherwise.
type Guest struct {
	VCPUs             int32
	CoresPerSocket    int32        // cpuid.coresPerSocket as configured, at least 1
	AutoCPS           bool         // cores per socket "assigned at power on" (8.0, hardware 20)
	Memory            int64        // bytes; 0 when unknown
	MemoryLimit       int64        // bytes; 0 without one below the memory
	HotAdd            bool         // vcpu.hotadd
	VNUMAHotAdd       bool         // numa.allowHotadd, vnumaOnCpuHotaddExposed
	Hardware          int32        // virtual hardware version; 0 when unknown
	Min               int32        // numa.vcpu.min
	MaxPerVirtualNode int32        // numa.vcpu.maxPerVirtualNode
	MaxPerMachineNode int32        // numa.vcpu.maxPerMachineNode
	MaxPerClient      int32        // numa.vcpu.maxPerClient
	CoresPerNode      int32        // numa.vcpu.coresPerNode, the "NUMA Nodes" field of 8.0
	Stored            int32        // numa.autosize.vcpu.maxPerVirtualNode
	CookieVCPUs       int32        // vCPUs recorded in numa.autosize.cookie
	CookieCPS         int32        // cores per socket recorded in a version 2 cookie
	SizeAssumed       bool         // Stored was not read, but assumed of the last power-on (numa.Config)
	Autosize          bool         // numa.autosize = TRUE
	SizeEachTime      bool         // numa.autosize.once = FALSE
	Follow            bool         // numa.vcpu.followcorespersocket = 1
	PreferHT          bool         // numa.vcpu.preferHT
	NoPreferHT        bool         // numa.vcpu.preferHT = FALSE, which Numa.PreferHT of a host may contradict (F-31)
	Spread            bool         // numa.consolidate = FALSE
	PowerCycleReboot  bool         // vmx.reboot.PowerCycle = TRUE
	Affinity          bool         // CPU or memory affinity: not NUMA-managed (C-12)
	AllowedNodes      numa.NodeSet // IDs of numa.nodeAffinity; empty means any
	MaxVCPUs          int32        // cpuid.maxVCPUs: the most that hot add reaches (B-15)
	VirtualHT         bool         // two vCPUs of a virtual core (8.0, hardware 20): simultaneousThreads (B-21)
	Usable            Usable       // limits of the software in the guest
	Needs             Needs        // requirements of the power-on other than the topology
	Admitted          bool         // skip the checks that refuse its power-on
	assumes           Assumptions
}

// Resident returns the memory of the guest that the host can hold: ESXi balloons, compresses or swaps the memory above a limit.
func (g *Guest) Resident() int64 {
	if g.MemoryLimit > 0 {
		return min(g.Memory, g.MemoryLimit)
	}
	return g.Memory
}

// Needs holds the known requirements of a VM's power-on other than the topology. The zero value requires nothing.
type Needs struct {
	Exclusive  bool  // latency sensitivity High: needs a reservation of all memory and a core's time for each vCPU (B-21)
	Device     bool  // has a PCI device of the host: needs a reservation of all memory (B-31)
	LargePages bool  // sched.mem.lpage.enable1GPage: needs a reservation of all memory (B-31)
	Reserved   int64 // bytes of memory that are known to be reserved
	Unreserved int64 // bytes of memory that are known not to be reserved
	Overhead   int64 // bytes that ESXi reserves in addition; 0 where none are reserved
	MHz        int32 // CPU reservation; 0 for none
	MHzKnown   bool
	Limit      int32 // CPU limit in MHz; 0 for none
	BIOS       bool  // has BIOS firmware, not EFI (B-32)
	NoIOMMU    bool  // the virtual IOMMU is off (B-32)
	VGPU       bool  // one of its devices is a vGPU (B-32)
}

// overhead returns the bytes that ESXi reserves for the VM at power-on beside its memory: no less than any of the sixteen samples of VMware vSphere
// 6.5 Resource Management, overhead memory on virtual machines (GUID-B42C72C1), up to 8 vCPUs and 16 GB, which grow by 4 MB for each vCPU and
// 7.6 MB for each GB. Beyond these it is assumed.
func overhead(v *numa.VM) int64 {
	const base, perVCPU, perGiB = 16 << 20, 4200 << 10, 7900 << 10
	return base + perVCPU*int64(v.VCPUs.Value) + int64(v.Memory.Value>>20)*perGiB>>10
}

// NeedsOf returns the requirements of v.
func NeedsOf(v *numa.VM) Needs {
	reserved := v.MemoryReservation.Value
	if v.AllReserved() {
		reserved = v.Memory.Value
	}
	more := int64(0)
	if reserved > 0 {
		more = overhead(v)
	}
	return Needs{
		Reserved: int64(reserved), Overhead: more,
		Exclusive: v.LatencyHigh(), Device: len(v.Devices.Value) > 0,
		LargePages: isTrue(v.Settings.Value, "sched.mem.lpage.enable1GPage"),
		BIOS:       v.Firmware.Value == "bios", NoIOMMU: v.IOMMU.Known() && !v.IOMMU.Value,
		VGPU:       hasVGPU(v),
		Unreserved: int64(v.Unreserved()), MHz: int32(min(v.CPUReservation.Value, math.MaxInt32)), MHzKnown: v.CPUReservation.Known(),
		Limit: int32(max(0, min(v.CPULimit.Value, math.MaxInt32))),
	}
}

func hasVGPU(v *numa.VM) bool {
	return slices.ContainsFunc(v.Devices.Value, func(d numa.Device) bool { return d.Kind == numa.VGPU })
}

// Frequency reports whether the frequency of a host decides if the VM powers on there, or how much of its vCPUs a limit permits.
func (n *Needs) Frequency() bool { return n.MHz > 0 || n.Limit > 0 || n.Exclusive && n.MHzKnown }

// Usable holds limits of the software in a guest that a layout can exceed; 0 means none. Package product lists them by product, version and edition.
type Usable struct {
	PerNode int32 // most logical processors of a NUMA node that the guest sees
	Sockets int32 // most sockets that the software uses
}

// usableOf returns the combined limits of all products of a VM. Where they depend on an unknown version or edition, the loosest counts, and
// more sockets than now only where none of the possible ones uses fewer vCPUs with them. That holds for SQL Server Standard too if it may run
// in the guest. Unknown cores per socket exceed no limit of sockets.
func usableOf(v *numa.VM) (u Usable) {
	least := func(a int32, n int) int32 {
		if n > 0 && (a == 0 || int32(n) < a) {
			return int32(n)
		}
		return a
	}
	keep := func(p *product.Product) {
		if cps := v.CoresPerSocket.Value; cps > 0 && !v.AutoCoresPerSocket.Value {
			u.Sockets = least(u.Sockets, p.SocketsFor(v.VCPUs.Value, max(1, v.VCPUs.Value/cps)))
		}
	}
	products := product.Running(v.Software().Value, v.GuestOS.Value)
	for i := range products {
		p := &products[i]
		u.PerNode = least(u.PerNode, p.Node())
		if socketsKnown(v) {
			u.Sockets = least(u.Sockets, p.Sockets())
		}
		keep(p)
	}
	if v.GuestOS.Known() && MayRunSQL(v) {
		keep(&product.Of("SQL Server Standard")[0])
	}
	return u
}

// MayRunSQL reports whether SQL Server for Windows may run in the guest: no product of known limits is stated, and the guest system is Windows or unknown.
func MayRunSQL(v *numa.VM) bool {
	guest := product.Of(v.GuestOS.Value)
	return product.Of(v.Software().Value) == nil && (!v.GuestOS.Known() || guest != nil && guest[0].Windows())
}

// Exceeded returns the excess of a layout over the limits of the guest's software; the zero value is no excess.
func (u Usable) Exceeded(l *Layout) (over Usable) {
	if n := int32(l.VPDs.Max()); u.PerNode > 0 && n > u.PerNode {
		over.PerNode = n - u.PerNode
	}
	if n := int32(l.VSockets.Len()); u.Sockets > 0 && n > u.Sockets {
		over.Sockets = n - u.Sockets
	}
	return over
}

// assumed returns the assumptions about g on m that precede every prediction.
func (g *Guest) assumed(m *Machine) Assumptions {
	all := g.assumes | m.assumes
	if g.LacksThreads(m) {
		all |= AssumedVirtualHT
	}
	if g.VCPUs > m.AllCores && !m.ThreadsKnown && !m.AllowWide {
		all |= AssumedThreads
	}
	return all
}

// LacksThreads reports whether g has virtual hyper-threading and the cores of m have one thread each.
func (g *Guest) LacksThreads(m *Machine) bool {
	return g.Threads(m) > 1 && m.ThreadsKnown && m.Threads == m.Cores
}

// NewGuest extracts the model's input from a VM. problems lists settings whose value is no number or truth value: they count as unset.
// The error names the missing fact: a VM without a vCPU count is not predicted.
func NewGuest(v *numa.VM) (g Guest, problems []string, err error) {
	if !v.VCPUs.Known() {
		return g, nil, fmt.Errorf("VM %s: the vCPU count is unknown", v.Name)
	}
	g.VCPUs = int32(v.VCPUs.Value)
	g.CoresPerSocket = max(1, int32(v.CoresPerSocket.Or(numa.PlainCores(v.VCPUs.Value))))
	g.AutoCPS = v.AutoCoresPerSocket.Or(false)
	g.Memory = int64(v.Memory.Or(0))
	if limit, ok := v.LimitedTo(); ok {
		g.MemoryLimit = int64(limit)
	}
	g.HotAdd = v.CPUHotAdd.Or(false)
	g.VNUMAHotAdd = v.VNUMAHotAdd.Or(false)
	g.Hardware = int32(v.Hardware.Or(0))
	g.VirtualHT = VirtualThreads(v).Value > 1
	g.Affinity = len(v.CPUAffinity.Value) > 0 || len(v.MemoryAffinity.Value) > 0
	if v.CoresPerNUMANode.Known() && v.AutoCoresPerNUMANode.Known() && !v.AutoCoresPerNUMANode.Value {
		g.CoresPerNode = int32(v.CoresPerNUMANode.Value)
	}
	g.Usable = usableOf(v)
	g.Needs = NeedsOf(v)
	g.assumes = missing(v)
	problems = g.read(v.Settings.Value)
	g.SizeAssumed = v.SizeAssumed && g.Stored > 0
	return g, problems, nil
}

// VirtualThreads returns the vCPUs of a virtual core: 2 with virtual hyper-threading, else 1. It needs virtual hardware 20 and ESXi 8.0
// (B-21): older hardware makes it 1; the release is not checked.
func VirtualThreads(v *numa.VM) numa.Fact[int] {
	threads := v.VirtualThreads
	if s, ok := v.Settings.Value.Lookup("cpuid.numSMT"); ok && threads.Value < 2 {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n == 2 {
			threads = numa.Fact[int]{Value: n, Origin: v.Settings.Origin}
		}
	}
	switch {
	case threads.Value < 2:
		return numa.AssumedFor(1, "no virtual hyper-threading")
	case v.Hardware.Known() && v.Hardware.Value < 20:
		return numa.AssumedFor(1, "virtual hyper-threading needs virtual hardware 20")
	}
	return threads
}

// socketsKnown reports whether the source states cores per socket, or that they are automatic.
func socketsKnown(v *numa.VM) bool {
	return v.CoresPerSocket.Known() || v.AutoCoresPerSocket.Or(false)
}

// missing returns the assumptions for the unknown facts of the VM.
func missing(v *numa.VM) Assumptions {
	var a Assumptions
	for _, c := range []struct {
		known bool
		bit   Assumptions
	}{
		{socketsKnown(v), AssumedCPS},
		{v.CPUHotAdd.Known(), AssumedHotAdd},
		{v.Hardware.Known(), AssumedHardware},
		{v.Settings.Known() || v.SizeAssumed, AssumedSettings},
		{!v.SizeAssumed, AssumedPowerOn},
		// Before hardware 20 cores per socket are never automatic (B-18).
		{v.AutoCoresPerSocket.Known() || v.Hardware.Known() && v.Hardware.Value < 20, AssumedAutoCPS},
		// vNUMA with hot add is possible from hardware 20 on (B-15).
		{v.VNUMAHotAdd.Known() || isSet(v.Settings.Value, "numa.allowHotadd") || !v.CPUHotAdd.Or(false) || v.Hardware.Known() && v.Hardware.Value < 20, AssumedVNUMAHotAdd},
		{v.CPUAffinity.Known() || v.Settings.Known(), AssumedAffinity},
		{!NeedsIOMMU(v.VCPUs.Value) || v.Hardware.Known() && v.Hardware.Value < firstIOMMU || v.Firmware.Known() && v.IOMMU.Known() && !hasVGPU(v) || v.Firmware.Value == "bios" || v.IOMMU.Known() && !v.IOMMU.Value, AssumedIOMMU},
		{v.Hardware.Value != 3, AssumedOldHardware},
		{len(v.Devices.Value) == 0 || v.ReservationKnown() && v.MemoryReservationLocked.Origin.Kind != numa.Assumed, AssumedReserved},
	} {
		if !c.known {
			a |= c.bit
		}
	}
	return a
}

// read parses the advanced settings of the rule book, B-10.
func (g *Guest) read(s numa.Settings) (problems []string) {
	number := func(key string, to *int32) {
		v, ok := s.Lookup(key)
		if !ok || strings.TrimSpace(v) == "" {
			return // an empty value is a removed key
		}
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 32)
		if err != nil || n < 0 || n > numa.MaxVCPUs {
			problems = append(problems, fmt.Sprintf("%s: found %q, want a number of vCPUs: taken as unset", key, v))
			return
		}
		*to = int32(n)
	}
	truth := func(key string, to *bool, when bool) {
		v, ok := s.Lookup(key)
		if !ok || strings.TrimSpace(v) == "" {
			return
		}
		b, ok := parseTruth(v)
		if !ok {
			problems = append(problems, fmt.Sprintf("%s: found %q, want TRUE or FALSE: taken as unset", key, v))
			return
		}
		*to = b == when
	}
	number("numa.vcpu.min", &g.Min)
	if v, ok := s.Lookup("numa.vcpu.min"); ok && strings.TrimSpace(v) == "0" {
		g.Min = 1 // no VM has fewer vCPUs: always shown, unlike an unset threshold
	}
	number("numa.vcpu.maxPerVirtualNode", &g.MaxPerVirtualNode)
	number("numa.vcpu.maxPerMachineNode", &g.MaxPerMachineNode)
	number("numa.vcpu.maxPerClient", &g.MaxPerClient)
	number("numa.vcpu.coresPerNode", &g.CoresPerNode)
	number("numa.autosize.vcpu.maxPerVirtualNode", &g.Stored)
	number("cpuid.maxVCPUs", &g.MaxVCPUs)
	truth("numa.autosize", &g.Autosize, true)
	truth("numa.autosize.once", &g.SizeEachTime, false)
	truth("numa.vcpu.followcorespersocket", &g.Follow, true)
	truth("numa.vcpu.preferHT", &g.PreferHT, true)
	no, _ := s.Lookup("numa.vcpu.preferHT")
	b, stated := parseTruth(no)
	g.NoPreferHT = stated && !b
	truth("numa.consolidate", &g.Spread, false)
	truth("numa.allowHotadd", &g.VNUMAHotAdd, true)
	truth("vmx.reboot.PowerCycle", &g.PowerCycleReboot, true)
	return append(problems, g.readLists(s)...)
}

// readLists parses the settings about affinity and the cookie.
func (g *Guest) readLists(s numa.Settings) (problems []string) {
	for _, one := range s {
		if affinityKey.MatchString(one.Key) && binds(one.Value) {
			g.Affinity = true
		}
	}
	if v, ok := s.Lookup("numa.nodeAffinity"); ok && binds(v) {
		nodes, ok := parseNodes(v)
		if !ok {
			problems = append(problems, fmt.Sprintf("numa.nodeAffinity: found %q, want a list of nodes such as 0,1: taken as unset", v))
		}
		g.AllowedNodes = numa.SetOf(nodes...)
	}
	if v, ok := s.Lookup("numa.autosize.cookie"); ok && v != "" {
		n, cps, ok := ParseCookie(v)
		if !ok {
			problems = append(problems, fmt.Sprintf("numa.autosize.cookie: found %q, want a cookie such as 120062: the stored size is void", v))
		}
		g.CookieVCPUs, g.CookieCPS = int32(n), int32(cps)
	}
	return problems
}

// ParseCookie parses numa.autosize.cookie: vCPUs*10000+1 (version 1, cps 0) or vCPUs*10000 + cores per socket*10 + 2 (version 2).
// Source: rule book B-9, decoded from 12 published values.
func ParseCookie(s string) (vcpus, cps int, ok bool) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > numa.MaxVCPUs*10000+9999 {
		return 0, 0, false
	}
	vcpus = n / 10000
	switch {
	case vcpus == 0:
		return 0, 0, false
	case n%10000 == 1:
		return vcpus, 0, true
	case n%10 == 2 && n%10000 > 10:
		return vcpus, n % 10000 / 10, true
	}
	return 0, 0, false
}

// isSet reports whether the setting with this key has a value.
func isSet(s numa.Settings, key string) bool {
	v, _ := s.Lookup(key)
	return strings.TrimSpace(v) != ""
}

// isTrue reports whether the setting with this key is set to a true value.
func isTrue(s numa.Settings, key string) bool {
	v, _ := s.Lookup(key)
	b, ok := parseTruth(v)
	return ok && b
}

// parseTruth reads a truth value of the .vmx form.
func parseTruth(s string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "yes", "on":
		return true, true
	case "false", "0", "no", "off":
		return false, true
	}
	return false, false
}
