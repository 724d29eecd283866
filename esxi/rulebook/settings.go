package rulebook

import (
	"strings"

	"homenode/numa"
)

// A Setting is an advanced setting of a VM or an option of a host that has to do with NUMA.
type Setting struct {
	Key  string
	Host bool   // an option of hosts; else a setting of a VM
	Text string // what it does
	Book string // the statements that say so, with blanks between
}

// Settings lists the settings of VMs that predictions read, then the options of hosts that the rule book names (numa.OptionNames).
var Settings = append(vmSettings, hostSettings()...)

var vmSettings = []Setting{
	{Key: "numa.vcpu.min", Text: "From how many vCPUs on a VM that needs more than one node is shown virtual NUMA nodes; 9 when it is not set.", Book: "B-3"},
	{Key: "numa.vcpu.maxPerVirtualNode", Text: "Sets the vCPUs of a virtual node by hand, split evenly.", Book: "B-3 B-10"},
	{Key: "numa.vcpu.coresPerNode", Text: "Sets the virtual nodes by hand: the field NUMA Nodes of vSphere 8.0 and hardware 20. It needs cores per socket set by hand too.", Book: "B-10 B-28"},
	{Key: "numa.vcpu.maxPerMachineNode", Text: "Limits the vCPUs of a client, and forces clients onto different nodes.", Book: "B-10"},
	{Key: "numa.vcpu.maxPerClient", Text: "Limits the vCPUs of a client, even where that makes more clients than the host has nodes.", Book: "B-10"},
	{Key: "numa.vcpu.preferHT", Text: "Counts hyper-threads as capacity, so that the VM stays on one node; its memory has to fit there.", Book: "B-14"},
	{Key: "numa.vcpu.followcorespersocket", Text: "Lets cores per socket size the virtual nodes again, as up to 6.0.", Book: "B-10 B-11 B-12"},
	{Key: "numa.consolidate", Text: "FALSE spreads a VM that fits one node over several.", Book: "B-10 B-17"},
	{Key: "numa.allowHotadd", Text: "TRUE shows virtual nodes beside CPU hot add, with 8.0 and hardware 20.", Book: "B-15"},
	{Key: "numa.nodeAffinity", Text: "Keeps the VM on these nodes of its host; it stays managed.", Book: "C-12 C-24"},
	{Key: "numa.autosize", Text: "Known to the manuals up to 6.0: virtual nodes are sized anew. Later releases size them by the host.", Book: "B-10"},
	{Key: "numa.autosize.once", Text: "FALSE sizes the virtual nodes at every power-on; else the size that the first one stored is used again.", Book: "B-8 B-10"},
	{Key: "numa.autosize.vcpu.maxPerVirtualNode", Text: "The size of a virtual node that a power-on stored. ESXi writes it; later power-ons reuse it while the vCPU count stays.", Book: "B-8"},
	{Key: "numa.autosize.cookie", Text: "The vCPU count, and from hardware 16 on the cores per socket, for which a size was stored. ESXi writes it.", Book: "B-9"},
	{Key: "numa.LocalityWeightActionAffinity", Text: "Weight by which VMs that communicate are gathered on one node; 0 takes this VM out.", Book: "C-11"},
	{Key: "cpuid.coresPerSocket", Text: "Cores per socket. They size virtual nodes up to 6.0; from 6.5 on clients are rounded up to whole sockets.", Book: "B-11 B-12"},
	{Key: "cpuid.maxVCPUs", Text: "Bounds the vCPUs that CPU hot add can reach, for which the VM is built.", Book: "B-15"},
	{Key: "sched.cpu.affinity", Text: "Binds vCPUs to PCPUs and takes the VM out of NUMA management.", Book: "C-12"},
	{Key: "sched.mem.affinity", Text: "Binds memory to nodes and takes the VM out of NUMA management.", Book: "C-12"},
	{Key: "sched.mem.lpage.enable1GPage", Text: "Backs memory by pages of 1 GB: all memory is to be reserved.", Book: "B-31"},
}

