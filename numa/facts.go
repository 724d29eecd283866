package numa

import "math"

// A Property is one fact of a VM or a host, declared once: words of scenarios and what-ifs, conditions, snapshots, columns of tables and the
// documentation are generated from these tables. docs/reference/facts.md shows it.
type Property[T any] struct {
	Word  string   // in scenarios, what-ifs and conditions
	JSON  string   // in snapshots
	Name  string   // in notes and tables of facts, where sources other than scenarios report it
	About string   // description in words
	Unit  string   // of its number; "" for none
	Least int      // minimum of a number
	Most  int64    // maximum of a number or of bytes; 0 if limited by its type only
	Only  []string // the values of a text; nil for any
	Where string   // in vSphere: the property below config of a VM, or a whole path
	Sheet string   // in RVTools: sheet and column; "" if there is none
	VMX   string   // key in a .vmx file; "" if there is none
	Edit  EditKind // the edit that changes it; "" if there is none
	Nodes bool     // the word describes all nodes of a host together
	// Fact returns the fact of a VM or host: a *Fact of int, bool, string, Bytes, PowerState, Release or []int, or of a longer type, which columns
	// and conditions do not support.
	Fact func(*T) AnyFact
}

// Of returns the property with this word; nil for none.
func Of[T any](facts []Property[T], word string) *Property[T] {
	for i := range facts {
		if facts[i].Word == word {
			return &facts[i]
		}
	}
	return nil
}

