package numa

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
)

// A Host is one ESX or ESXi machine as its NUMA scheduler sees it.
type Host struct {
	ID      string `json:"id"`                // unique in the fleet, such as a managed object reference
	Named   bool   `json:"named,omitempty"`   // ID is the name: the source states no managed object reference
	Name    string `json:"name"`              // as used by administrators
	Cluster string `json:"cluster,omitempty"` // ID of its cluster; empty for a standalone host
	At      string `json:"at,omitempty"`      // place in the source; Origins are relative to this
	Doubt   string `json:"doubt,omitempty"`   // why its nodes are unknown, such as "is named, but without a row in vHost"

	Vendor   Fact[string]  `json:"vendor,omitzero"`   // of the system
	Model    Fact[string]  `json:"model,omitzero"`    // of the system
	CPUModel Fact[string]  `json:"cpuModel,omitzero"` // brand string of the processor
	Release  Fact[Release] `json:"release,omitzero"`
	Build    Fact[int]     `json:"build,omitzero"`

	Packages       Fact[int]   `json:"packages,omitzero"` // processor packages
	Cores          Fact[int]   `json:"cores,omitzero"`    // physical cores of the host
	Threads        Fact[int]   `json:"threads,omitzero"`  // PCPUs of the host
	HyperThreading Fact[bool]  `json:"hyperThreading,omitzero"`
	Memory         Fact[Bytes] `json:"memory,omitzero"`     // DRAM, which is in the nodes
	TierMemory     Fact[Bytes] `json:"tierMemory,omitzero"` // of slower tiers such as NVMe; 0 without
	CoreMHz        Fact[int]   `json:"coreMHz,omitzero"`    // nominal frequency of a core, the unit of reservations

	// Nodes are the NUMA nodes by ascending ID (rule book ). A host without NUMA has one node that contains everything.
	Nodes Fact[[]Node] `json:"nodes,omitzero"`
	// CPUs are the numbers of the logical CPUs of each node, ascending, if the source states them (KVM).
	CPUs Fact[[][]int] `json:"cpus,omitzero"`
	// CoreCPUs are the logical CPUs of each core, sorted by the first CPU; Pools are the huge pages of each node. Both are set if the source
	// states them (KVM).
	CoreCPUs Fact[[][]int]  `json:"coreCPUs,omitzero"`
	Pools    Fact[[][]Pool] `json:"pools,omitzero"`
	// Distance[i][j] is the relative memory distance between nodes i and j, where 10 is local (ACPI SLIT). ESXi measures its own distances and
	// does not export them.
	Distance Fact[[][]int] `json:"distance,omitzero"`
	LLCCores Fact[int]     `json:"llcCores,omitzero"` // cores that share one last-level cache
	LLCSize  Fact[Bytes]   `json:"llcSize,omitzero"`  // size of one last-level cache

	// Attached are the nodes of PCI devices, for the devices that are assigned to VMs.
	Attached Fact[[]Attached] `json:"attached,omitzero"`

	PowerPolicy Fact[string] `json:"powerPolicy,omitzero"` // such as "High Performance"
	EVC         Fact[string] `json:"evc,omitzero"`         // mode that limits the CPU features, such as intel-skylake; or none
	Connection  Fact[string] `json:"connection,omitzero"`  // connected, disconnected or notResponding
	Maintenance Fact[bool]   `json:"maintenance,omitzero"`
	// Options are the advanced settings Numa.*, LPage.*, Mem.* and those of HostOptions, by their dotted keys.
	Options Fact[Settings] `json:"options,omitzero"`
}

// A Node is one NUMA node: memory and the cores that are local to it (rule book A-1).
type Node struct {
	ID      int         `json:"id"`
	Package int         `json:"package"` // index of its package; -1 if unknown
	Cores   int         `json:"cores"`
	Threads int         `json:"threads"`
	Memory  Fact[Bytes] `json:"memory,omitzero"`
}

