// Package board has the current state of every host and VM, and assesses the last hour with the rules for captures.
// Everything that serve displays is read from here.
package board

import (
	"slices"
	"strings"
	"sync"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/check/headroom"
)

// A Board stores the data of collectors as their Sink. Its methods are safe for concurrent use.
type Board struct {
	// Keep, if not nil, is called for every tick; its argument is valid during the call only.
	Keep func(*Host)
	// Peaks returns the memory that each node used a day ago in the coming hours; nil if no history is stored.
	Peaks func(now time.Time) map[Node]headroom.Peak

	options rules.Options
	stale   time.Duration

	mu       sync.RWMutex
	vcenters map[string]*vcenter
	alarms   alarms

	changes changes
}

// A Node identifies a node of a host.
type Node struct {
	VCenter, Host string // names
	Number        int
}

// A vcenter is the inventory of a vCenter with the findings of its rules.
type vcenter struct {
	name   string
	read   time.Time // when it was read
	result *rules.Result
	vms    map[string][]string // IDs by "host ID, name", and by name alone
	hosts  map[string]*host    // by ID; hosts with at least one tick

	// Changes since the inventory was read. The inventory itself stays unchanged.
	at     map[string]int         // index of a VM in the inventory by ID
	placed map[string]placed      // VMs by ID
	states map[string]numa.Update // hosts by ID
}

// A host is the last tick of a host and its last hour.
type host struct {
	Host
	mu     sync.Mutex
	totals map[life]*Totals
	record record
}

// A life is a VM between two power-ons or vMotions.
type life struct {
	gid  int64
	name string
}

// Totals are the sums of a VM's counters since the collector first saw it on the host.
type Totals struct{ Moves numa.Moves }

// A Host is the current state of a host.
type Host struct {
	VCenter string
	ID      string
	Name    string
	Cluster string // name; empty for a standalone host
	Tick    numa.Tick
	VMs     []VM // parallel to Tick.VMs

	seen time.Time // arrival time of Tick by our clock; the tick's own time if it was not assessed
}

// A VM has data about a VM of a tick that the tick lacks.
type VM struct {
	// ID in the inventory. It is empty if the name is not unique in the tick, or does not identify one VM of the host in
	// the inventory.
	ID     string
	Totals Totals
}

// New returns an empty Board. Data older than stale is not shown.
func New(o rules.Options, stale time.Duration) *Board {
	return &Board{options: o, stale: stale, vcenters: map[string]*vcenter{}, alarms: alarms{open: map[key]*Alarm{}}}
}

// LowLocality returns the configured share of local memory below which M001 reports low locality.
func (b *Board) LowLocality() float64 { return b.Limits().Locality }

// Limits returns the configured limits for counting the last hour.
func (b *Board) Limits() capture.Options { return rules.CaptureOptions(b.options.Policy) }

