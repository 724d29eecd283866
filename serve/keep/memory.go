package keep

import (
	"cmp"
	"context"
	"math"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
)

// memoryStates are the states of a guest's memory in the order of charts, with their metrics.
var memoryStates = [...]struct{ name, metric, hour string }{
	{"private", "homenode_vm_memory_private_bytes", "homenode_vm_hour_private_bytes_mean"},
	{"shared", "homenode_vm_memory_shared_bytes", "homenode_vm_hour_shared_bytes_mean"},
	{"ballooned", "homenode_vm_memory_balloon_bytes", "homenode_vm_hour_balloon_bytes_mean"},
	{"compressed", "homenode_vm_memory_compressed_bytes", "homenode_vm_hour_compressed_bytes_mean"},
	{"swapped", "homenode_vm_memory_swapped_bytes", "homenode_vm_hour_swapped_bytes_mean"},
}

// stateOf returns the index of a metric in memoryStates; -1 for none.
func stateOf(metric string) int {
	for i, s := range memoryStates {
		if metric == s.metric || metric == s.hour {
			return i
		}
	}
	return -1
}

// A Memory is the mean memory of some VMs over a time step.
type Memory struct {
	From, To time.Time
	States   []MemoryState // private, shared, ballooned, compressed, swapped
}

// A MemoryState is the memory of VMs in one state, and the number of VMs for which it is known. With 0 VMs it is unknown.
type MemoryState struct {
	Name  string
	Bytes numa.Bytes
	VMs   int
}

// A memory chart has about memorySteps steps. Ranges longer than memoryWithin use hours. Until two hours are stored, they use the samples of
// the last memoryBefore.
const (
	memorySteps  = 120
	memoryWithin = 24 * time.Hour
	memoryBefore = 2 * time.Hour
)

// Memory returns the summed memory states of VMs in time order; ranges without data have no steps. labels, as name and value pairs, select the
// series; shown selects the VM IDs, nil for all. A sample is valid until the next one, but for no longer than gap.
func (k *Keeper) Memory(ctx context.Context, from, to time.Time, gap time.Duration, shown func(id string) bool, labels ...string) ([]Memory, error) {
	k.mu.Lock()
	ticks, hours, err := k.store, k.hours, k.why
	k.mu.Unlock()
	if ticks == nil {
		return nil, err
	}
	if length := to.Sub(from); length > memoryWithin {
		m := memorySum{from: from.Truncate(time.Hour).UnixMilli(), to: to.UnixMilli(), width: (length/memorySteps + time.Hour - 1).Truncate(time.Hour).Milliseconds(), gap: hour, lead: hour}
		if out, err := m.read(ctx, hours, shown, labels); err != nil || len(out) > 1 {
			return out, err
		}
		from = to.Add(-memoryBefore)
	}
	m := memorySum{from: from.UnixMilli(), to: to.UnixMilli(), width: max(to.Sub(from)/memorySteps, time.Second).Milliseconds(), gap: gap.Milliseconds()}
	return m.read(ctx, ticks, shown, labels)
}

// hour is an hour in milliseconds.
const hour = int64(time.Hour / time.Millisecond)

// A memorySum sums samples of VMs weighted by their duration. Times are in milliseconds since 1970.
type memorySum struct {
	from, to, width int64
	gap, lead       int64 // maximum duration of a sample, and how long before its time it starts: an hour is stored with its end time
	steps           []memoryStep
}

type memoryStep struct {
	first, last int64                      // time range with data
	bytes, time [len(memoryStates)]float64 // sums over VMs of bytes × time, and of time
}

// read sums the samples of a store.
func (m *memorySum) read(ctx context.Context, s *store.Store, shown func(id string) bool, labels []string) (out []Memory, err error) {
	var names []string
	for _, one := range memoryStates {
		names = append(names, one.metric, one.hour)
	}
	m.steps = make([]memoryStep, (m.to-m.from+m.width-1)/m.width)
	had := map[string][]bool{} // hours of a VM: it can have been on two hosts in one
	err = s.EachOf(ctx, time.UnixMilli(m.from-m.gap), time.UnixMilli(m.to), func(r *store.Range) error {
		id, name := r.Label("vm_id"), r.Label("__name__")
		if shown != nil && !shown(id) {
			return nil
		}
		key := name + "\x00" + r.Label("vcenter") + "\x00" + cmp.Or(id, r.Label("host")+"\x00"+r.Label("gid")+"\x00"+r.Label("vm"))
		if m.lead > 0 && had[key] == nil {
			had[key] = make([]bool, (m.to-m.from)/hour+1)
		}
		state, at, last := stateOf(name), int64(0), math.NaN()
		for r.Next() {
			ms, number := r.At()
			ms -= m.lead
			m.add(state, last, at, min(ms, at+m.gap))
			if at, last = ms, number; m.lead > 0 && ms >= m.from {
				if i := (ms - m.from) / hour; had[key][i] {
					last = math.NaN()
				} else {
					had[key][i] = true
				}
			}
		}
		m.add(state, last, at, at+m.gap)
		return r.Err()
	}, names, labels...)
	for i := range m.steps {
		if x := &m.steps[i]; x.last > x.first {
			from := m.from + int64(i)*m.width
			out = append(out, Memory{time.UnixMilli(from).UTC(), time.UnixMilli(min(from+m.width, m.to)).UTC(), x.states()})
		}
	}
	return out, err
}

// add adds a value over a time range; NaN is ignored.
func (m *memorySum) add(state int, number float64, from, to int64) {
	if math.IsNaN(number) {
		return
	}
	for from, to = max(from, m.from), min(to, m.to); from < to; {
		x := &m.steps[(from-m.from)/m.width]
		end := min(to, from+m.width-(from-m.from)%m.width)
		x.first, x.last = min(cmp.Or(x.first, from), from), max(x.last, end)
		x.bytes[state] += number * float64(end-from)
		x.time[state] += float64(end - from)
		from = end
	}
}

// states returns the means of a step.
func (x *memoryStep) states() (out []MemoryState) {
	known := float64(x.last - x.first)
	for i, s := range memoryStates {
		vms := x.time[i] / known // a VM that was present only briefly counts
		out = append(out, MemoryState{s.name, numa.Bytes(math.Round(x.bytes[i] / known)), int(max(math.Round(vms), math.Ceil(min(vms, 1))))})
	}
	return out
}