// A Pool is the set of reserved pages of one size on a node, including used ones.
type Pool struct {
	Size  Bytes `json:"size"`
	Count int   `json:"count"`
}

// epycs maps processor names to the maximum number of cores that share a last-level cache (rule book A-7). Some models have fewer active ones.
var epycs = []struct {
	model *pattern.Pattern
	cores int
}{
	{pattern.Of(`EPYC 7\w\w[12]`), 4},
	{pattern.Of(`EPYC (9645|9745|9825|9845|9965)`), 16}, // Zen 5c
	{pattern.Of(`EPYC (7\w\w3|[89]\w\w[45])`), 8},
}

// caches maps processor names to the last-level caches of a package: 16 MB each in an EPYC 7002, 32 MB in a 7003 (AnandTech, AMD's new EPYC
// 7F52 reviewed, 2020, not opened; AnandTech, AMD 3rd gen EPYC Milan review, 2021, CPU list; Techgage, AMD EPYC Milan launch, 2021). Missing
// models were not looked up, or have caches of another size.
var caches = []struct {
	model  *pattern.Pattern
	caches int
}{
	{pattern.Of(`EPYC 7F52\b`), 16}, // 256 MB: each core has one
	{pattern.Of(`EPYC 7F72\b`), 12},
	{pattern.Of(`EPYC 7(F32|[2-5]F3|(543|713)P?|643|663|763|[357]73X|473X)\b`), 8},
	{pattern.Of(`EPYC 7([34]13|[34]43|513)P?\b`), 4},
}

// Caches returns the number of last-level caches of a package, from the name of an EPYC; 0 for unknown. With “L3 as NUMA” each is a node.
func (h *Host) Caches() int {
	for _, c := range caches {
		if c.model.MatchString(h.CPUModel.Value) {
			return c.caches
		}
	}
	return 0
}

// CacheNodes reports whether each node of the host is certainly a last-level cache (“L3 as NUMA”): an EPYC whose packages have more nodes than
// the 4 that “nodes per socket” (NPS) allows.
func (h *Host) CacheNodes() bool {
	const most = 4
	return strings.Contains(h.CPUModel.Value, "EPYC") && h.Dies() == 1 && !h.Nested() && len(h.Nodes.Value) > most*h.Packages.Or(len(h.Nodes.Value))
}

// frequency is the nominal frequency in a processor's brand string; newer ones have none.
var frequency = pattern.Of(`@\s*(\d{1,2}\.\d\d)GHz`)

// Ready reports whether the host accepts VMs: it is connected and not in maintenance, as far as known.
func (h *Host) Ready() bool { return !h.Maintenance.Or(false) && h.Connected() }

// Connected reports whether vCenter reaches the host, as far as known.
func (h *Host) Connected() bool {
	return h.Connection.Or("connected") == "connected"
}

// Undescribed reports whether the source names the host and states nothing of it.
func (h *Host) Undescribed() bool { return h.Doubt != "" && !h.Cores.Known() }

// Frequency returns the frequency of a core in MHz: the value read, else that in the processor's name. It is unknown when neither exists.
func (h *Host) Frequency() Fact[int] {
	if h.CoreMHz.Known() {
		return h.CoreMHz
	}
	m := frequency.FindStringSubmatch(h.CPUModel.Value)
	if m == nil {
		return Fact[int]{}
	}
	ghz, _ := strconv.ParseFloat(m[1], 64) // digits
	return DerivedFrom(int(float64(ghz*1000)+0.5), "name of the processor: "+h.CPUModel.Value)
}

var sapphireRapids = pattern.Of(`(Platinum|Gold|Silver|Bronze|Max) [3-9]4\d\d`)

// SapphireRapids reports whether the processor is a Xeon of this generation, by its name.
func (h *Host) SapphireRapids() bool { return sapphireRapids.MatchString(h.CPUModel.Value) }