// optionTexts say what options of hosts do, as far as it is published.
var optionTexts = map[string][2]string{
	"Numa.PreferHT":                      {"Counts hyper-threads as capacity for every VM of the host.", "B-14"},
	"Numa.FollowCoresPerSocket":          {"Lets cores per socket size virtual nodes again, for every VM of the host.", "B-12 C-18"},
	"Numa.MaxProximityDomains":           {"Most clients of a VM in ESXi 6.0: 0 to 16.", "B-29"},
	"Numa.RebalanceEnable":               {"Switches the rebalancer on or off.", "C-9 C-18"},
	"Numa.RebalancePeriod":               {"Milliseconds between two looks of the rebalancer; 2000.", "C-8"},
	"Numa.RebalanceCoresTotal":           {"Fewest cores of a host with a rebalancer; 4.", "A-9"},
	"Numa.RebalanceCoresNode":            {"Fewest cores of each node of a host with a rebalancer; 2.", "A-9"},
	"Numa.MigImbalanceThreshold":         {"From how many percent of difference between nodes on clients are moved for load; 10.", "C-9 C-18"},
	"Numa.MigThreshold":                  {"By how many percent a move has to make the load better; 2.", "C-9 C-18"},
	"Numa.MigThrashThreshold":            {"Percent from which a client counts as moving to and fro; 50.", "C-18"},
	"Numa.MigPreventLTermThresh":         {"Percent of the long-term check; 0 switches it off.", "C-18"},
	"Numa.LTermFairnessInterval":         {"Periods between two moves for long-term fairness; 0 switches them off.", "C-10 C-18"},
	"Numa.LTermMigImbalThreshold":        {"From how many percent of difference on clients are moved for long-term fairness; 10.", "C-10 C-18"},
	"Numa.CoreCapRatioPct":               {"No client is moved to a node of which this many percent of the cores are in use; 90.", "C-9 C-18"},
	"Numa.SwapInterval":                  {"Periods between two exchanges of clients; 3.", "C-18"},
	"Numa.SwapConsiderPeriod":            {"Periods over which exchanges are considered; 15.", "C-18"},
	"Numa.SwapMigrateOnly":               {"Periods between pure moves; 0 switches them off.", "C-18"},
	"Numa.SwapLoadEnable":                {"Allows exchanges of clients for load.", "C-10 C-18"},
	"Numa.SwapLocalityEnable":            {"Allows exchanges of clients for locality.", "C-10 C-18"},
	"Numa.LocalityWeightMem":             {"Weight of memory in moves for locality; 1.", "C-18"},
	"Numa.LocalityWeightActionAffinity":  {"Weight by which VMs that communicate are gathered on one node; 130 from 5.0 to 9.0, 0 before and from 9.1 on.", "C-11"},
	"Numa.PageMigEnable":                 {"Lets memory follow a client to its new home node.", "C-16 C-18"},
	"Numa.PageMigRateMax":                {"Most pages a second that follow a client; 16000 in 6.0, 8000 from 6.5 on, 32000 in 9.0.", "C-16"},
	"Numa.InitialPlacementLoadThreshold": {"How the load of VMs that were powered on just now counts when others are placed.", "C-7"},
	"LPage.LPageAlwaysTryForNPT":         {"Backs memory by large pages wherever possible.", "C-21"},
	"Mem.MemMinFreePct":                  {"Memory that the kernel keeps free, in percent; 0 for its own scale.", "C-23"},
	"Mem.ShareForceSalting":              {"2 shares equal pages within a VM only, 0 between VMs too.", "C-22"},
	"Mem.ShareRateMax":                   {"Most pages a second and VM that are looked at for sharing; 1024.", "C-18"},
	"Mem.ShareScanTime":                  {"Minutes in which all memory is looked at for sharing; 60.", "C-18"},
}

// hostSettings are the options of hosts in the order of numa.OptionNames.
func hostSettings() (out []Setting) {
	for _, key := range numa.OptionNames {
		s := Setting{Key: key, Host: true, Text: "The option lists of ESXi have it; what it does beyond its name is not published, and nothing here rests on it.", Book: "C-18"}
		if t, ok := optionTexts[key]; ok {
			s.Text, s.Book = t[0], t[1]
		}
		out = append(out, s)
	}
	return out
}

// FindSetting returns the setting with this key, in any case of letters. Numa.X of a host and numa.x of a VM differ: the exact one wins.
func FindSetting(key string) (found Setting, ok bool) {
	for _, s := range Settings {
		switch {
		case s.Key == key:
			return s, true
		case !ok && strings.EqualFold(s.Key, key):
			found, ok = s, true
		}
	}
	return found, ok
}