// VMFacts are the facts of a VM that have a word, in the order of messages. coresPerSocket (also auto), cpuLimit and memoryLimit (also none) have
// words with their own parsers.
var VMFacts = []Property[Config]{
	{Word: "vcpus", JSON: "vcpus", Name: "vCPUs", About: "vCPUs", Least: 1, Most: MaxVCPUs, Where: "hardware.numCPU", Sheet: "vCPU CPUs", VMX: "numvcpus", Edit: EditVCPUs, Fact: func(c *Config) AnyFact { return &c.VCPUs }},
	{Word: "coresPerSocket", JSON: "coresPerSocket", Name: "cores per socket", About: "cores per virtual socket", Least: 1, Most: MaxVCPUs, Where: "hardware.numCoresPerSocket", Sheet: "vCPU Cores p/s", VMX: "cpuid.coresPerSocket", Edit: EditCoresPerSocket, Fact: func(c *Config) AnyFact { return &c.CoresPerSocket }},
	{Word: "memory", JSON: "memory", Name: "memory", About: "memory", Unit: "bytes", Least: 1, Most: int64(MaxVMMemory), Where: "hardware.memoryMB", Sheet: "vMemory Size MiB", VMX: "memSize", Edit: EditMemory, Fact: func(c *Config) AnyFact { return &c.Memory }},
	{Word: "hotAdd", JSON: "cpuHotAdd", Name: "CPU hot add", About: "CPU hot add", Where: "cpuHotAddEnabled", Sheet: "vCPU Hot Add", VMX: "vcpu.hotadd", Edit: EditCPUHotAdd, Fact: func(c *Config) AnyFact { return &c.CPUHotAdd }},
	{Word: "memoryHotAdd", JSON: "memoryHotAdd", Name: "memory hot add", About: "memory hot add", Where: "memoryHotAddEnabled", Sheet: "vMemory Hot Add", VMX: "mem.hotadd", Edit: EditMemoryHotAdd, Fact: func(c *Config) AnyFact { return &c.MemoryHotAdd }},
	{Word: "vnumaHotAdd", JSON: "vnumaHotAdd", Name: "vNUMA with CPU hot add", About: "vNUMA although CPU hot add is on", Where: "numaInfo.vnumaOnCpuHotaddExposed", Sheet: "vCPU Numa Hotadd Exposed", VMX: "numa.allowHotadd", Edit: EditVNUMAHotAdd, Fact: func(c *Config) AnyFact { return &c.VNUMAHotAdd }},
	{Word: "hw", JSON: "hardware", Name: "hardware version", About: "virtual hardware version", Least: 3, Most: 99, Where: "version", Sheet: "vInfo HW version", VMX: "virtualHW.version", Edit: EditHardware, Fact: func(c *Config) AnyFact { return &c.Hardware }},
	{Word: "guest", JSON: "guestOS", Name: "guest OS", About: "guest operating system", Where: "guestFullName", Sheet: "vInfo OS according to the configuration file", VMX: "guestOS", Fact: func(c *Config) AnyFact { return &c.GuestOS }},
	{Word: "product", JSON: "product", Name: "product", About: "software in the guest, as its owner states it", Where: "a tag or custom attribute product", Sheet: "vInfo product", Fact: func(c *Config) AnyFact { return &c.Product }},
	{Word: "power", JSON: "power", Name: "power state", About: "power state", Only: []string{"on", "off", "suspended"}, Where: "runtime.powerState", Sheet: "vInfo Powerstate", Fact: func(c *Config) AnyFact { return &c.Power }},
	{Word: "template", JSON: "template", Name: "template", About: "it is a template", Where: "template", Sheet: "vInfo Template", Fact: func(c *Config) AnyFact { return &c.Template }},
	{Word: "latency", Edit: EditLatency, JSON: "latencySensitivity", Name: "latency sensitivity", About: "latency sensitivity", Only: []string{"low", "normal", "medium", "high"}, Where: "latencySensitivity.level", Sheet: "vInfo Latency Sensitivity", VMX: "sched.cpu.latencySensitivity", Fact: func(c *Config) AnyFact { return &c.LatencySensitivity }},
	{Word: "virtualThreads", JSON: "virtualThreads", Name: "virtual threads", About: "threads of a virtual core", Least: 1, Most: 2, Where: "hardware.simultaneousThreads", Fact: func(c *Config) AnyFact { return &c.VirtualThreads }},
	{Word: "firmware", JSON: "firmware", Name: "firmware", About: "firmware", Only: []string{"bios", "efi"}, Where: "firmware", Sheet: "vInfo Firmware", VMX: "firmware", Fact: func(c *Config) AnyFact { return &c.Firmware }},
	{Word: "iommu", Edit: EditIOMMU, JSON: "iommu", Name: "virtual IOMMU", About: "a virtual IOMMU", Where: "flags.vvtdEnabled", VMX: "vvtd.enable", Fact: func(c *Config) AnyFact { return &c.IOMMU }},
	{Word: "ft", JSON: "faultTolerance", Name: "Fault Tolerance", About: "Fault Tolerance: while it is on, all memory is reserved and settings cannot be changed", Only: []string{FTOff, FTPrimary, FTSecondary}, Where: "ftInfo and runtime.faultToleranceState", Sheet: "vInfo FT State, FT Role", Fact: func(c *Config) AnyFact { return &c.FaultTolerance }},
	{Word: "encrypted", JSON: "encrypted", Name: "VM encryption", About: "vSphere encrypts the files of the VM; counts for Fault Tolerance, and for a move to another platform", Where: "keyId", VMX: "encryption.keySafe", Fact: func(c *Config) AnyFact { return &c.Encrypted }},
	{Word: "tpm", JSON: "tpm", Name: "virtual TPM", About: "it has a virtual TPM; counts for a move to another platform, and for Fault Tolerance before 8.0", Where: "summary.config.tpmPresent", VMX: "vtpm.present", Fact: func(c *Config) AnyFact { return &c.TPM }},
	{Word: "cpuAffinity", JSON: "cpuAffinity", Name: "CPU affinity", About: "CPU affinity: numbers of PCPUs", Where: "cpuAffinity.affinitySet", VMX: "sched.cpu.affinity", Edit: EditCPUAffinity, Fact: func(c *Config) AnyFact { return &c.CPUAffinity }},
	{Word: "memoryAffinity", Edit: EditMemoryAffinity, JSON: "memoryAffinity", Name: "memory affinity", About: "memory affinity: numbers of NUMA nodes", Where: "memoryAffinity.affinitySet", VMX: "sched.mem.affinity", Fact: func(c *Config) AnyFact { return &c.MemoryAffinity }},
	{Word: "cpuReservation", Edit: EditCPUReservation, JSON: "cpuReservation", Name: "CPU reservation", About: "CPU reservation", Unit: "MHz", Most: math.MaxInt32, Where: "cpuAllocation.reservation", Sheet: "vCPU Reservation", VMX: "sched.cpu.min", Fact: func(c *Config) AnyFact { return &c.CPUReservation }},
	{Word: "cpuLimit", JSON: "cpuLimit", Name: "CPU limit", About: "CPU limit; -1 for none", Unit: "MHz", Least: -1, Most: math.MaxInt32, Where: "cpuAllocation.limit", Sheet: "vCPU Limit", VMX: "sched.cpu.max", Fact: func(c *Config) AnyFact { return &c.CPULimit }},
	{Word: "memoryReservation", Edit: EditMemoryReservation, JSON: "memoryReservation", Name: "memory reservation", About: "memory reservation", Unit: "bytes", Most: int64(MaxVMMemory), Where: "memoryAllocation.reservation", Sheet: "vMemory Reservation", VMX: "sched.mem.min", Fact: func(c *Config) AnyFact { return &c.MemoryReservation }},
	{Word: "memoryLimit", JSON: "memoryLimit", Name: "memory limit", About: "memory limit; -1 for none", Unit: "bytes", Least: -1, Most: int64(MaxVMMemory), Where: "memoryAllocation.limit", Sheet: "vMemory Limit", VMX: "sched.mem.max", Fact: func(c *Config) AnyFact { return &c.MemoryLimit }},
	{Word: "reserveAll", Edit: EditReserveAll, JSON: "memoryReservationLocked", Name: "reserve all guest memory", About: "all memory is reserved", Where: "memoryReservationLockedToMax", Sheet: "vMemory Memory Reservation Locked To Max", VMX: "sched.mem.pin", Fact: func(c *Config) AnyFact { return &c.MemoryReservationLocked }},
}

