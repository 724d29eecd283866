package whatif

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// lose removes hosts. vSphere HA restarts their VMs on any host of the cluster that accepts VMs: each VM, the largest first, is placed on
// the host with its worst layout, of those that have its reservation left, and memory for it, if there are any, so that no real
// result is worse; VMs are spread over equally bad hosts. A VM that no host accepts stays without one, and so does a VM with a device
// of its lost host. VMs of other hosts keep their reservations: those that are restarted come after them.
func (c *Change) lose(f *numa.Fleet, e *Effect, choices vnuma.Choices) error {
	names := hostNames(f)
	if idle := c.hosts.idle(names); idle != nil {
		return idle.none("host", names)
	}
	found := c.hosts.match(names)
	if found == nil {
		return c.hosts.none("host", names)
	}
	lost := map[string]bool{}
	for _, i := range found {
		lost[f.Hosts[i].ID] = true
		e.about(f.Hosts[i].Cluster, f.Hosts[i].ID)
	}
	f.Hosts = slices.DeleteFunc(f.Hosts, func(h numa.Host) bool { return lost[h.ID] })
	move := newRefuge(f, func(v *numa.VM) bool { return !lost[v.Host] }, choices)
	var vms []*numa.VM
	for _, v := range leaving(f, lost) {
		e.about(v.Cluster, v.Host)
		if v.Tied() != nil { // it is not restarted
			v.Host, v.Cluster = "", ""
			continue
		}
		vms = append(vms, v)
		if v.MayRun() { // HA restarts no VM that is off
			e.VMs, e.Leave = e.VMs+1, "power on elsewhere"
		}
	}
	for _, v := range move.settle(vms) {
		if !move.to(v, nil) {
			v.Host, move.moved[v.ID] = "", v.MayRun()
		}
	}
	move.arrive(f, c.Text)
	e.Hosts, e.Changed = len(found), len(found)+e.VMs
	return nil
}

// leaving returns the VMs of hosts, by ID, in the order in which they find another: those that run first, and the largest of them.
func leaving(f *numa.Fleet, hosts map[string]bool) (vms []*numa.VM) {
	for i := range f.VMs {
		if hosts[f.VMs[i].Host] {
			vms = append(vms, &f.VMs[i])
		}
	}
	slices.SortStableFunc(vms, func(a, b *numa.VM) int {
		if a.MayRun() != b.MayRun() {
			return map[bool]int{true: -1, false: 1}[a.MayRun()]
		}
		return cmp.Or(cmp.Compare(b.Resident(), a.Resident()), cmp.Compare(b.VCPUs.Value, a.VCPUs.Value))
	})
	return vms
}

// A refuge is the hosts that accept VMs of a host that stops running them.
type refuge struct {
	hosts    map[string]*numa.Host // by ID, without lost ones
	places   map[string][]place
	promised map[string]numa.Bytes     // memory of the powered-on VMs by the ID of their host
	reserved map[string]vnuma.Reserved // the same of their reservations
	moved    map[string]bool           // VMs that were taken, by ID
	crowded  []string                  // names of those for which no host has memory
	choices  vnuma.Choices
}

func newRefuge(f *numa.Fleet, stay func(v *numa.VM) bool, choices vnuma.Choices) *refuge {
	r := &refuge{f.HostsByID(), placesOf(f), map[string]numa.Bytes{}, map[string]vnuma.Reserved{}, map[string]bool{}, nil, choices}
	for i := range f.VMs {
		if v := &f.VMs[i]; v.MayRun() && stay(v) {
			r.add(v)
		}
	}
	return r
}

// add adds memory and reservations of a VM to those of its host.
func (r *refuge) add(v *numa.VM) {
	r.promised[v.Host] += v.Resident()
	if g, _, err := vnuma.NewGuest(v); err == nil {
		sum := r.reserved[v.Host]
		sum.Add(&g.Needs)
		r.reserved[v.Host] = sum
	}
}

