package knownfault

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A fault is described by VMware or Broadcom for a range of releases.
type fault struct {
	kb          string
	first, upTo numa.Release // first with the fault; first without it, by update or release
	// unsure is the first release that has the fix for certain, if the article names none: from upTo to before it the fault is
	// only reported. 0: upTo has the fix.
	unsure   numa.Release
	severity finding.Severity
	text     string // follows "ESXi RELEASE on HOSTS: "
	fix      string
	option   numa.Setting // the host option that is the fix
	watch    bool         // the option is recommended only where the fault occurs
	// cluster: it depends on the VMs of the cluster, so that it is reported for the first host of a kind only.
	cluster bool
	// gathers: it shows in the home nodes, one of which has too many vCPUs while another has room.
	gathers bool
	// holds reports whether the fault can affect the host and its VMs, with the affected VMs.
	holds func(*rule.Pass, *numa.Host) (hit, bool)
}

// A hit is the part of a host that a fault affects.
type hit struct {
	vms    []*rule.VM
	option string // the decisive host option, if there is one
	vcpus  int    // number of vCPUs that may gather on one node
	away   bool   // the VMs are not there yet: the finding is at most medium
}

var (
	esxi91 = numa.NewRelease(9, 1, 0)
	esxi10 = numa.NewRelease(10, 0, 0) // after every 9.x
)

// faults is the table, newest first.
var faults = []fault{
	{
		kb: "430776", first: numa.ESXi80, upTo: esxi91, unsure: esxi10, severity: finding.Medium,
		text:    "VMs powered on together may all be placed on one node, and beside latency-sensitive VMs, whose demand is underestimated, they stay there",
		fix:     "Set Numa.InitialPlacementLoadThreshold = 100 on the hosts; a fix is announced for a 9.x release",
		option:  numa.Setting{Key: "Numa.InitialPlacementLoadThreshold", Value: "100"},
		gathers: true,
		holds:   besideLatency,
	},
	{
		kb: "439993", first: numa.ESXi80, upTo: esxi91, severity: finding.Info,
		text:    "action affinity is on: VMs may be moved again and again to the node of their network contexts (localityMig), which costs CPU",
		fix:     "Watch NMIG in esxtop: when it keeps rising, set Numa.LocalityWeightActionAffinity = 0 on the host, or numa.LocalityWeightActionAffinity = 0 on the VM; 9.1 has it off",
		option:  numa.Setting{Key: "Numa.LocalityWeightActionAffinity", Value: "0"},
		watch:   true,
		gathers: true,
		holds:   actionAffinity,
	},
	{
		kb: "2147958", first: numa.ESXi65, upTo: numa.ESXi65 + 1, severity: finding.High,
		text:    "VMs with cores per socket other than 1 or numa.autosize.once = FALSE that come from older hosts can stop the host (PSOD)",
		fix:     "Update to 6.5 U1 or later, or set Numa.FollowCoresPerSocket = 1 before such VMs move there from an older release",
		option:  numa.Setting{Key: "Numa.FollowCoresPerSocket", Value: "1"},
		cluster: true,
		holds:   decoupled,
	},
	{
		kb: "314059", first: numa.ESXi50, upTo: numa.ESXi80, severity: finding.Info,
		text:    "action affinity is on: VMs that communicate may be gathered on one node, whose vCPUs wait while other nodes idle",
		fix:     "Expected, and mostly a gain. Where ready time is high on one node only, set Numa.LocalityWeightActionAffinity = 0",
		option:  numa.Setting{Key: "Numa.LocalityWeightActionAffinity", Value: "0"},
		watch:   true,
		gathers: true,
		holds:   actionAffinity,
	},
	{
		kb: "309217", first: numa.ESX41, upTo: numa.ESX41 + 2, severity: finding.Medium,
		text:    "VMs that arrive by vMotion one after another may all be placed on the node with the most free memory, and stay there while the host is lightly loaded",
		fix:     "Update to 4.1 U2 or later; power-cycle VMs that sit together",
		gathers: true,
		holds:   arrivals,
	},
	{
		kb: "309166", first: numa.ESX41, upTo: numa.ESX41 + 2, severity: finding.Medium,
		text:  "the clients of wide VMs are placed whole and leave cores of a node unused: ready time is high although other cores idle",
		fix:   "Update to 4.1 U2 or later, or give VMs vCPU counts that divide the cores of a node",
		holds: leftovers,
	},
	{
		kb: "309155", first: numa.ESX35, upTo: numa.ESX41, severity: finding.Medium,
		text:  "VMs wider than a node are not managed for NUMA, run on all nodes beside VMs that cannot leave theirs, and show ready time",
		fix:   "Upgrade to 4.1 U2 or later, or give VMs no more vCPUs than a node has cores",
		holds: unmanaged,
	},
}

// besideLatency applies if latency-sensitive and other VMs run on the host (C-7).
func besideLatency(p *rule.Pass, h *numa.Host) (hit, bool) {
	const option = "Numa.InitialPlacementLoadThreshold"
	if v, _ := h.Options.Value.Lookup(option); v == "100" {
		return hit{}, false
	}
	all := p.Cluster.Running(h)
	out := hit{option: option}
	for _, v := range all {
		if v.LatencyHigh() {
			out.vms = append(out.vms, v)
		}
	}
	return out, len(out.vms) > 0 && len(out.vms) < len(all)
}

