package upgrade

import (
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A Meaning is a setting or a behaviour whose meaning changes with a release or a virtual hardware version.
type Meaning struct {
	Setting  string       `json:"setting"`
	Release  numa.Release `json:"fromRelease,omitzero"`  // 0 for every release
	Hardware int          `json:"andHardware,omitempty"` // 0 for every version
	Before   string       `json:"before"`
	After    string       `json:"after"`
	Book     []string     `json:"ruleBook"` // statements with their sources

	ofVM   func(v *numa.VM, h *numa.Host) bool // whether it concerns the VM on the host; nil for a meaning of hosts
	ofHost func(h *numa.Host) bool             // whether it concerns the host; nil for a meaning of VMs
	later  func(r numa.Release) bool           // whether a release has the later meaning; nil means all from Release on
	never  bool                                // sources disagree, and according to the chosen one there is no such change
}

// A Concern is a meaning that changes for VMs or hosts of the fleet.
type Concern struct {
	Meaning
	VMs   []string `json:"vms"`   // by name, sorted
	Hosts []string `json:"hosts"` // by name, sorted
}

// concerns returns the meanings that change: for VMs on some host of their cluster, by the release and hardware before and
// after.
func concerns(before, after *numa.Fleet, ch vnuma.Choices) []Concern {
	out := []Concern{}
	for _, m := range meanings(&ch) {
		c := Concern{Meaning: m, VMs: []string{}, Hosts: []string{}}
		for i := range before.VMs {
			a, b := &before.VMs[i], &after.VMs[i]
			if m.ofVM != nil && !a.Template.Or(false) && m.changesOf(before, after, a, b) {
				c.VMs = append(c.VMs, a.Name)
			}
		}
		for i := range before.Hosts {
			h, g := &before.Hosts[i], &after.Hosts[i]
			if m.ofHost != nil && h.Release.Known() && !m.holds(h.Release.Value, 0) && m.holds(g.Release.Value, 0) && m.ofHost(h) {
				c.Hosts = append(c.Hosts, h.Name)
			}
		}
		if len(c.VMs)+len(c.Hosts) > 0 {
			slices.Sort(c.VMs)
			slices.Sort(c.Hosts)
			out = append(out, c)
		}
	}
	return out
}

// changesOf reports whether the later meaning applies on a host of the VM after the upgrade and not before.
func (m *Meaning) changesOf(before, after *numa.Fleet, a, b *numa.VM) bool {
	for i := range before.Hosts {
		h, g := &before.Hosts[i], &after.Hosts[i]
		mine := h.ID == a.Host || a.Cluster != "" && h.Cluster == a.Cluster
		if mine && h.Release.Known() && !m.holds(h.Release.Value, a.Hardware.Value) && m.holds(g.Release.Value, b.Hardware.Value) && m.ofVM(a, h) {
			return true
		}
	}
	return false
}

// holds reports whether the later meaning applies to a release and a virtual hardware version.
func (m *Meaning) holds(r numa.Release, hardware int) bool {
	if m.later != nil && !m.later(r) {
		return false
	}
	return r >= m.Release && hardware >= m.Hardware
}