// arrive marks the moved VMs, and notes which of them found no host with memory for them, or may be beside the other VM of a pair.
func (r *refuge) arrive(f *numa.Fleet, where string) {
	arrive(f, r.moved)
	var paired []string
	for i := range f.VMs {
		if v := &f.VMs[i]; r.moved[v.ID] && v.FaultTolerant() {
			paired = append(paired, v.Name)
		}
	}
	if paired != nil {
		f.Notes = append(f.Notes, numa.Note{At: where, Text: fmt.Sprintf("vSphere keeps a primary VM of Fault Tolerance and its secondary on different hosts, and which VMs are a pair is not known: whether a host for %s is free is not judged", words.List(paired))})
	}
	if r.crowded != nil {
		f.Notes = append(f.Notes, numa.Note{At: where, Text: fmt.Sprintf("no other host of the cluster has memory left for %s: a host takes them all the same, because a power-on needs their reservations alone (B-30)", words.List(r.crowded))})
	}
}

// arrive marks the moved VMs, by ID.
func arrive(f *numa.Fleet, moved map[string]bool) {
	for i := range f.VMs {
		f.VMs[i].Arrived = f.VMs[i].Arrived || moved[f.VMs[i].ID]
	}
}

// settle moves VMs, in their order, to hosts with memory for them, and then the VMs for which no host has memory to hosts that have their reservation left: such
// a VM takes no memory from one that fits. One that fits leaves a host that is then too full, for another with memory for it. It returns the VMs that stay, because
// no host has their reservation left, or no vMotion brings them there.
func (r *refuge) settle(vms []*numa.VM) (stay []*numa.VM) {
	var fit, rest []*numa.VM
	from := map[string]string{}
	for _, v := range vms {
		if from[v.ID] = v.Host; r.to(v, r.full) {
			fit = append(fit, v)
		} else {
			rest = append(rest, v)
		}
	}
	for _, v := range rest {
		if !r.to(v, r.denies) {
			stay = append(stay, v)
		} else if v.MayRun() {
			r.crowded = append(r.crowded, v.Name)
		}
	}
	for _, v := range fit {
		if at := v.Host; v.MayRun() && r.over(r.hosts[at], 0) {
			if v.Host = from[v.ID]; r.to(v, r.full) {
				r.promised[at] -= v.Resident()
			} else {
				v.Host = at
			}
		}
	}
	return stay
}

// to moves the VM to the host of its cluster where its layout is worst, without the closed hosts, and reports whether there is one.
func (r *refuge) to(v *numa.VM, closed func(*visit) bool) bool {
	g, _, err := vnuma.NewGuest(v)
	if err != nil {
		return false
	}
	host := emptiest(worstPlace(&g, r.places[v.Cluster], r.choices, func(h *numa.Host, m *vnuma.Machine) bool {
		return closed != nil && closed(&visit{v, &g, h, m})
	}), r.promised)
	if host == "" {
		return false
	}
	if v.Host = host; v.MayRun() {
		r.add(v)
		r.moved[v.ID] = true
	}
	return true
}

// A visit is a VM that asks a host for room.
type visit struct {
	vm      *numa.VM
	guest   *vnuma.Guest
	host    *numa.Host
	machine *vnuma.Machine
}

// denies reports whether the host has the reservation of the VM no longer, or no vMotion brings it there from a host that is not lost.
func (r *refuge) denies(a *visit) bool {
	return a.vm.MayRun() && (numa.NotRunning(r.hosts[a.vm.Host], a.host) != "" || vnuma.Beside(&a.guest.Needs, r.reserved[a.host.ID], a.machine).Any())
}

// full reports whether the host has no memory left for the VM, or denies it.
func (r *refuge) full(a *visit) bool {
	return r.denies(a) || r.over(a.host, a.vm.Resident())
}

// over reports whether the host has no memory for so much more than its VMs have.
func (r *refuge) over(h *numa.Host, more numa.Bytes) bool {
	return r.promised[h.ID]+more > h.Memory.Value-memory.Of(h, false).MinFree
}

// A place is a group of similar hosts that accept VMs.
type place struct {
	hosts   []*numa.Host
	machine vnuma.Machine
}