// CacheCores returns how many cores share a last-level cache: the stated number, or an upper limit from the model of an EPYC. Otherwise
// it is unknown.
func (h *Host) CacheCores() Fact[int] {
	if h.LLCCores.Known() {
		return h.LLCCores
	}
	for _, e := range epycs {
		if e.model.MatchString(h.CPUModel.Value) {
			return DerivedFrom(e.cores, "model of the processor, of which some have fewer active cores")
		}
	}
	return Fact[int]{}
}

// frontSideBus matches the Xeons from before 2009, which have no memory controller: those with TM in their name, the 3000 to 3300, 5000 to
// 5400, and 7000 to 7400 series.
var frontSideBus = pattern.Of(`Xeon(\(TM\)|™|(\(R\)|®)? +(MP +)?(CPU +)?(5[01][0-8]\d|70[2-4]\d|71[1-5]\d[MN]|30[4-7]\d|[ELX](3[0-3]|5[1-4]|7[34])\d\d)\b)`)

// FrontSideBus reports whether the processors share memory over a front-side bus, by their name: then memory is equally far from all packages
// (HP, Technologies in ProLiant G6 servers: the Xeon 5500 is the first with a memory controller). Joined chassis are separate nodes.
func (h *Host) FrontSideBus() bool { return h.beforeControllers() && h.Chassis() == 1 }

// beforeControllers reports whether the processors have no memory controller, by their name.
func (h *Host) beforeControllers() bool { return frontSideBus.MatchString(h.CPUModel.Value) }

var enterpriseX = pattern.Of(`(?i)\bx(Series )?(440|445|460|3950)\b`)

// Chassis returns the number of chassis in the host, each a NUMA node with its own bus and memory: the IBM Enterprise X-Architecture joins
// chassis of up to 4 processors (VMware ESX 4.1, Resource Management Guide, “Resource Management in NUMA Architectures”; IBM Redbook SG24-7630,
// the x3950 M2). It is 1 for other hosts.
func (h *Host) Chassis() int {
	const most = 4 // packages of a chassis
	if packages := h.Packages.Or(1); packages > most && h.beforeControllers() && enterpriseX.MatchString(h.Model.Value) {
		return (packages + most - 1) / most
	}
	return 1
}

// dropped are the processors that a release no longer supports, by their name: its installer stops. Sources, of which copies were read on
// 2026-11-26: ESXi 6.5 Update 1 release notes; vSphere 6.7 release notes; vSphere 7.0 release notes (quoted by C. Hall, Workaround ESXi CPU
// unsupported error, 2020-04-06, https://polarclouds.co.uk); VMware KB 82794 for 8.0; Broadcom KB 318697 of 2026-02-19 for 9.0. The notes of
// 6.7 name Westmere too, which 6.7 ran; the table uses 7.0, whose notes also name it. Skylake is omitted: the article listed it at 9.0 first,
// and lists it at 9.2 (KB 428874).
var dropped = []struct {
	from  Release
	model *pattern.Pattern
	why   string
}{
	{ESXi65, pattern.Of(`Xeon(\(R\)|®)? +(CPU +)?[ELX]?(30|32|51|53|72|73)\d\d\b`), "its processor is a Xeon of 2006 and 2007, which ESXi 6.5 and later do not support"},
	{ESXi67, pattern.Of(`Xeon(\(R\)|®)? +(CPU +)?[ELWX](31|33|34|35|52|54|55|65|74|75)\d\d\b`), "its processor is a Xeon from before Westmere, which ESXi 6.7 and later do not support"},
	{ESXi67, pattern.Of(`Opteron.* (13|23|24|41|61|83|84)\d\d\b`), "its processor is an Opteron from before Bulldozer, which ESXi 6.7 and later do not support"},
	{ESXi70, pattern.Of(`Xeon.* ([ELX]56\d\d|W36\d\d|E7- *\d{4}L?)( +@|$)`), "its processor is a Westmere, which ESXi 7.0 and later do not support"},
	{ESXi80, pattern.Of(`Xeon.* (E3-?1\d{3}L?( [vV][234])?|E[57]-\d{4}[LW]?( 0| [vV][23])?)( +@|$)`), "its processor is one of Sandy Bridge to Haswell, which ESXi 8.0 and later do not support"},
	{ESXi80, pattern.Of(`Opteron.* [346][23]\d\d\b`), "its processor is an Opteron, which ESXi 8.0 and later do not support"},
	{ESXi80 + 2, withoutXSAVE, "its processor has no XSAVE, which ESXi 8.0 U2 and later need"},
	{ESXi90, pattern.Of(`Xeon.* (E[57]-\d{4}[A-Z]? [vV]4|E3-1\d{3}[A-Z]? [vV]6|D-15\d\d|W-21\d\d)\b`), "its processor is one that ESX 9.0 and later do not support (Broadcom KB 318697)"},
}

