// Package rulebook holds the statements that predictions and rules cite by id
// (B-15, C-13): each in one or two sentences, with the public source it rests on.
// The points on which sources contradict each other (F-…) are vnuma.ChoiceList.
package rulebook

import "strings"

// A Statement is one rule of ESX's NUMA behaviour.
type Statement struct {
	ID     string
	Text   string
	Source string // public; "inferred" where no source states it
}

// Named sources that many statements share.
const (
	manual    = "VMware vSphere Resource Management, “Using Virtual NUMA” (GUID-17B629DE)"
	controls  = "VMware vSphere Resource Management, virtual NUMA controls (GUID-3E956FB5; 5.x and 6.0: GUID-89C52376)"
	scheduler = "VMware vSphere Resource Management, “Home Nodes and Initial Placement” (GUID-3846A67A)"
	deepDive  = "Denneman, NUMA Deep Dive Part 5, 2016, https://frankdenneman.nl/2016/08/22/numa-deep-dive-part-5-esxi-vmkernel-numa-constructs/"
	decouple  = "Denneman, Decoupling of cores per socket from virtual NUMA topology, 2016, https://frankdenneman.nl/2016/12/12/decoupling-cores-per-socket-virtual-numa-topology-vsphere-6-5/"
	cps7      = "Denneman, vSphere 7 cores per socket and virtual NUMA, 2021, https://frankdenneman.nl/2021/12/02/vsphere-7-cores-per-socket-and-virtual-numa/"
	hotAdd    = "Denneman, Impact of CPU hot add on NUMA scheduling, 2017, https://frankdenneman.nl/2017/04/14/impact-cpu-hot-add-numa-scheduling/"
	mismatch  = "Denneman, Solving vNUMA topology mismatch, 2022, https://frankdenneman.nl/2022/03/11/solving-vnuma-topology-mismatch-when-migrating-between-dual-socket-servers-and-quad-socket-servers/"
	epyc      = "Denneman, AMD EPYC and vSphere vNUMA, 2019, https://frankdenneman.nl/2019/02/19/amd-epyc-and-vsphere-vnuma/"
	snc       = "Denneman, Sub-NUMA clustering, 2022, https://frankdenneman.nl/2022/09/21/sub-numa-clustering/"
	options   = "option descriptions of ESXi 6.0 U3 to 9.0.1, https://github.com/lamw/esxi-advanced-and-kernel-settings"
	balance   = "“VMware ESXi 6.0, the effect of NUMA balancing on performance, part 2” (in Russian), 2018"
	loads     = "VMware, vSphere NUMA load balancing, 2012, https://blogs.vmware.com/vsphere/2012/02/vspherenuma-loadbalancing.html"
	migration = "VMware vSphere Resource Management, “Rebalancing and Page Migration” (GUID-4C855CF4)"
	states    = "Epping, What happens at which vSphere memory state?, 2015, http://www.yellow-bricks.com/2015/03/02/what-happens-at-which-vsphere-memory-state/"
	thumb     = "VMware performance blog, Virtual machine vCPU and vNUMA rightsizing, 2017, https://blogs.vmware.com/performance/2017/03/virtual-machine-vcpu-and-vnuma-rightsizing-rules-of-thumb.html"
)

