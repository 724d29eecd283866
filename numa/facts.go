package numa

import "math"

// A Property is one fact of a VM, declared once: readers of words, conditions, what-ifs and the documentation follow from the table of
// these. docs/reference/facts.md shows it.
type Property struct {
	Word  string   // in scenarios, what-ifs and conditions
	JSON  string   // in snapshots
	About string   // what it is, in words
	Unit  string   // of its number; "" for none
	Least int      // of a number
	Most  int      // of a number; 0 where its type says it
	Only  []string // the values of a text; nil for any
	Where string   // where vSphere has it: the property below config of a VM, or a whole path
	Sheet string   // where RVTools has it: sheet and column; "" where it does not
	VMX   string   // its key in a .vmx file; "" where it has none
	// Fact returns the fact of a VM: a *Fact of int, bool, string, Bytes, PowerState or []int.
	Fact func(v *VM) any
}

// VMFacts are the facts of a VM that a word states, in the order of messages. Words of their own read coresPerSocket (auto too) and cpuLimit (none too).
var VMFacts = []Property{
	{Word: "vcpus", JSON: "vcpus", About: "vCPUs", Least: 1, Most: MaxVCPUs, Where: "hardware.numCPU", Sheet: "vCPU CPUs", VMX: "numvcpus", Fact: func(v *VM) any { return &v.VCPUs }},
	{Word: "coresPerSocket", JSON: "coresPerSocket", About: "cores per virtual socket", Least: 1, Most: MaxVCPUs, Where: "hardware.numCoresPerSocket", Sheet: "vCPU Cores p/s", VMX: "cpuid.coresPerSocket", Fact: func(v *VM) any { return &v.CoresPerSocket }},
	{Word: "memory", JSON: "memory", About: "memory", Unit: "bytes", Where: "hardware.memoryMB", Sheet: "vMemory Size MiB", VMX: "memSize", Fact: func(v *VM) any { return &v.Memory }},
	{Word: "hotAdd", JSON: "cpuHotAdd", About: "CPU hot add", Where: "cpuHotAddEnabled", Sheet: "vCPU Hot Add", VMX: "vcpu.hotadd", Fact: func(v *VM) any { return &v.CPUHotAdd }},
	{Word: "memoryHotAdd", JSON: "memoryHotAdd", About: "memory hot add", Where: "memoryHotAddEnabled", Sheet: "vMemory Hot Add", VMX: "mem.hotadd", Fact: func(v *VM) any { return &v.MemoryHotAdd }},
	{Word: "vnumaHotAdd", JSON: "vnumaHotAdd", About: "vNUMA although CPU hot add is on", Where: "numaInfo.vnumaOnCpuHotaddExposed", Sheet: "vCPU Numa Hotadd Exposed", VMX: "numa.allowHotadd", Fact: func(v *VM) any { return &v.VNUMAHotAdd }},
	{Word: "hw", JSON: "hardware", About: "virtual hardware version", Least: 3, Most: 99, Where: "version", Sheet: "vInfo HW version", VMX: "virtualHW.version", Fact: func(v *VM) any { return &v.Hardware }},
	{Word: "guest", JSON: "guestOS", About: "guest operating system", Where: "guestFullName", Sheet: "vInfo OS according to the configuration file", VMX: "guestOS", Fact: func(v *VM) any { return &v.GuestOS }},
	{Word: "product", JSON: "product", About: "software in the guest, as its owner states it", Where: "a tag or custom attribute product", Sheet: "vInfo product", Fact: func(v *VM) any { return &v.Product }},
	{Word: "power", JSON: "power", About: "power state", Only: []string{"on", "off", "suspended"}, Where: "runtime.powerState", Sheet: "vInfo Powerstate", Fact: func(v *VM) any { return &v.Power }},
	{Word: "template", JSON: "template", About: "it is a template", Where: "template", Sheet: "vInfo Template", Fact: func(v *VM) any { return &v.Template }},
	{Word: "latency", JSON: "latencySensitivity", About: "latency sensitivity", Only: []string{"low", "normal", "medium", "high"}, Where: "latencySensitivity.level", Sheet: "vInfo Latency Sensitivity", VMX: "sched.cpu.latencySensitivity", Fact: func(v *VM) any { return &v.LatencySensitivity }},
	{Word: "virtualThreads", JSON: "virtualThreads", About: "threads of a virtual core", Least: 1, Most: 2, Where: "hardware.simultaneousThreads", Fact: func(v *VM) any { return &v.VirtualThreads }},
	{Word: "firmware", JSON: "firmware", About: "firmware", Only: []string{"bios", "efi"}, Where: "firmware", Sheet: "vInfo Firmware", VMX: "firmware", Fact: func(v *VM) any { return &v.Firmware }},
	{Word: "iommu", JSON: "iommu", About: "a virtual IOMMU", Where: "flags.vvtdEnabled", VMX: "vvtd.enable", Fact: func(v *VM) any { return &v.IOMMU }},
	{Word: "cpuAffinity", JSON: "cpuAffinity", About: "CPU affinity: numbers of PCPUs", Where: "cpuAffinity.affinitySet", VMX: "sched.cpu.affinity", Fact: func(v *VM) any { return &v.CPUAffinity }},
	{Word: "memoryAffinity", JSON: "memoryAffinity", About: "memory affinity: numbers of NUMA nodes", Where: "memoryAffinity.affinitySet", Fact: func(v *VM) any { return &v.MemoryAffinity }},
	{Word: "cpuReservation", JSON: "cpuReservation", About: "CPU reservation", Unit: "MHz", Most: math.MaxInt32, Where: "cpuAllocation.reservation", Sheet: "vCPU Reservation", VMX: "sched.cpu.min", Fact: func(v *VM) any { return &v.CPUReservation }},
	{Word: "cpuLimit", JSON: "cpuLimit", About: "CPU limit; -1 for none", Unit: "MHz", Least: -1, Most: math.MaxInt32, Where: "cpuAllocation.limit", Sheet: "vCPU Limit", VMX: "sched.cpu.max", Fact: func(v *VM) any { return &v.CPULimit }},
	{Word: "memoryReservation", JSON: "memoryReservation", About: "memory reservation", Unit: "bytes", Where: "memoryAllocation.reservation", Sheet: "vMemory Reservation", VMX: "sched.mem.min", Fact: func(v *VM) any { return &v.MemoryReservation }},
	{Word: "reserveAll", JSON: "memoryReservationLocked", About: "all memory is reserved", Where: "memoryReservationLockedToMax", Sheet: "vMemory Memory Reservation Locked To Max", Fact: func(v *VM) any { return &v.MemoryReservationLocked }},
}