// withoutXSAVE matches processors older than Sandy Bridge and Bulldozer that are in no list: those of 2003 to 2006.
var withoutXSAVE = pattern.Of(`Opteron.* ([128]\d\d|[128]2\d\d)( |$)|` + frontSideBus.String())

// Dropped returns the reason why a release does not run on the processors of the host, by their name; "" without a known reason. ESXi 8.0 U2
// and later need the instruction XSAVE, which came with Sandy Bridge and Bulldozer in 2011 (William Lam, 2023-10,
// https://williamlam.com/2023/10/heads-up-esxi-8-0-update-2-requires-xsave-cpu-instruction-even-with-allowlegacycputrue.html, read
// 2026-11-26). The compatibility guide lists further exclusions.
func (h *Host) Dropped(r Release) string {
	for _, d := range dropped {
		if r >= d.from && d.model.MatchString(h.CPUModel.Value) {
			return d.why
		}
	}
	return ""
}

// dies are the dies of a package with their own memory, by the name of the processor.
var dies = []struct {
	model *pattern.Pattern
	dies  int
}{
	{pattern.Of(`Opteron.* 6[123]\d\d\b`), 2}, // Denneman, AMD Magny-Cours and ESX, 2011
	{pattern.Of(`EPYC 7[2-6]\d1P?\b`), 4},     // Dell EMC, NUMA configuration for AMD EPYC (Naples) processors, 2018
	{pattern.Of(`Platinum 92\d\d\b`), 2},      // Intel, S9200WK product brief, 2019: two dies with six memory channels each (AnandTech 15149, Xeon Platinum 9200)
}

// Dies returns the number of dies with their own memory in a package, each a NUMA node unless memory is interleaved over them: 2 in an Opteron
// 6100 to 6300 and in a Xeon Platinum 9200, 4 in an EPYC 7001, else 1.
func (h *Host) Dies() int {
	for _, d := range dies {
		if d.model.MatchString(h.CPUModel.Value) {
			return d.dies
		}
	}
	return 1
}

// virtual matches the makers and models that hypervisors report to their VMs: "VMware Virtual Platform", and "VMware20,1" with EFI, of the
// maker "VMware, Inc." (VMware KB 1009458, mechanisms to determine if software is running in a VMware virtual machine), and those of other
// hypervisors in systemd's src/basic/virt.c. AHV is that of Nutanix, whose servers are called NX.
var virtual = pattern.Of(`^(VMware|VMW|QEMU|KVM|VirtualBox|innotek GmbH|Xen|Bochs|Parallels|BHYVE|OpenStack|KubeVirt|Google Compute Engine|Virtual Machine$|AHV$)`)

// Nested reports whether the host is itself a VM: its nodes come from the hypervisor below, and its firmware has no setting for them.
func (h *Host) Nested() bool {
	return virtual.MatchString(h.Model.Value) || virtual.MatchString(h.Vendor.Value)
}

// OnVSphere reports whether the host is itself a VM on vSphere, so that its settings have the same names as those of its own VMs.
func (h *Host) OnVSphere() bool {
	return strings.HasPrefix(h.Model.Value, "VMW") || strings.HasPrefix(h.Model.Value, "VMware") || strings.HasPrefix(h.Vendor.Value, "VMware")
}