// Statements lists the statements by ID.
var Statements = []Statement{
	{"A-1", "A NUMA node is a set of cores and the memory behind their memory controllers, as the firmware declares it. It is the unit of placement.", scheduler},
	{"A-2", "With node interleaving on, the firmware declares no nodes and ESXi treats the host as one: several packages, one node.", "Denneman, Node interleaving: enable or disable?, 2010, https://frankdenneman.nl/2010/12/28/node-interleaving-enable-or-disable/"},
	{"A-3", "A package is one node, unless cluster-on-die, SNC, NPS, several dies or L3-as-NUMA divide it.", snc},
	{"A-4", "The capacity of a node is its cores; hyper-threads do not count, except with preferHT.", deepDive},
	{"A-5", "The memory of a node is what is installed there, less what the kernel keeps; uneven DIMMs make uneven nodes.", deepDive},
	{"A-6", "Hyper-threads of a core and cores of a node have consecutive PCPU numbers.", "Denneman, Beating a dead horse: using CPU affinity, 2011, https://frankdenneman.nl/2011/01/11/beating-a-dead-horse-using-cpu-affinity/"},
	{"A-7", "How many cores share a last-level cache depends on the processor: all of a node on Intel, 4 or 8 on EPYC.", epyc},
	{"A-8", "ESXi measures node distances itself at boot (5.0 on) and uses them for initial placement only.", scheduler},
	{"A-9", "The rebalancer runs only with at least 4 cores, and 2 in each node.", options},
	{"A-10", "A remote access takes about 1.6 to 1.8 times as long as a local one on two-socket hosts.", snc},
	{"A-11", "The API tells nodes, their PCPUs and memory in hardware.numaInfo; 8.0 on memorySize, before memoryRangeLength.", "Broadcom API reference, HostNumaNode"},
	{"B-1", "A PPD (NUMA client) is a fixed group of vCPUs placed as one; a VPD is a NUMA node shown to the guest.", deepDive},
	{"B-2", "vNUMA exists from ESXi 5.0 and virtual hardware 8 on. Before, the guest sees one node.", manual},
	{"B-3", "vNUMA is shown from 9 vCPUs on (numa.vcpu.min) and only when the VM needs more than one node; a single VPD is not shown as NUMA.", controls},
	{"B-4", "A VM fits one client when its vCPUs do not exceed the capacity of a node. Memory does not count.", manual},
	{"B-5", "A wider VM is divided evenly over the fewest nodes, in the order of its vCPUs; from 6.5 on over no more clients than nodes (inferred).", deepDive},
	{"B-6", "The algorithm: capacity, then clients, then virtual nodes; up to 6.0 virtual nodes first and clients inside them.", "composed of B-2 to B-18"},
	{"B-7", "Worked cases that the model reproduces.", "published cases, homenode validate"},
	{"B-8", "The first power-on stores the size of a virtual node (numa.autosize.vcpu.maxPerVirtualNode); later ones reuse it while the vCPU count stays, even on hosts of another shape and in clones.", mismatch},
	{"B-9", "numa.autosize.cookie records the vCPU count (× 10000, + 1), or from hardware 16 on also cores per socket (+ CPS × 10 + 2).", "inferred from 12 published values"},
	{"B-10", "Settings: numa.vcpu.maxPerVirtualNode and coresPerNode set the virtual nodes by hand, maxPerMachineNode and maxPerClient limit clients, consolidate and preferHT change their number.", controls},
	{"B-11", "Up to 6.0 cores per socket above 1 are the size of a virtual node, whether or not the VM fits a node.", decouple},
	{"B-12", "From 6.5 on cores per socket no longer size virtual nodes, but the client size is rounded up to whole virtual sockets. A socket larger than a node is divided all the same.", cps7},
	{"B-13", "Each virtual socket shows the guest one last-level cache of the physical size.", decouple},
	{"B-14", "preferHT (numa.vcpu.preferHT, Numa.PreferHT) counts threads as capacity, so that a VM stays on one node; its memory must fit there.", deepDive},
	{"B-15", "CPU hot add forces one virtual node; clients are still made. With 8.0 and hardware 20 vNUMA can be exposed with hot add. The VM is built for its largest vCPU count (128 for most, cpuid.maxVCPUs bounds it), for which Windows before build 20348 makes fake nodes.", manual + "; VMware KB 2040375; Broadcom KB 340275; " + hotAdd},
	{"B-16", "Memory hot add leaves vNUMA alone; from 6.0 on added memory is spread over the virtual nodes, before it lands in one.", manual},
	{"B-17", "Memory beyond a node does not widen the VM: the home node is filled, the rest is remote. numa.consolidate = FALSE spreads it (formula inferred).", "Denneman, What if the VM memory config exceeds the memory capacity of the physical NUMA node?, 2017, https://frankdenneman.nl/2017/10/05/vm-memory-config-exceeds-memory-capacity-physical-numa-node/"},
	{"B-18", "With 8.0 and hardware 20 cores per socket and NUMA nodes can be assigned at power on: a socket for each virtual node, as far as is published.", "VMware vSphere 8 documentation (GUID-34D6F6A7); Broadcom KB 374613"},
	{"B-19", "From 6.5 U3 and 6.7 U2 on small EPYC nodes show vNUMA below 9 vCPUs too; how low is not published (node size + 1 is taken).", "Denneman, AMD EPYC Naples vs Rome, 2019, https://frankdenneman.nl/2019/10/14/amd-epyc-naples-vs-rome-and-vsphere-cpu-scheduler-updates/; VMware KB 67996"},
	{"B-20", "VMware's Virtual Machine Compute Optimizer asks for the High Performance power policy on hosts with VMs of more than 8 vCPUs. Balanced is the default policy.", "VMware, Virtual Machine Compute Optimizer 3.0.0; VMware vSphere Resource Management, “Host Power Management Policies”"},
	{"B-21", "Latency sensitivity High gives exclusive PCPUs and needs full reservations: all memory, and vCPUs × core frequency (÷ threads per virtual core); no source says that it changes virtual nodes or clients.", "Broadcom KB 430776; VMware vSphere 8 Resource Management, full CPU reservation of low-latency VMs (GUID-2B67DC91)"},
	{"B-22", "Equal virtual nodes get equal slices of the memory.", hotAdd},
	{"B-23", "vmware.log tells virtual nodes and clients, in another form up to 6.0, in 6.5 and from 7.0 on.", deepDive},
	{"B-24", "How odd vCPU counts are split is not published: larger clients first is taken.", "inferred; " + thumb},
	{"B-25", "Rules of thumb: stay within a node; beyond it divide evenly over the fewest nodes, a socket for each; no odd counts; no CPU hot add; not more vCPUs than cores.", thumb},
	{"C-1", "A NUMA client has a home node: its vCPUs run only there, and its memory comes from there first. Clients are placed and moved as a whole.", scheduler},
	{"C-2", "Nodes are compared by CPU and memory demand, with the resource settings of VMs and pools taken into account; the formula is not published.", migration},
	{"C-3", "ESX 4.1 places a VM on the node with the most free memory, round robin when memory is short; a wave of vMotions may land on one node.", "Broadcom KB 309217"},
	{"C-4", "Clients are placed so that CPU and memory load stay balanced, and those of a wide VM on nodes near each other (5.0 on); the order near nodes, least load, most free memory, then in turn is inferred.", scheduler},
	{"C-5", "As few nodes as possible; more clients than nodes share them, and nothing forces them apart.", "Denneman, NUMA, hyper-threading and numa.preferHT, 2010, https://frankdenneman.nl/2010/10/07/numa-hyperthreading-and-numa-preferht/"},
	{"C-6", "Power-on and arrival by vMotion both place a VM anew.", snc},
	{"C-7", "8.x and 9.0: VMs powered on within a short time may all be placed on one node; beside latency-sensitive VMs, whose demand is underestimated, nothing moves away.", "Broadcom KB 430776"},
	{"C-8", "The rebalancer runs every 2 seconds (Numa.RebalancePeriod, 2000 ms).", options},
	{"C-9", "Every 2 seconds (Numa.RebalancePeriod) the balancer may move or swap clients from the most to the least loaded node: for load when it is uneven by 10 % and gets better by 2 %, for locality when that outweighs, and not to a node of which 90 % is in use. The order is inferred.", options},
	{"C-10", "Migrations are for load (balanceMig, loadSwap), for locality (localityMig, localitySwap) or for long-term fairness; NMIG of esxtop counts them together. From which N%L on ESXi acts is not published: 80 is a guess.", loads},
	{"C-11", "Action affinity gathers VMs that communicate, or share network contexts, on one node (weight Numa.LocalityWeightActionAffinity, 130; off from 9.1 on). It is meant to help, and may make nodes uneven.", "Broadcom KB 314059, KB 439993"},
	{"C-12", "NUMA node affinity keeps a VM managed on those nodes; CPU or memory affinity takes it out of NUMA management.", "VMware vSphere Resource Management, associating VMs with NUMA nodes (GUID-68817061)"},
	{"C-13", "The guest places memory per virtual node, and it is backed by the home node of its client. A virtual node with several clients has its memory interleaved over their home nodes.", hotAdd},
	{"C-14", "ESX up to 4.0 does not manage a VM wider than a node, or with more memory than a node. 4.1 splits it into clients.", "Broadcom KB 309155, KB 309166"},
	{"C-15", "Memory comes from the home node first; without free memory there it is remote, never swapped for locality. On one host of 6.0 new memory went remote while 12 to 15 GB of a 132 GB node were free.", "Denneman, Node interleaving: enable or disable?, 2010, https://frankdenneman.nl/2010/12/28/node-interleaving-enable-or-disable/; “VMware ESXi 6.0, the effect of NUMA balancing on performance, part 2” (in Russian), 2018"},
	{"C-16", "After a change of the home node memory follows page by page, slowly at first: at most 62 MB a second on 6.0, 31 from 6.5 to 8.0 U3, 125 on 9.0 (Numa.PageMigRateMax). Idle memory was seen to follow by 2 % in 20 minutes, or not at all.", migration + "; " + options + "; " + balance},
	{"C-17", "N%L counts memory on any home node of the VM as local: an interleaved VM reads 100.", deepDive},
	{"C-18", "The Numa.* host options and their defaults per release.", options},
	{"C-19", "A vCPU runs for Cpu.Quantum at a time, 50 ms in 6.0 and 200 ms from 6.5 on; other constants of the CPU scheduler changed with 6.5 and 7.0 U2.", options},
	{"C-20", "The vCPUs of a VM wait for each other: one that is more than 3 ms ahead is co-stopped until it is less than 2 ms ahead (Cpu.CoschedCostopThreshold, CoschedCostartThreshold).", options},
	{"C-21", "Memory is backed by large pages as far as possible; under pressure ESXi breaks them into small ones before it shares or swaps them.", states},
	{"C-22", "Pages are shared inside a node only (VMkernel.Boot.sharePerNode): one copy a node.", "Denneman, Sizing VMs and NUMA nodes, 2010, https://frankdenneman.nl/2010/02/03/sizing-vms-and-numa-nodes/"},
	{"C-23", "The kernel keeps minFree: 6, 4 and 2 % of the first 28 GB (899 MB) and 1 % of the rest. From 6.0 on the host leaves the high memory state below 400 % of it, before below 100 %.", states},
	{"D-1", "A reboot changes nothing; a power cycle makes clients anew and reuses the stored size; vMotion and resume keep the guest's nodes and make clients for the new host.", mismatch},
	{"D-2", "A reboot never changes where memory is. A power cycle places it anew, evenly for a wide VM if the nodes have room: on a busy host one was seen to leave it lopsided.", balance + "; Dos Santos, optimising vNUMA workloads on vSphere 7.0 U3 (in French), 2023"},
	{"D-3", "In a mixed cluster the host of the first power-on decides. Use one node size, or size for the smallest.", manual},
	{"D-4", "DRS balances hosts, not nodes. A VM with CPU affinity is left out of full automation.", "Denneman, Beating a dead horse: using CPU affinity, 2011, https://frankdenneman.nl/2011/01/11/beating-a-dead-horse-using-cpu-affinity/"},
	{"E-2", "The side-channel aware scheduler, version 1, uses one thread a core: preferHT then overcommits cores.", "Broadcom KB 330041"},
	{"E-3", "Version 2 (6.7 U2 on) lets both threads of a core run vCPUs of one VM only. hyperthreadingMitigation without hyperthreadingMitigationIntraVM = FALSE is version 1.", "Broadcom KB 330041"},
}

// Find returns the statement with this ID, in any case of letters.
func Find(id string) (Statement, bool) {
	for _, s := range Statements {
		if strings.EqualFold(s.ID, id) {
			return s, true
		}
	}
	return Statement{}, false
}