// Fleet stores the inventory of a vCenter, adds live observations, and assesses it.
func (b *Board) Fleet(name string, f *numa.Fleet) {
	o := b.options
	o.Today, o.Ticks = time.Now(), SeenAt
	vnuma.AssumeStored(f, o.Choices) // before VMs that were seen on other hosts since are moved there
	b.observe(name, f, o.Today)
	result := rules.Run(f, o)
	defer b.Touch()
	vms, at := map[string][]string{}, make(map[string]int, len(f.VMs))
	for i := range f.VMs {
		v := &f.VMs[i]
		at[v.ID] = i
		k := v.Host + ", " + v.Name
		vms[k] = append(vms[k], v.ID)
		vms[v.Name] = append(vms[v.Name], v.ID)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.vcenter(name)
	v.read, v.result, v.vms, v.at, v.placed, v.states = o.Today, result, vms, at, map[string]placed{}, map[string]numa.Update{}
	known := map[string]bool{}
	for i := range f.Hosts {
		known[f.Hosts[i].ID] = true
	}
	for id := range v.hosts {
		if !known[id] {
			delete(v.hosts, id)
		}
	}
}

// Inventory returns the inventory of a vCenter with current observations of its VMs, or nil if there is none. names are the
// vCenters that have an inventory.
func (b *Board) Inventory(vcenter string) (f *numa.Fleet, names []string) {
	var read time.Time
	b.mu.RLock()
	for _, v := range b.vcenters {
		if v.result == nil {
			continue
		}
		names = append(names, v.name)
		if v.name == vcenter {
			f, read = v.now(), v.read
		}
	}
	b.mu.RUnlock()
	slices.Sort(names)
	if f != nil {
		b.observe(vcenter, f, read)
	}
	return f, names
}

// SeenAt is the source of the board's observations.
const SeenAt = "FetchStats"

// observe adds live observations to the VMs of an inventory read at the given time: the host if it was observed later, the
// home nodes, local and remote memory. Earlier observations of the same source are replaced. A VM on two hosts has moved:
// the newer tick counts.
func (b *Board) observe(vcenter string, f *numa.Fleet, read time.Time) {
	at, newest, hosts := map[string]int{}, map[string]time.Time{}, f.HostsByID()
	for i := range f.VMs {
		at[f.VMs[i].ID] = i
	}
	b.Each(func(h *Host) {
		host := hosts[h.ID]
		if h.VCenter != vcenter || host == nil {
			return
		}
		for i := range h.Tick.VMs {
			id := h.VMs[i].ID
			k, ok := at[id]
			if !ok || newest[id].After(h.Tick.Time) {
				continue
			}
			newest[id] = h.Tick.Time
			x, v := &h.Tick.VMs[i], &f.VMs[k]
			seen := slices.DeleteFunc(slices.Clone(v.Observed), func(o numa.Observation) bool { return o.By == numa.ByEsxtop && o.At == SeenAt })
			o := h.Tick.Observe(x, SeenAt)
			o.Host = host.Name // the host may have been renamed
			v.Observed = append(seen, o)
			if h.seen.After(read) {
				v.Host, v.Cluster = host.ID, host.Cluster
			}
		}
	})
}

// vcenter returns the vCenter of this name, and creates it if necessary; b.mu is locked.
func (b *Board) vcenter(name string) *vcenter {
	v := b.vcenters[name]
	if v == nil {
		v = &vcenter{name: name, hosts: map[string]*host{}}
		b.vcenters[name] = v
	}
	return v
}

// Tick stores the next tick of a host.
func (b *Board) Tick(name, id string, t *numa.Tick) { b.take(name, id, t, true) }

// Past records a tick that is too old to be assessed.
func (b *Board) Past(name, id string, t *numa.Tick) { b.take(name, id, t, false) }

// Show stores a host's tick from another collector, with the IDs of its VMs and the migrations since that collector first
// saw them.
func (b *Board) Show(name, id, cluster string, t *numa.Tick, vms []string) {
	b.mu.Lock()
	v := b.vcenter(name)
	h := v.hosts[id]
	if h == nil {
		h = &host{Host: Host{VCenter: name, ID: id}}
		v.hosts[id] = h
	}
	b.mu.Unlock()
	defer b.Touch()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Name, h.Cluster, h.seen = t.Host, cluster, t.Time
	keep(&h.Tick, t)
	h.VMs = h.VMs[:0]
	for i := range t.VMs {
		h.VMs = append(h.VMs, VM{ID: vms[i], Totals: Totals{Moves: t.VMs[i].Moves}})
	}
}

func (b *Board) take(name, id string, t *numa.Tick, judged bool) {
	b.mu.Lock()
	v := b.vcenter(name)
	h := v.hosts[id]
	if h == nil {
		h = &host{Host: Host{VCenter: name, ID: id}, totals: map[life]*Totals{}}
		v.hosts[id] = h
	}
	ids, cluster, options := v.idsOf(id, t), v.clusterOf(id), rules.CaptureOptions(b.options.Policy)
	b.mu.Unlock()

	h.mu.Lock()
	defer h.mu.Unlock()
	h.Name, h.Cluster, h.seen = t.Host, cluster, t.Time
	if judged {
		h.seen = time.Now()
	}
	keep(&h.Tick, t)
	before := h.totals
	h.totals = make(map[life]*Totals, len(t.VMs))
	h.VMs = h.VMs[:0]
	for i := range t.VMs {
		x := &t.VMs[i]
		k := life{x.GID, x.Name}
		sum := before[k]
		if sum == nil {
			sum = &Totals{}
		}
		sum.Moves.Add(x.Moves)
		h.totals[k] = sum
		h.VMs = append(h.VMs, VM{ids[i], *sum})
	}
	if judged {
		h.record.add(t, options)
		defer b.Touch()
	}
	if b.Keep != nil {
		b.Keep(&h.Host)
	}
}

// idsOf returns the IDs of the VMs of a host's tick, in its order. An ID is empty if it is ambiguous: the inventory or the
// tick has several VMs of the name, or the VM has left the host. b.mu is locked.
func (v *vcenter) idsOf(host string, t *numa.Tick) []string {
	ids, count := make([]string, len(t.VMs)), map[string]int{}
	for i := range t.VMs {
		name := t.VMs[i].Name
		found := v.vms[host+", "+name]
		if len(found) == 0 { // it arrived by vMotion, and no update has reported that yet
			found = v.vms[name]
			if len(found) == 1 {
				if p, ok := v.placed[found[0]]; ok && p.host != host {
					continue // an update reports another host
				}
			}
		}
		if len(found) == 1 {
			ids[i] = found[0]
			count[ids[i]]++
		}
	}
	for i, id := range ids {
		if count[id] > 1 {
			ids[i] = ""
		}
	}
	return ids
}

// clusterOf returns the name of the cluster of a host.
func (v *vcenter) clusterOf(id string) string {
	if v.result == nil {
		return ""
	}
	f := v.result.Fleet
	for i := range f.Hosts {
		if f.Hosts[i].ID != id {
			continue
		}
		for _, c := range f.Clusters {
			if c.ID == f.Hosts[i].Cluster {
				return c.Name
			}
		}
	}
	return ""
}

// keep copies a tick into another one, reusing the memory of the latter.
func keep(to, t *numa.Tick) {
	nodes, vms := append(to.Nodes[:0], t.Nodes...), to.VMs[:0]
	for i := range t.VMs {
		var on []numa.MemoryOnNode
		if i < cap(vms) {
			on = vms[:i+1][i].OnNode[:0]
		}
		v := t.VMs[i]
		v.Name = strings.Clone(v.Name)
		if v.OnNode != nil {
			v.OnNode = append(on, v.OnNode...)
		}
		vms = append(vms, v)
	}
	*to = *t
	to.Host, to.Nodes, to.VMs = strings.Clone(t.Host), nodes, vms
}

// Each calls f with every host that reported recently, by vCenter and name. The argument of f is valid during the call
// only.
func (b *Board) Each(f func(*Host)) {
	for _, h := range b.sorted() {
		h.mu.Lock()
		if time.Since(h.seen) <= b.stale {
			f(&h.Host)
		}
		h.mu.Unlock()
	}
}

func (b *Board) sorted() (hosts []*host) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, v := range b.vcenters {
		for _, h := range v.hosts {
			hosts = append(hosts, h)
		}
	}
	slices.SortFunc(hosts, func(x, y *host) int { // IDs and vCenters do not change
		if c := strings.Compare(x.VCenter, y.VCenter); c != 0 {
			return c
		}
		return strings.Compare(x.ID, y.ID)
	})
	return hosts
}

