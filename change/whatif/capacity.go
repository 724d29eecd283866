package whatif

import (
	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// A Supply contains the capacity of hosts and the demand of VMs. Memory is that of the modules: the overhead of the kernel and of each VM is unknown and
// not subtracted.
type Supply struct {
	Hosts      int        `json:"hosts"`              // that can run VMs
	Away       int        `json:"away,omitempty"`     // hosts in maintenance, or not connected
	Memory     numa.Bytes `json:"bytes"`              // of these hosts
	Kept       numa.Bytes `json:"keptFreeBytes"`      // of Memory, by ESXi (C-23): VMs have the rest
	Tier       numa.Bytes `json:"tierBytes,omitzero"` // of slower memory tiers in addition
	Cores      int        `json:"cores"`
	VMs        int        `json:"vms"`     // powered on, templates left out; unknown counts as on, unless it does not power on
	Configured numa.Bytes `json:"vmBytes"` // memory of these VMs, up to their limits
	Reserved   numa.Bytes `json:"reservedBytes"`
	VCPUs      int        `json:"vcpus"`
	Unknown    int        `json:"unknown"` // hosts and VMs whose memory or cores are not stated
	// Unreserved counts the VMs with an unknown reservation: Reserved is the sum of the known ones, a lower bound.
	Unreserved int `json:"reservationsUnknown"`

	tied numa.Bytes // of Configured, of VMs with a device of their host, which restart on no other
}

// A Capacity is a cluster's supply before and after a change.
type Capacity struct {
	ID      string `json:"-"`       // of the cluster; "host ID" of a host
	Cluster string `json:"cluster"` // name; that of the host for a standalone one
	Fits    bool   `json:"fits"`    // after the change, with its reservations: see Supply.Over and Supply.Fits
	Certain bool   `json:"certain"`
	Before  Supply `json:"before"`
	After   Supply `json:"after"`
	// Stopped counts the VMs of the cluster that no host powers on after the change: After is without them. Out has their names.
	Stopped int      `json:"cannotRun,omitempty"`
	Out     []string `json:"-"`
	// Without is the failure of one more host that leaves the VMs too little memory, zero for none; Today is the same before the change.
	Without Failure `json:"withoutHost,omitzero"`
	Today   Failure `json:"withoutHostToday,omitzero"`
}

// LosesSpare reports whether the VMs are known to fit without any one host today, and after the change no longer do.
func (c *Capacity) LosesSpare() bool {
	before := c.Before.Hosts > 1 && c.Before.Unknown == 0 && c.Before.Lacks() == 0 && c.Today.Over == 0
	return before && c.Without.Over > 0 && c.Fits
}

// A Failure is a failed host and the memory that the running VMs then have beyond that of the other hosts of the cluster.
type Failure struct {
	Host string     `json:"host"`
	Over numa.Bytes `json:"moreThanHostsHaveBytes"`
}

// Over returns the memory of the VMs beyond that which the hosts have for VMs; 0 if all fits, or if that is not known.
func (s *Supply) Over() numa.Bytes {
	if s.Unknown > 0 {
		return 0
	}
	return max(0, s.Configured-s.ForVMs())
}

// Lacks returns the memory of the VMs beyond that of the hosts and their slower tiers; 0 if all fits, or if that is not known.
func (s *Supply) Lacks() numa.Bytes { return max(0, s.Over()-s.Tier) }

// ForVMs returns the memory that ESXi leaves to VMs, without slower tiers.
func (s *Supply) ForVMs() numa.Bytes { return s.Memory - s.Kept }

// Reservable returns the memory that reservations may take: ESXi keeps a part free (B-30).
func (s *Supply) Reservable() numa.Bytes { return s.ForVMs() + s.Tier }

// Fits reports whether the reservations fit the memory: VMs beyond it do not power on. The result is not certain if a size is unknown, or a reservation
// that could change it: if the whole memory of the VMs fits, so do their reservations.
func (s *Supply) Fits() (fits, certain bool) {
	return s.Reserved <= s.Reservable(), s.Unknown == 0 && (s.Unreserved == 0 || s.Configured <= s.Reservable())
}

// Capacities returns the clusters whose hosts or VMs change in size, in their order: after the loss of a host, the others run its VMs. It includes a host
// of a cluster if the change gives its VMs more memory than it has, unless the cluster consists of that host only, the host no longer runs VMs, or the whole cluster
// lacks memory because it lost hosts: which host then has too little is open. For part of an export none is known. VMs that do not power on are left out: idle
// ones before the change, and stopped ones after it, by ID, with the ID of the capacity that they would use.
func Capacities(before, after *numa.Fleet, idle, stopped map[string]string) []Capacity {
	if before.LoadUnknown() != "" {
		return nil
	}
	b, a := supplies(before, idle), supplies(after, stopped)
	left := map[string][]string{}
	for i := range after.VMs {
		if at, is := stopped[after.VMs[i].ID]; is && !has(idle, after.VMs[i].ID) {
			left[at] = append(left[at], after.VMs[i].Name)
		}
	}
	var out []Capacity
	seen := map[string]bool{}
	add := func(id, name string) {
		if !seen[id] && (b[id] != a[id] || left[id] != nil) {
			seen[id] = true
			out = append(out, capacityOf(id, name, b[id], a[id], left[id]))
		}
	}
	for _, f := range []*numa.Fleet{before, after} {
		names := clusterNames(f)
		for i := range f.Clusters {
			add(f.Clusters[i].ID, names[f.Clusters[i].ID])
		}
		for i := range f.Hosts {
			h := &f.Hosts[i]
			id, name := "host "+h.ID, h.Name
			if h.Cluster != "" {
				was, is, wereAll, areAll := b[id], a[id], b[h.Cluster], a[h.Cluster]
				short := areAll.Hosts < wereAll.Hosts && areAll.Over() > wereAll.Over()
				if short || is.Hosts == 0 || is.Configured <= was.Configured || is.Over() == 0 || is.Memory == areAll.Memory {
					continue
				}
				name = names[h.Cluster] + "/" + name
			}
			add(id, name)
		}
	}
	for i := range out {
		out[i].Without, out[i].Today = worstFailure(after, out[i].ID, a), worstFailure(before, out[i].ID, b)
	}
	return out
}

// worstFailure returns the failure of a host of the cluster after which its VMs have most memory beyond that of the others.
func worstFailure(f *numa.Fleet, cluster string, all map[string]Supply) (worst Failure) {
	for i := range f.Hosts {
		h, rest := &f.Hosts[i], all[cluster]
		if of := all["host "+h.ID]; h.Cluster == cluster && of.Hosts > 0 && rest.Hosts > 1 {
			rest.Memory, rest.Kept, rest.Tier, rest.Configured = rest.Memory-of.Memory, rest.Kept-of.Kept, rest.Tier-of.Tier, rest.Configured-of.tied
			if over := rest.Lacks(); over > worst.Over {
				worst = Failure{h.Name, over}
			}
		}
	}
	return worst
}

func capacityOf(id, name string, before, after Supply, out []string) Capacity {
	c := Capacity{ID: id, Cluster: name, Before: before, After: after, Stopped: len(out), Out: out}
	c.Fits, c.Certain = after.Fits()
	if after.Lacks() > 0 {
		c.Fits, c.Certain = false, true
	}
	return c
}

// supplies returns the supply of each cluster by its ID, and of each host by "host ID", without the stopped VMs.
func supplies(f *numa.Fleet, stopped map[string]string) map[string]Supply {
	out := map[string]Supply{}
	add := func(more Supply, ids ...string) {
		for _, id := range ids {
			s := out[id]
			s.add(&more)
			out[id] = s
		}
	}
	place := map[string][]string{} // of each host: itself and its cluster
	for i := range f.Hosts {
		h := &f.Hosts[i]
		place[h.ID] = []string{"host " + h.ID}
		if h.Cluster != "" {
			place[h.ID] = append(place[h.ID], h.Cluster)
		}
		s := Supply{Away: 1}
		if h.Ready() {
			s = Supply{Hosts: 1, Memory: h.Memory.Value, Kept: memory.Of(h, false).MinFree, Tier: h.TierMemory.Value, Cores: h.Cores.Value}
			if !h.Memory.Known() || !h.Cores.Known() {
				s.Unknown = 1
			}
		}
		add(s, place[h.ID]...)
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		if has(stopped, v.ID) || !v.MayRun() {
			continue
		}
		s := Supply{VMs: 1, VCPUs: v.VCPUs.Value, Configured: v.Resident()}
		switch {
		case v.AllReserved():
			s.Reserved = v.Memory.Value
		case v.MemoryReservation.Known():
			s.Reserved = min(v.MemoryReservation.Value, v.Memory.Value)
		default:
			s.Unreserved = 1
		}
		if !v.Memory.Known() {
			s.Unknown = 1
		}
		if v.Tied() != nil {
			s.tied = s.Configured
		}
		at := place[v.Host]
		if at == nil {
			at = []string{v.Cluster}
		}
		add(s, at...)
	}
	return out
}

func has(ids map[string]string, id string) bool {
	_, is := ids[id]
	return is
}

func (s *Supply) add(o *Supply) {
	s.Hosts, s.Away, s.Memory, s.Kept, s.Tier, s.Cores = s.Hosts+o.Hosts, s.Away+o.Away, s.Memory+o.Memory, s.Kept+o.Kept, s.Tier+o.Tier, s.Cores+o.Cores
	s.VMs, s.VCPUs, s.Configured, s.Reserved = s.VMs+o.VMs, s.VCPUs+o.VCPUs, s.Configured+o.Configured, s.Reserved+o.Reserved
	s.Unknown, s.Unreserved, s.tied = s.Unknown+o.Unknown, s.Unreserved+o.Unreserved, s.tied+o.tied
}

// Short returns those that lack something only after the change: a host, room for the reservations, or memory for the VMs.
func Short(all []Capacity) (short []Capacity) {
	for _, c := range all {
		was, _ := c.Before.Fits()
		if is, _ := c.After.Fits(); was && !is || c.After.Hosts == 0 && c.Before.VMs > 0 || c.After.Over() > c.Before.Over() {
			short = append(short, c)
		}
	}
	return short
}
