package vnuma

// A Key is an advanced setting that changes a prediction: of a VM, or an option of a host.
type Key struct {
	Name string
	Host bool   // an option of the host; else of the VM
	Does string // its effect
	Book string // the statement of the rule book for it
}

// Keys lists the settings that predictions read, those of VMs first, by name.
var Keys = []Key{
	{"cpuid.maxVCPUs", false, "bounds the vCPUs that a VM with CPU hot add is built for", "B-15"},
	{"cpuid.numSMT", false, "2: virtual hyper-threading, two vCPUs are the threads of a virtual core (8.0, virtual hardware 20)", "B-21"},
	{"numa.allowHotadd", false, "TRUE: the guest sees the virtual nodes with CPU hot add too (8.0, virtual hardware 20)", "B-15"},
	{"numa.autosize", false, "TRUE: up to 6.0 virtual nodes have the size of physical ones, where nothing else sizes them", "B-10"},
	{"numa.autosize.cookie", false, "for how many vCPUs, and from virtual hardware 16 on cores per socket, the stored size was made: ESXi writes it", "B-9"},
	{"numa.autosize.once", false, "FALSE: the size of a virtual node is made anew at each power-on", "B-8"},
	{"numa.autosize.vcpu.maxPerVirtualNode", false, "the size of a virtual node that the first power-on stored: ESXi writes it", "B-8"},
	{"numa.consolidate", false, "FALSE: a VM that fits a node is spread over several", "B-17"},
	{"numa.nodeAffinity", false, "the nodes on which clients and memory are kept; the VM stays managed", "C-12"},
	{"numa.vcpu.coresPerNode", false, "the vCPUs of a virtual node, set by hand (8.0)", "B-10"},
	{"numa.vcpu.followcorespersocket", false, "TRUE: cores per socket are the size of a virtual node, as up to 6.0", "B-11"},
	{"numa.vcpu.maxPerClient", false, "the most vCPUs of a client", "B-10"},
	{"numa.vcpu.maxPerMachineNode", false, "the most vCPUs of a client, and the clients have to be on different nodes", "B-10"},
	{"numa.vcpu.maxPerVirtualNode", false, "the most vCPUs of a virtual node, set by hand: more are split evenly", "B-10"},
	{"numa.vcpu.min", false, "the fewest vCPUs from which on the guest sees virtual nodes; 9 when it is unset", "B-3"},
	{"numa.vcpu.preferHT", false, "TRUE: threads count as capacity of a node, so that a VM stays on fewer nodes", "B-14"},
	{"sched.mem.lpage.enable1GPage", false, "TRUE: memory in pages of 1 GB; the VM does not power on unless all its memory is reserved (6.7 on)", "B-31"},
	{"vmx.reboot.PowerCycle", false, "TRUE: the next reboot of the guest is a power cycle", "B-8"},
	{"Cpu.AllowWideVsmp", true, "1: a VM with more vCPUs than the host has logical CPUs powers on", "B-27"},
	{"Numa.FollowCoresPerSocket", true, "1: cores per socket are the size of a virtual node, as up to 6.0", "B-11"},
	{"Numa.MaxProximityDomains", true, "the most clients of a VM (6.0)", "B-29"},
	{"Numa.PreferHT", true, "1: threads count as capacity of a node, for all VMs of the host", "B-14"},
	{"Numa.RebalanceCoresNode", true, "the fewest cores of a node with which VMs have home nodes; 2 when it is unset", "A-9"},
	{"Numa.RebalanceCoresTotal", true, "the fewest cores of a host with which VMs have home nodes; 4 when it is unset", "A-9"},
	{"Numa.RebalanceEnable", true, "0: the NUMA scheduler is off, and VMs have no home nodes", "A-9"},
}