// actionAffinity applies if gathering can hurt: the VMs that may be gathered have more vCPUs than a node has cores (C-11).
func actionAffinity(p *rule.Pass, h *numa.Host) (hit, bool) {
	const option = "Numa.LocalityWeightActionAffinity"
	if v, _ := h.Options.Value.Lookup(option); v == "0" {
		return hit{}, false
	}
	vcpus, vms := 0, 0
	for _, v := range p.Cluster.Running(h) {
		if w, _ := v.Settings.Value.Lookup(option); w != "0" && !v.Guest.Affinity {
			vcpus, vms = vcpus+int(v.Guest.VCPUs), vms+1
		}
	}
	return hit{option: option, vcpus: vcpus}, vms > 1 && vcpus > int(p.Kind.Machine.Cores)
}

// firstOf65 is the virtual hardware version introduced with ESXi 6.5.
const firstOf65 = 13

// decoupled applies if VMs of the cluster would run on 6.5 GA with a size of their own (B-12). They are not there yet unless
// the cluster has older hosts.
func decoupled(p *rule.Pass, _ *numa.Host) (hit, bool) {
	const option = "Numa.FollowCoresPerSocket"
	if p.Kind.Machine.Follow {
		return hit{}, false
	}
	out := hit{option: option, away: !slices.ContainsFunc(p.Cluster.Hosts, func(o *numa.Host) bool {
		return o.Release.Known() && o.Release.Value < numa.ESXi65
	})}
	for _, v := range p.Cluster.VMs {
		if sizedItself(v) {
			out.vms = append(out.vms, v)
		}
	}
	return out, len(out.vms) > 0
}

// sizedItself reports whether the VM may come from a host before 6.5 and has a size of its own.
func sizedItself(v *rule.VM) bool {
	return v.Guest.Hardware < firstOf65 && (v.CoresPerSocket.Known() && v.Guest.CoresPerSocket > 1 || v.Guest.SizeEachTime)
}

// arrivals applies if vMotion can bring several VMs.
func arrivals(p *rule.Pass, h *numa.Host) (hit, bool) {
	return hit{}, len(p.Cluster.Hosts) > 1 && len(p.Cluster.Running(h)) > 1
}

// leftovers applies if clients of wide VMs do not fill the cores of a node.
func leftovers(p *rule.Pass, h *numa.Host) (out hit, ok bool) {
	for _, v := range p.Cluster.Running(h) {
		if l := &v.On[0].Layout; l.Wide() && int(p.Kind.Machine.Cores)%l.PPDs.Max() != 0 {
			out.vms = append(out.vms, v)
		}
	}
	return out, len(out.vms) > 0
}

// unmanaged applies if VMs are wider than a node (C-14).
func unmanaged(p *rule.Pass, h *numa.Host) (out hit, ok bool) {
	for _, v := range p.Cluster.Running(h) {
		if v.Guest.VCPUs > p.Kind.Machine.Cores {
			out.vms = append(out.vms, v)
		}
	}
	return out, len(out.vms) > 0
}

// struck describes the observations of a fault that gathers VMs on one node of a host: whether the fullest node has more vCPUs
// than cores, and a client of it would have a core for each vCPU on the emptiest. With preferHT a core runs as many vCPUs as
// it has threads. known is false if not all VMs, or not the nodes of all their clients, were observed.
func struck(p *rule.Pass, h *numa.Host) (text string, struck, known bool) {
	running := p.Cluster.Running(h)
	if !slices.ContainsFunc(running, func(v *rule.VM) bool { return v.SeenAt(h) != nil }) {
		return "", false, false
	}
	m := &p.Kind.Machine
	placed := rule.HomesOn(h, running, func(v *rule.VM) *vnuma.Layout { return &v.On[0].Layout }, p.Choices)
	basis, seen := placed.Basis()
	if seen < 2 || seen < len(placed.VMs)-len(placed.Loose) {
		return "", false, false
	}
	for i, o := range placed.Seen {
		if o != nil && len(o.Homes.Value) > 1 && len(o.Homes.Value) != placed.VMs[i].On[0].Layout.PPDs.Len() {
			return "", false, false
		}
	}
	need := func(c *rule.HomeClient) int { // cores
		if g := &placed.VMs[c.Request].Guest; (g.PreferHT || m.PreferHT) && m.Threads > m.Cores {
			return (c.VCPUs*int(m.Cores) + int(m.Threads) - 1) / int(m.Threads)
		}
		return c.VCPUs
	}
	var full, empty *rule.HomeNode
	most, least := 0, 0
	for i := range placed.Nodes {
		n, cores := &placed.Nodes[i], 0
		for k := range n.Clients {
			cores += need(&n.Clients[k])
		}
		if n.Cores > 0 && (full == nil || cores > most) {
			full, most = n, cores
		}
		if n.Cores > 0 && (empty == nil || cores <= least) {
			empty, least = n, cores
		}
	}
	if full == nil || full == empty {
		return "", false, false
	}
	fits := slices.ContainsFunc(full.Clients, func(c rule.HomeClient) bool { return least+need(&c) <= empty.Cores })
	return fmt.Sprintf("%d vCPUs on the %d cores of node %d, %d on node %d of %s (%s)", full.VCPUs, full.Cores, full.ID, empty.VCPUs, empty.ID, h.Name, basis),
		most > full.Cores && fits, true
}
