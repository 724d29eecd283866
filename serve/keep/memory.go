package keep

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"homenode/capture/store"
	"homenode/numa"
	"homenode/serve/metrics"
)

// memoryStates are what the memory of a guest is, in the order of drawings, with the metrics of it.
var memoryStates = [...]struct{ name, metric, hour string }{
	{"private", metrics.Private, "homenode_vm_hour_private_bytes_mean"},
	{"shared", "homenode_vm_memory_shared_bytes", "homenode_vm_hour_shared_bytes_mean"},
	{"ballooned", "homenode_vm_memory_balloon_bytes", "homenode_vm_hour_balloon_bytes_mean"},
	{"compressed", "homenode_vm_memory_compressed_bytes", "homenode_vm_hour_compressed_bytes_mean"},
	{"swapped", "homenode_vm_memory_swapped_bytes", "homenode_vm_hour_swapped_bytes_mean"},
}

// stateOf returns the place among memoryStates of a metric; -1 for none.
func stateOf(metric string) int {
	for i, s := range memoryStates {
		if metric == s.metric || metric == s.hour {
			return i
		}
	}
	return -1
}

// A Memory is what the memory of some VMs was over a step of time, on average.
type Memory struct {
	From, To time.Time
	States   []MemoryState // private, shared, ballooned, compressed, swapped
}

// A MemoryState is how much of the memory of VMs is in one state, and of how many VMs that is known. Of none it is unknown.
type MemoryState struct {
	Name  string
	Bytes numa.Bytes
	VMs   int
}

// Memory is drawn in about so many steps; of a stretch that is longer than memoryWithin they are made of hours. Before two hours are
// kept, they are made of the samples of the last memoryBefore.
const (
	memorySteps  = 120
	memoryWithin = 24 * time.Hour
	memoryBefore = 2 * time.Hour
)

// Memory returns the states of the memory of VMs, added up, in the order of time; a stretch in which nothing was seen has no steps. The VMs are
// those whose series have these labels, given as pairs, and whose IDs are shown; nil shows all. A sample holds until the next one, but for
// no longer than gap.
func (k *Keeper) Memory(ctx context.Context, from, to time.Time, gap time.Duration, shown func(id string) bool, labels ...string) ([]Memory, error) {
	k.mu.Lock()
	ticks, hours, err := k.store, k.hours, k.why
	k.mu.Unlock()
	if ticks == nil {
		return nil, err
	}
	if to.Sub(from) > memoryWithin {
		first, width := from.Truncate(time.Hour), (to.Sub(from)/memorySteps + time.Hour - 1).Truncate(time.Hour)
		m := newMemorySum(first, to, width)
		m.seen = map[string][]bool{}
		err := m.read(ctx, hours, shown, labels)
		if out := m.steps(); err != nil || len(out) > 1 {
			return out, err
		}
		from = to.Add(-memoryBefore)
	}
	m := newMemorySum(from, to, max(to.Sub(from)/memorySteps, time.Second))
	m.gap = gap.Milliseconds()
	err = m.read(ctx, ticks, shown, labels)
	return m.steps(), err
}

// A memorySum adds up samples of VMs over the time that each holds.
type memorySum struct {
	from, to, width int64 // milliseconds since 1970
	gap             int64
	all             []memoryStep
	seen            map[string][]bool // of hours: those that a VM has, which can be on two hosts in one; nil for samples
}

type memoryStep struct {
	first, last int64                      // of the time that something is known of
	bytes, time [len(memoryStates)]float64 // bytes by milliseconds, and milliseconds, of all VMs
}

func newMemorySum(from, to time.Time, width time.Duration) *memorySum {
	m := &memorySum{from: from.UnixMilli(), to: to.UnixMilli(), width: width.Milliseconds()}
	m.all = make([]memoryStep, max(0, (m.to-m.from+m.width-1)/m.width))
	return m
}

// read adds what a store has.
func (m *memorySum) read(ctx context.Context, s *store.Store, shown func(id string) bool, labels []string) error {
	var names []string
	for _, one := range memoryStates {
		names = append(names, one.metric, one.hour)
	}
	return s.EachOf(ctx, time.UnixMilli(m.from-m.gap), time.UnixMilli(m.to), func(r *store.Range) error {
		id := r.Label("vm_id")
		if shown != nil && !shown(id) {
			return nil
		}
		state := stateOf(r.Label("__name__"))
		if m.seen != nil {
			key := r.Label("__name__") + "\x00" + r.Label("vcenter") + "\x00" + cmp.Or(id, r.Label("host")+"\x00"+r.Label("gid")+"\x00"+r.Label("vm"))
			return m.hours(r, state, key)
		}
		return m.samples(r, state)
	}, names, labels...)
}

// samples adds those of one series.
func (m *memorySum) samples(r *store.Range, state int) error {
	at, last := int64(0), math.NaN()
	for r.Next() {
		ms, number := r.At()
		m.add(state, last, at, min(ms, at+m.gap))
		at, last = ms, number
	}
	m.add(state, last, at, at+m.gap)
	return r.Err()
}

// hours adds those of one series, each of which stands at its end; an hour of a VM that another host had too counts once.
func (m *memorySum) hours(r *store.Range, state int, key string) error {
	const hour = int64(time.Hour / time.Millisecond)
	had := m.seen[key]
	if had == nil {
		had = make([]bool, (m.to-m.from)/hour+1)
		m.seen[key] = had
	}
	for r.Next() {
		ms, number := r.At()
		if i := (ms - m.from) / hour; i > 0 && !had[i] {
			had[i] = true
			m.add(state, number, ms-hour, ms)
		}
	}
	return r.Err()
}

// add adds a number that held from one time to another; nothing for one that is unknown.
func (m *memorySum) add(state int, number float64, from, to int64) {
	if math.IsNaN(number) {
		return
	}
	for from, to = max(from, m.from), min(to, m.to); from < to; {
		x := &m.all[(from-m.from)/m.width]
		end := min(to, from+m.width-(from-m.from)%m.width)
		if x.first == 0 {
			x.first = from
		}
		x.first, x.last = min(x.first, from), max(x.last, end)
		x.bytes[state] += number * float64(end-from)
		x.time[state] += float64(end - from)
		from = end
	}
}

// steps returns those of which something is known.
func (m *memorySum) steps() (out []Memory) {
	for i := range m.all {
		x := &m.all[i]
		known := float64(x.last - x.first)
		if known == 0 {
			continue
		}
		from := m.from + int64(i)*m.width
		one := Memory{From: time.UnixMilli(from).UTC(), To: time.UnixMilli(min(from+m.width, m.to)).UTC()}
		for k, s := range memoryStates {
			// Some VM was there for a moment of the step.
			vms := int(math.Round(x.time[k] / known))
			if x.time[k] > 0 {
				vms = max(vms, 1)
			}
			one.States = append(one.States, MemoryState{s.name, numa.Bytes(math.Round(x.bytes[k] / known)), vms})
		}
		out = append(out, one)
	}
	return slices.Clip(out)
}
