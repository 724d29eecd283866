package upgrade

import (
	"slices"
	"strconv"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A Meaning is a setting, or a behaviour, that means another thing from a release or a virtual hardware version on.
type Meaning struct {
	Setting  string       `json:"setting"`
	Release  numa.Release `json:"fromRelease"`
	Hardware int          `json:"andHardware,omitempty"` // 0 for every version
	Before   string       `json:"before"`
	After    string       `json:"after"`
	Book     []string     `json:"ruleBook"` // statements with their sources

	about func(v *numa.VM) bool
}

// meanings are those that are published, in the order of releases.
var meanings = []Meaning{
	{"memory hot add", numa.ESXi60, 0, "added memory lands in one virtual node", "added memory is spread over the virtual nodes", []string{"B-16"},
		func(v *numa.VM) bool { return v.MemoryHotAdd.Or(false) }},
	{"coresPerSocket", numa.ESXi65, 0, "cores per socket above 1 are the size of a virtual node", "virtual nodes follow the host; the size of a client is only rounded up to whole virtual sockets", []string{"B-11", "B-12"},
		func(v *numa.VM) bool {
			return v.CoresPerSocket.Value > 1 && v.VCPUs.Value >= least(v) && !isTrue(v, "numa.vcpu.followcorespersocket")
		}},
	{"numa.vcpu.maxPerVirtualNode", numa.ESXi65, 0, "it shows virtual nodes to VMs of fewer vCPUs than numa.vcpu.min too", "a VM below numa.vcpu.min sees one node", []string{"B-3"},
		func(v *numa.VM) bool { return has(v, "numa.vcpu.maxPerVirtualNode") && v.VCPUs.Value < least(v) }},
	{"latency sensitivity high", numa.ESXi67, 0, "a VM without a full reservation of CPU powers on, without exclusive cores", "a VM without full reservations of memory and CPU does not power on", []string{"B-21"},
		func(v *numa.VM) bool { return v.LatencyHigh() }},
	{"sched.mem.lpage.enable1GPage", numa.ESXi67, 0, "no effect is published", "the VM does not power on unless all its memory is reserved", []string{"B-31"},
		func(v *numa.VM) bool { return isTrue(v, "sched.mem.lpage.enable1GPage") }},
	{"numa.vcpu.coresPerNode", numa.ESXi80, 0, "it has no effect", "it is the size of a virtual node", []string{"B-10"},
		func(v *numa.VM) bool { return has(v, "numa.vcpu.coresPerNode") }},
	{"NUMA nodes set by hand", numa.ESXi80, 20, "any size powers on", "they need cores per socket set by hand, and cores that divide the vCPUs and fit the sockets", []string{"B-28"},
		func(v *numa.VM) bool { return has(v, "numa.vcpu.coresPerNode") }},
	{"cpuid.numSMT", numa.ESXi80, 20, "it has no effect", "two vCPUs are the threads of a virtual core", []string{"B-21"},
		func(v *numa.VM) bool { return has(v, "cpuid.numSMT") }},
	{"CPU hot add", numa.ESXi80, 20, "the guest sees one node", "vNUMA can be shown beside it (exposeVnumaOnCpuHotadd); unset, one node is taken", []string{"B-15"},
		func(v *numa.VM) bool { return v.CPUHotAdd.Or(false) }},
	{"coresPerSocket at its default", numa.ESXi80, 20, "a socket has one core", "cores per socket can be assigned at power on; the upgrade itself leaves them as they are", []string{"B-18"},
		func(v *numa.VM) bool { return v.CoresPerSocket.Value <= 1 && v.VCPUs.Value >= least(v) }},
	{"virtual last-level caches", numa.ESXi80, 20, "each virtual socket shows one cache of the physical size", "ESXi chooses the caches, as it does sockets and nodes", []string{"B-13"},
		func(v *numa.VM) bool { return v.CoresPerSocket.Value > 1 && v.CoresPerSocket.Value < v.VCPUs.Value }},
}

// least returns the fewest vCPUs of which the VM is shown vNUMA.
func least(v *numa.VM) int {
	text, _ := v.Settings.Value.Lookup("numa.vcpu.min")
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return vnuma.DefaultMin
}

func isTrue(v *numa.VM, key string) bool {
	value, _ := v.Settings.Value.Lookup(key)
	return strings.EqualFold(value, "true") || value == "1"
}

func has(v *numa.VM, key string) bool {
	value, ok := v.Settings.Value.Lookup(key)
	return ok && value != ""
}

// A Concern is a meaning that changes for VMs of the fleet.
type Concern struct {
	Meaning
	VMs []string `json:"vms"` // by name, sorted
}

// concerns returns the meanings that change on some host of a VM's cluster, by the release and hardware before and after.
func concerns(before, after *numa.Fleet) []Concern {
	out := []Concern{}
	for _, m := range meanings {
		c := Concern{Meaning: m, VMs: []string{}}
		for i := range before.VMs {
			a, b := &before.VMs[i], &after.VMs[i]
			if !a.Template.Or(false) && m.about(a) && m.changes(before, after, a, b) {
				c.VMs = append(c.VMs, a.Name)
			}
		}
		if len(c.VMs) > 0 {
			slices.Sort(c.VMs)
			out = append(out, c)
		}
	}
	return out
}

// changes reports whether the later meaning holds on a host of the VM afterwards and not before.
func (m *Meaning) changes(before, after *numa.Fleet, a, b *numa.VM) bool {
	for i := range before.Hosts {
		h, g := &before.Hosts[i], &after.Hosts[i]
		mine := h.ID == a.Host || a.Cluster != "" && h.Cluster == a.Cluster
		if mine && h.Release.Known() && !m.holds(h.Release.Value, a.Hardware.Value) && m.holds(g.Release.Value, b.Hardware.Value) {
			return true
		}
	}
	return false
}

// holds reports whether the later meaning is that of a release and a virtual hardware version.
func (m *Meaning) holds(r numa.Release, hardware int) bool {
	return r >= m.Release && hardware >= m.Hardware
}
