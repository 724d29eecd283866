package whatif

import (
	"cmp"
	"slices"

	"homenode/numa"
)

// A Supply is what hosts have and VMs want. Memory is that of the modules: what the
// kernel and each VM need beside it is not known and not counted.
type Supply struct {
	Hosts      int        `json:"hosts"`              // that can run VMs
	Away       int        `json:"away,omitempty"`     // hosts in maintenance, or not connected
	Memory     numa.Bytes `json:"bytes"`              // of these hosts
	Tier       numa.Bytes `json:"tierBytes,omitzero"` // of slower memory tiers beside it
	Cores      int        `json:"cores"`
	VMs        int        `json:"vms"`     // powered on, templates left out; unknown counts as on
	Configured numa.Bytes `json:"vmBytes"` // memory of these VMs
	Reserved   numa.Bytes `json:"reservedBytes"`
	VCPUs      int        `json:"vcpus"`
	Unknown    int        `json:"unknown"` // hosts and VMs whose memory or cores are not stated
	// Unreserved counts the VMs whose reservation is not stated: Reserved is what is
	// known, and the least there can be.
	Unreserved int `json:"reservationsUnknown"`
}

// A Capacity is a cluster's supply before and after a change.
type Capacity struct {
	Cluster string `json:"cluster"` // name; that of the host for a standalone one
	Fits    bool   `json:"fits"`    // after the change, as Supply says
	Certain bool   `json:"certain"`
	Before  Supply `json:"before"`
	After   Supply `json:"after"`
}

// Fits reports whether the reservations fit the memory: what is missing does not
// power on. It is not certain when a size is unknown, or a reservation that could decide
// it: where the whole memory of the VMs fits, so do their reservations.
func (s *Supply) Fits() (fits, certain bool) {
	return s.Reserved <= s.Memory, s.Unknown == 0 && (s.Unreserved == 0 || s.Configured <= s.Memory)
}

// Capacities returns the clusters whose hosts or VMs differ in size, in their order:
// after the loss of a host, the others carry its VMs.
func Capacities(before, after *numa.Fleet) []Capacity {
	b, a := supplies(before), supplies(after)
	var out []Capacity
	seen := map[string]bool{}
	for _, f := range []*numa.Fleet{before, after} {
		names := clusterNames(f)
		for i := range f.Clusters {
			out = differing(out, seen, f.Clusters[i].ID, names[f.Clusters[i].ID], b, a)
		}
		for i := range f.Hosts {
			if h := &f.Hosts[i]; h.Cluster == "" {
				out = differing(out, seen, "host "+h.ID, h.Name, b, a)
			}
		}
	}
	return out
}

func differing(out []Capacity, seen map[string]bool, id, name string, b, a map[string]Supply) []Capacity {
	if seen[id] || b[id] == a[id] {
		return out
	}
	seen[id] = true
	c := Capacity{Cluster: name, Before: b[id], After: a[id]}
	c.Fits, c.Certain = c.After.Fits()
	return append(out, c)
}

// supplies returns the supply of each cluster by its ID, and by "host ID" of each
// standalone host.
func supplies(f *numa.Fleet) map[string]Supply {
	out := map[string]Supply{}
	place := map[string]string{}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		id := cmp.Or(h.Cluster, "host "+h.ID)
		place[h.ID] = id
		s := out[id]
		if h.Ready() {
			s.Hosts++
			s.Memory += h.Memory.Value
			s.Tier += h.TierMemory.Value
			s.Cores += h.Cores.Value
			if !h.Memory.Known() || !h.Cores.Known() {
				s.Unknown++
			}
		} else {
			s.Away++
		}
		out[id] = s
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		id := cmp.Or(place[v.Host], v.Cluster)
		if !runs(v) {
			continue
		}
		s := out[id]
		s.VMs++
		s.VCPUs += v.VCPUs.Value
		s.Configured += v.Memory.Value
		switch {
		case v.AllReserved():
			s.Reserved += v.Memory.Value
		case v.MemoryReservation.Known():
			s.Reserved += min(v.MemoryReservation.Value, v.Memory.Value)
		default:
			s.Unreserved++
		}
		if !v.Memory.Known() {
			s.Unknown++
		}
		out[id] = s
	}
	return out
}

// runs reports whether the VM takes memory: powered on, unknown counts as on.
func runs(v *numa.VM) bool {
	return !v.Template.Or(false) && v.Power.Or(numa.PoweredOn) == numa.PoweredOn
}

// Short reports whether the reservations of a cluster do not fit any more, or its VMs
// have no host left.
func Short(all []Capacity) bool {
	return slices.ContainsFunc(all, func(c Capacity) bool {
		before, _ := c.Before.Fits()
		return before && !c.Fits || c.After.Hosts == 0 && c.Before.VMs > 0
	})
}
