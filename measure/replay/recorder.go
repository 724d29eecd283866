package replay

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.org/homenode/numa"
)

// cells is the number of VM states that are stored for a host: 1,000 VMs at 1,000 moments, or
// 200 VMs for a day of 20 s; about 75 MB.
const cells = 1 << 20

// gap is the longest time between two ticks that counters without their own duration can cover.
const gap = 6 * time.Minute

// mostShapes limits the hot adds of one life; no VM has that many.
const mostShapes = 100

// A Recorder stores the data of one host's ticks that a replay needs. Its memory is bounded:
// ticks within 20 s, in which the demand of the model does not change, are combined, and beyond
// Cells states of VMs, two moments become one. States are those of the last tick, rates are
// means, migrations are sums.
type Recorder struct {
	// Cells is the maximum number of VM states; 0 means a million. It must be set before the
	// first tick.
	Cells int

	host    string
	first   *numa.Tick // with the full state; nil before
	start   time.Time  // time of first
	last    time.Time  // time of the last processed tick
	window  time.Duration
	moments []moment
	pending []pending // by life: since the last moment
	tick    moment    // the last tick, which may close a moment
	kept    int

	lives []life
	byKey map[lifeKey]int
	nth   map[lifeKey]int // VMs of one GID and name in a tick

	skipped int // ticks before the first full one
	missing string
	left    int // ticks that are not later than the previous one
	gaps    int
	longest time.Duration
}

// A moment is a tick that is compared.
type moment struct {
	at    time.Duration // since the start, on the grid of numa.Step
	nodes []nodeSeen
	vms   []seen // in the order of lives
}

type nodeSeen struct {
	id    int
	known bool
	free  numa.Bytes
}

// seen is the observation of a VM at a moment; rates and counts are since the previous moment.
type seen struct {
	life          int32
	has           numa.Counters
	homes         numa.NodeSet
	local, remote numa.Bytes
	touched       numa.Bytes
	resident      numa.Bytes // the part on nodes
	active        numa.Bytes
	moves         int64
	wanted        float64 // HasRun: demanded CPU time, in seconds a second
	ready         float64 // HasReady
}

// pending accumulates the activity of a life since the last moment.
type pending struct {
	wanted, wantedOver float64
	ready, readyOver   float64
	moves              int64
	ticks, counted     int // ticks, and those that state migrations
}

// A life is a VM from its first to its last moment.
type life struct {
	name        string
	shapes      []shape       // one, and one more for each hot add
	stated      numa.Counters // by any tick
	shrank      numa.Bytes    // largest decrease
	most        numa.Bytes    // touched
	first, end  int           // moments; -1 for the start; set by finish
	interrupted bool
}

// A shape is the size of a VM from a time on; 0 if not stated.
type shape struct {
	at    time.Duration // time of the tick before the first one that shows it
	vcpus int
	size  numa.Bytes
}

type lifeKey struct {
	gid  int64
	name string
	nth  int
}

// Host returns the name of the host in its ticks.
func (r *Recorder) Host() string { return r.host }

// Add processes the next tick, which is only valid during the call. It panics if the tick is of
// another host.
func (r *Recorder) Add(t *numa.Tick) {
	switch {
	case r.byKey == nil:
		r.host, r.byKey, r.nth, r.window = strings.Clone(t.Host), map[lifeKey]int{}, map[lifeKey]int{}, numa.Draw
		if r.Cells <= 0 {
			r.Cells = cells
		}
	case r.host != t.Host:
		panic("replay: a tick of " + t.Host + " for the Recorder of " + r.host)
	}
	switch {
	case r.first == nil:
		if missing := lacks(t); missing != "" {
			r.missing = missing
			r.skipped++
			return
		}
		r.begin(t)
		return
	case !t.Time.After(r.last):
		r.left++
		return
	}
	between := t.Time.Sub(r.last)
	if between > gap {
		r.gaps++
		r.longest = max(r.longest, between)
	}
	r.last = t.Time
	r.take(t, between)
	if at := r.tick.at; at > 0 && at/r.window > r.lastAt()/r.window {
		r.close()
	}
}

// lacks returns the part of the full state that a tick lacks; empty if it is complete.
func lacks(t *numa.Tick) string {
	if len(t.Nodes) == 0 {
		return "NUMA nodes"
	}
	for i := range t.Nodes {
		if t.Nodes[i].Has&numa.HasFree == 0 {
			return "the free memory of NUMA nodes"
		}
	}
	for i := range t.VMs {
		if settled(&t.VMs[i]) {
			return ""
		}
	}
	if len(t.VMs) == 0 {
		return "VMs"
	}
	return "home nodes and local and remote memory of VMs"
}