// Hidden returns the number of packages or chassis with their own memory behind the host's only node (rule book A-2); 0 where there are none.
// A nested host has no packages of its own, and processors on a front-side bus no memory.
func (h *Host) Hidden() int {
	if len(h.Nodes.Value) == 1 && h.Chassis() > 1 {
		return h.Chassis()
	}
	if n := h.Packages.Or(1); n > 1 && len(h.Nodes.Value) == 1 && !h.Nested() && !h.FrontSideBus() {
		return n
	}
	return 0
}

// Divides reports whether firmware can divide a package with this number of cores into n nodes: evenly, or into three, one for each compute die
// of a Xeon 6900P (SNC3), which may differ by a core: these have at least 72 cores.
func Divides(cores, n int) bool {
	return n > 0 && cores >= n && (cores%n == 0 || n == 3 && cores >= 72)
}

// Share returns the cores of node i if a package with this number of cores is divided into n nodes: the first ones are larger. 128 in 3 are 43,
// 43 and 42, as Intel binds the nodes of a Xeon 6980P with SNC3 (LMSYS and Intel, SGLang on Xeon 6, July 2025: 0-42|43-85|86-127).
func Share(cores, n, i int) int {
	if i < cores%n {
		return cores/n + 1
	}
	return cores / n
}

// NodeOfPCPU returns the ID of the node of a PCPU: the PCPUs of a node have consecutive numbers, with the hyper-threads of a core next to each
// other (rule book A-6), unless the source lists them. It returns false for a PCPU that the host does not have.
func (h *Host) NodeOfPCPU(pcpu int) (id int, ok bool) {
	if pcpu < 0 {
		return 0, false
	}
	for i, cpus := range h.CPUs.Value {
		if _, found := slices.BinarySearch(cpus, pcpu); found && i < len(h.Nodes.Value) {
			return h.Nodes.Value[i].ID, true
		}
	}
	if h.CPUs.Known() {
		return 0, false
	}
	for _, n := range h.Nodes.Value {
		pcpus := n.Threads
		if !h.HyperThreading.Or(true) {
			pcpus = n.Cores
		}
		if pcpu < pcpus {
			return n.ID, true
		}
		pcpu -= pcpus
	}
	return 0, false
}

// Far returns the distance between the nodes with these indexes. Without distances, nodes in other or unknown packages are far.
func Far(nodes []Node, distance [][]int, i, j int) int32 {
	a, b := &nodes[i], &nodes[j]
	switch {
	case len(distance) == len(nodes) && j < len(distance[i]):
		return int32(distance[i][j])
	case a.Package != b.Package || a.Package < 0:
		return 1
	}
	return 0
}

// NotRunning explains why a VM does not move from a host to another one while it runs: no mode of EVC spans processors of Intel and AMD
// (vSphere API, faults EVCAdmissionFailedCPUVendor and HeterogenousHostsBlockingEVC, since API 4.0 and 6.0; opened 2026-11-29). "" where it may, or
// where a processor is unknown. A device that ties a VM to its host is Config.Tied.
func NotRunning(from, to *Host) string {
	a, b := from.maker(), to.maker()
	if a == "" || b == "" || a == b {
		return ""
	}
	return "no vMotion of a running VM is possible between " + a + " (" + from.Name + ") and " + b + " (" + to.Name + "): it moves powered off, and powers on there"
}

// maker returns the maker of the processors, from their model; "" if it is unknown.
func (h *Host) maker() string {
	if h == nil {
		return ""
	}
	for _, one := range []struct{ word, maker string }{{"EPYC", "AMD"}, {"AMD", "AMD"}, {"Opteron", "AMD"}, {"Xeon", "Intel"}, {"Intel", "Intel"}} {
		if strings.Contains(h.CPUModel.Value, one.word) {
			return one.maker
		}
	}
	return ""
}