// A record is the last hour of a host, in parts that are merged for the assessment.
type record struct {
	now   *capture.Recorder
	since time.Time
	parts []*capture.Recording
}

// Lengths of a host's record: an assessment covers an hour and at most one more part of partLength.
const (
	partLength = 10 * time.Minute
	recordKept = time.Hour
)

func (r *record) add(t *numa.Tick, o capture.Options) {
	if r.now == nil {
		r.now, r.since = capture.NewRecorder(o), t.Time
		r.now.Open("live", capture.FromBoard)
	}
	r.now.Add(t)
}

// recording returns the last hour, or nil without any tick. The next tick continues where this ends.
func (r *record) recording() (*capture.Recording, error) {
	if r.now != nil {
		if part := r.now.Recording(); part != nil {
			r.parts = append(r.parts, part)
		}
		r.now = nil
	}
	if err := r.join(); err != nil || len(r.parts) == 0 {
		return nil, err
	}
	merged, _, err := capture.Merge(r.parts)
	if err != nil || len(merged) == 0 {
		return nil, err
	}
	return merged[len(merged)-1], nil
}

// join merges the parts of the current stretch of partLength, and drops old parts.
func (r *record) join() error {
	last := len(r.parts) - 1
	if last < 0 {
		return nil
	}
	end := r.parts[last].Last
	r.parts = slices.DeleteFunc(r.parts, func(p *capture.Recording) bool { return end.Sub(p.Last) > recordKept })
	last = len(r.parts) - 1
	if last > 0 && r.parts[last].Last.Sub(r.parts[last-1].First) <= partLength {
		merged, _, err := capture.Merge(r.parts[last-1:])
		if err != nil {
			return err
		}
		if len(merged) == 1 {
			r.parts = append(r.parts[:last-1], merged[0])
		}
	}
	return nil
}
