package upgrade

import (
	"slices"

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
		func(v *numa.VM) bool { return v.CoresPerSocket.Value > 1 && v.VCPUs.Value > 1 }},
	{"numa.vcpu.maxPerVirtualNode", numa.ESXi65, 0, "it shows virtual nodes to VMs of fewer vCPUs than numa.vcpu.min too", "a VM below numa.vcpu.min sees one node", []string{"B-3"},
		func(v *numa.VM) bool {
			return has(v, "numa.vcpu.maxPerVirtualNode") && v.VCPUs.Value < vnuma.DefaultMin
		}},
	{"latency sensitivity high", numa.ESXi67, 0, "a VM without full reservations powers on", "a VM without full reservations of memory and CPU does not power on", []string{"B-21"},
		func(v *numa.VM) bool { return v.LatencySensitivity.Value == "high" }},
	{"sched.mem.lpage.enable1GPage", numa.ESXi67, 0, "it needs no reservation", "the VM does not power on unless all its memory is reserved", []string{"B-31"},
		func(v *numa.VM) bool { return has(v, "sched.mem.lpage.enable1GPage") }},
	{"CPU hot add", numa.ESXi80, 20, "the guest sees one node", "vNUMA can be shown beside it (exposeVnumaOnCpuHotadd); unset, one node is taken", []string{"B-15"},
		func(v *numa.VM) bool { return v.CPUHotAdd.Or(false) }},
	{"coresPerSocket at its default", numa.ESXi80, 20, "a socket has one core", "cores per socket can be assigned at power on: a socket for each virtual node", []string{"B-18"},
		func(v *numa.VM) bool { return v.CoresPerSocket.Value <= 1 && v.VCPUs.Value > 1 }},
	{"virtual last-level caches", numa.ESXi80, 20, "each virtual socket shows one cache of the physical size", "ESXi chooses the caches, as it does sockets and nodes", []string{"B-13"},
		func(v *numa.VM) bool { return v.VCPUs.Value > 1 }},
	{"NUMA nodes set by hand", numa.ESXi80, 20, "numa.vcpu.maxPerVirtualNode sets them", "the setting NUMA Nodes sets them, and needs cores per socket set by hand", []string{"B-18", "B-28"},
		func(v *numa.VM) bool {
			return has(v, "numa.vcpu.maxPerVirtualNode") || has(v, "numa.vcpu.coresPerNode")
		}},
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

// concerns returns the meanings that change between the release and hardware that VMs have and those that they will have.
func concerns(before, after *numa.Fleet) []Concern {
	releases := func(f *numa.Fleet) map[string]numa.Release {
		out := map[string]numa.Release{}
		for i := range f.Hosts {
			out[f.Hosts[i].ID] = f.Hosts[i].Release.Value
		}
		return out
	}
	was, is := releases(before), releases(after)
	var out []Concern
	for _, m := range meanings {
		c := Concern{Meaning: m, VMs: []string{}}
		for i := range before.VMs {
			a, b := &before.VMs[i], &after.VMs[i]
			if !a.Template.Or(false) && m.about(a) && !m.holds(was[a.Host], a.Hardware.Value) && m.holds(is[b.Host], b.Hardware.Value) {
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

// holds reports whether the later meaning is that of a release and a virtual hardware version.
func (m *Meaning) holds(r numa.Release, hardware int) bool {
	return r >= m.Release && hardware >= m.Hardware
}