// placesOf returns the hosts that accept VMs by cluster, grouped by similarity.
func placesOf(f *numa.Fleet) map[string][]place {
	out := map[string][]place{}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if h.Cluster == "" || !h.Ready() {
			continue
		}
		m, err := vnuma.NewMachine(h)
		if err != nil {
			continue // the assessment has a note about a host without a prediction
		}
		all := out[h.Cluster]
		k := slices.IndexFunc(all, func(p place) bool { return p.machine.Like(m) })
		if k < 0 {
			k = len(all)
			all = append(all, place{machine: m})
		}
		all[k].hosts = append(all[k].hosts, h)
		out[h.Cluster] = all
	}
	return out
}

// emptiest returns the ID of the host with the smallest share of its memory promised, so that the VMs of a lost host
// are spread over similar hosts. "" if there is none.
func emptiest(hosts []*numa.Host, promised map[string]numa.Bytes) string {
	best, least := "", 0.0
	for _, h := range hosts {
		used := float64(promised[h.ID]) / float64(max(1, h.Memory.Value))
		if best == "" || used < least {
			best, least = h.ID, used
		}
	}
	return best
}

// worstPlace returns the hosts, other than the full ones, where the VM's layout is worst, or equally bad; nil if none accepts it.
func worstPlace(g *vnuma.Guest, places []place, choices vnuma.Choices, full func(*numa.Host, *vnuma.Machine) bool) []*numa.Host {
	var hosts [][]*numa.Host
	var layouts []vnuma.Layout
	for i := range places {
		open := slices.DeleteFunc(slices.Clone(places[i].hosts), func(h *numa.Host) bool { return full(h, &places[i].machine) })
		if l := vnuma.Predict(g, &places[i].machine, &vnuma.Case{Choices: choices}); len(open) > 0 && !l.Refused.Any() {
			hosts = append(hosts, open)
			layouts = append(layouts, l)
		}
	}
	if hosts == nil {
		return nil
	}
	worst := &layouts[vnuma.Worst(len(layouts), func(i int) *vnuma.Layout { return &layouts[i] })]
	var out []*numa.Host
	for i := range layouts {
		if layouts[i].Compare(worst) == 0 {
			out = append(out, hosts[i]...)
		}
	}
	return out
}

// add adds copies of a host, or hosts of a described kind. They have no VMs yet.
func (c *Change) add(f *numa.Fleet, e *Effect) error {
	var h numa.Host
	if c.shape != nil {
		if h = *c.shape; c.cluster == "" && len(f.Clusters) != 1 {
			return word.Errorf(1, "found %d clusters, want cluster=NAME for the host, or cluster=none", len(f.Clusters))
		} else if c.cluster == "" {
			h.Cluster = f.Clusters[0].ID
		}
	} else {
		like, err := c.hosts.oneHost(f)
		if e := (*numa.SyntaxError)(nil); errors.As(err, &e) {
			return word.Errorf(e.Col, "%s; add-host= copies a host of the fleet", e.Msg)
		} else if err != nil {
			return err
		}
		h = *like
	}
	h.At = c.Text
	if c.cluster != "" {
		p := namePattern{text: c.cluster, col: 1, items: []string{c.cluster}}
		ids, err := p.clusterIDs(f)
		if err != nil {
			return err
		}
		if len(ids) > 1 {
			return word.Errorf(1, "found %d clusters %q, want one", len(ids), word.Short(c.cluster))
		}
		for id := range ids {
			h.Cluster = id
		}
	}
	if !h.Release.Known() && c.shape != nil {
		var beside []*numa.Host
		for i := range f.Hosts {
			if b := &f.Hosts[i]; b.Cluster == h.Cluster && b.Cluster != "" {
				beside = append(beside, b)
			}
		}
		all := false
		if h.Release, all = numa.ReleaseOf(beside); !all {
			return word.Errorf(1, "found no release that the hosts beside it share, want release=8.0U3")
		}
	}
	for _, name := range c.names {
		if len(f.FindHosts(name)) > 0 {
			return word.Errorf(1, "found a host %s already: say name=", name)
		}
		h.ID, h.Name = "added "+name, name
		e.about(h.Cluster, h.ID)
		f.Hosts = append(f.Hosts, h)
	}
	e.Hosts, e.Changed = len(c.names), len(c.names)
	return nil
}