// settled reports whether the location of a VM is stated.
func settled(v *numa.VMTick) bool {
	return v.Has&numa.HasHomes != 0 && v.Has&numa.HasMemory != 0 && uint64(v.Local) <= uint64(numa.MaxVMMemory) && uint64(v.Remote) <= uint64(numa.MaxVMMemory)
}

// begin processes the tick at which the replay starts.
func (r *Recorder) begin(t *numa.Tick) {
	first := *t
	first.Nodes = append([]numa.NodeTick(nil), t.Nodes...)
	first.VMs = append([]numa.VMTick(nil), t.VMs...)
	for i := range first.VMs {
		v := &first.VMs[i]
		v.Name, v.OnNode = strings.Clone(v.Name), append([]numa.MemoryOnNode(nil), v.OnNode...)
	}
	first.Host = r.host
	r.first, r.start, r.last = &first, t.Time, t.Time
	r.take(t, 0)
	clear(r.pending)
}

func (r *Recorder) lastAt() time.Duration {
	if len(r.moments) == 0 {
		return 0
	}
	return r.moments[len(r.moments)-1].at
}

// take processes a tick: its state becomes that of the moment, its rates are accumulated.
func (r *Recorder) take(t *numa.Tick, between time.Duration) {
	m, before := &r.tick, r.tick.at
	m.at = (t.Time.Sub(r.start) + numa.Step/2) / numa.Step * numa.Step
	m.nodes, m.vms = m.nodes[:0], m.vms[:0]
	for i := range t.Nodes {
		n := &t.Nodes[i]
		m.nodes = append(m.nodes, nodeSeen{n.ID, n.Has&numa.HasFree != 0, n.Free})
	}
	over := t.Since
	if over <= 0 && between <= gap {
		over = between
	}
	clear(r.nth)
	for i := range t.VMs {
		v := &t.VMs[i]
		key := lifeKey{gid: v.GID, name: v.Name}
		r.nth[key]++
		key.nth = r.nth[key]
		l := r.life(key, v, before)
		r.pending[l].add(v, over.Seconds())
		if settled(v) {
			m.vms = append(m.vms, r.seen(l, v))
		}
	}
}

// life returns the index of the life of a VM; before is the time of the previous tick.
func (r *Recorder) life(key lifeKey, v *numa.VMTick, before time.Duration) int {
	i, ok := r.byKey[key]
	if !ok {
		i = len(r.lives)
		key.name = strings.Clone(key.name)
		r.byKey[key] = i
		r.lives = append(r.lives, life{name: key.name, shapes: []shape{{at: before}}})
		r.pending = append(r.pending, pending{})
	}
	l := &r.lives[i]
	l.stated |= v.Has
	size := numa.Bytes(0)
	if v.Has&numa.HasSize != 0 && v.Size > 0 && v.Size <= numa.MaxVMMemory {
		size = v.Size
	}
	now := &l.shapes[len(l.shapes)-1]
	switch next := (shape{before, cmp.Or(v.VCPUs, now.vcpus), cmp.Or(size, now.size)}); {
	case now.vcpus == 0 && next.vcpus != 0 || now.size == 0 && next.size != 0:
		now.vcpus, now.size = next.vcpus, next.size
	case (next.vcpus != now.vcpus || next.size != now.size) && len(l.shapes) < mostShapes:
		l.shapes = append(l.shapes, next)
	}
	return i
}

// finish ends the recording: the last tick becomes a moment, whatever the window. The error
// names the data that the ticks lack.
func (r *Recorder) finish() error {
	switch {
	case r.byKey == nil:
		return errors.New("found no tick")
	case r.first == nil:
		return fmt.Errorf("%s: found no tick that shows %s, from which a replay begins: want esxtop -b -a, or the fields of NUMA of its memory screen", r.host, r.missing)
	}
	if r.tick.at > r.lastAt() {
		r.close()
	}
	if len(r.moments) == 0 {
		return fmt.Errorf("%s: found one moment alone, at %s: there is nothing to compare a replay with", r.host, r.start.UTC().Format(time.RFC3339))
	}
	for i := range r.lives {
		r.lives[i].first, r.lives[i].end = len(r.moments), -2
	}
	for i := range r.first.VMs {
		// The lives of the first tick are the first ones, in its order.
		if settled(&r.first.VMs[i]) {
			r.lives[i].first, r.lives[i].end = -1, -1
		}
	}
	for i := range r.moments {
		for k := range r.moments[i].vms {
			l := &r.lives[r.moments[i].vms[k].life]
			l.first = min(l.first, i)
			l.interrupted = l.interrupted || l.end >= -1 && l.end < i-1
			l.end = i
		}
	}
	return nil
}