// HostFacts are the facts of a host that have a word, in the order of messages.
var HostFacts = []Property[Host]{
	{Word: "nodes", JSON: "nodes", About: "NUMA nodes", Nodes: true, Where: "hardware.numaInfo", Fact: func(h *Host) AnyFact { return &h.Nodes }},
	{Word: "cores", JSON: "cores", About: "physical cores; in a scenario those of each node", Nodes: true, Where: "hardware.cpuInfo.numCpuCores", Sheet: "vHost # Cores", Fact: func(h *Host) AnyFact { return &h.Cores }},
	{Word: "threads", JSON: "threads", About: "PCPUs; in a scenario those of each node", Nodes: true, Where: "hardware.cpuInfo.numCpuThreads", Fact: func(h *Host) AnyFact { return &h.Threads }},
	{Word: "packages", JSON: "packages", About: "processor packages", Nodes: true, Where: "hardware.cpuInfo.numCpuPackages", Sheet: "vHost # CPU", Fact: func(h *Host) AnyFact { return &h.Packages }},
	{Word: "memory", JSON: "memory", About: "memory that the nodes have", Unit: "bytes", Nodes: true, Where: "hardware.memorySize", Sheet: "vHost # Memory", Fact: func(h *Host) AnyFact { return &h.Memory }},
	{Word: "ht", JSON: "hyperThreading", About: "hyper-threading is active", Nodes: true, Where: "config.hyperThread.active", Sheet: "vHost HT Active", Fact: func(h *Host) AnyFact { return &h.HyperThreading }},
	{Word: "release", JSON: "release", About: "ESX or ESXi release, such as 7.0 U3", Where: "config.product.version", Sheet: "vHost ESX Version", Fact: func(h *Host) AnyFact { return &h.Release }},
	{Word: "build", JSON: "build", About: "build number", Least: 1, Most: math.MaxInt32, Where: "config.product.build", Sheet: "vHost ESX Version", Fact: func(h *Host) AnyFact { return &h.Build }},
	{Word: "cpu", JSON: "cpuModel", About: "brand string of the processor", Where: "summary.hardware.cpuModel", Sheet: "vHost CPU Model", Fact: func(h *Host) AnyFact { return &h.CPUModel }},
	{Word: "vendor", JSON: "vendor", About: "vendor of the system", Where: "summary.hardware.vendor", Sheet: "vHost Vendor", Fact: func(h *Host) AnyFact { return &h.Vendor }},
	{Word: "model", JSON: "model", About: "model of the system", Where: "summary.hardware.model", Sheet: "vHost Model", Fact: func(h *Host) AnyFact { return &h.Model }},
	{Word: "power", JSON: "powerPolicy", About: "power policy, such as High Performance", Where: "config.powerSystemInfo.currentPolicy", Sheet: "vHost Host Power Policy", Fact: func(h *Host) AnyFact { return &h.PowerPolicy }},
	{Word: "evc", JSON: "evc", About: "mode that the CPU is limited to, such as intel-skylake; none", Where: "summary.currentEVCModeKey", Sheet: "vHost Current EVC", Fact: func(h *Host) AnyFact { return &h.EVC }},
	{Word: "connection", JSON: "connection", About: "connection to vCenter", Only: []string{"connected", "disconnected", "notResponding"}, Where: "runtime.connectionState", Fact: func(h *Host) AnyFact { return &h.Connection }},
	{Word: "maintenance", JSON: "maintenance", About: "it is in maintenance mode", Where: "runtime.inMaintenanceMode", Sheet: "vHost in Maintenance Mode", Fact: func(h *Host) AnyFact { return &h.Maintenance }},
	{Word: "mhz", JSON: "coreMHz", About: "nominal frequency of a core", Unit: "MHz", Least: 1, Most: MaxCoreMHz, Where: "summary.hardware.cpuMhz", Sheet: "vHost Speed", Fact: func(h *Host) AnyFact { return &h.CoreMHz }},
	{Word: "tierMemory", JSON: "tierMemory", About: "memory of slower tiers behind DRAM; 0 without them. In a scenario, as in ESXi, the memory of the host includes it", Unit: "bytes", Most: int64(MaxHostMemory), Where: "hardware.memoryTierInfo", Sheet: "vHost Memory Tiering Type", Fact: func(h *Host) AnyFact { return &h.TierMemory }},
	{Word: "pci", JSON: "attached", About: "nodes that PCI devices of VMs are attached to", Where: "hardware.numaInfo", Fact: func(h *Host) AnyFact { return &h.Attached }},
	{Word: "llcCores", JSON: "llcCores", About: "cores that share a last-level cache", Least: 1, Most: MaxCoresPerNode, Fact: func(h *Host) AnyFact { return &h.LLCCores }},
	{Word: "llcSize", JSON: "llcSize", About: "size of one last-level cache", Unit: "bytes", Most: int64(TiB), Fact: func(h *Host) AnyFact { return &h.LLCSize }},
}

// Inherit takes from another configuration what this one does not know, such as a clone from its template; where says whose it was.
func (c *Config) Inherit(from *Config, where string) {
	for i := range VMFacts {
		if p := &VMFacts[i]; p.Word != "power" {
			inherit(p.Fact(c), p.Fact(from), where)
		}
	}
	inherit(&c.AutoCoresPerSocket, &from.AutoCoresPerSocket, where)
	inherit(&c.CoresPerNUMANode, &from.CoresPerNUMANode, where)
	inherit(&c.AutoCoresPerNUMANode, &from.AutoCoresPerNUMANode, where)
	if from.Settings.Known() {
		all := from.Settings.Value
		for _, s := range c.Settings.Value {
			all = all.With(s.Key, s.Value)
		}
		inherit(&c.Settings, &from.Settings, where)
		c.Settings.Value = all
	}
}

// inherit takes a fact that is unknown.
func inherit(to, from AnyFact, where string) {
	if !to.Known() && from.Known() {
		to.Take(from, Origin{Derived, where})
	}
}
