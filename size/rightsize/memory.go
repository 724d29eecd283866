package rightsize

import (
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A Memory holds the host's counters of a VM's memory and the derived range. Active memory is an
// estimate of the memory touched in the last minutes: caches of databases and heaps of Java need
// more than is active. So the result is a range, and only the guest knows its need within it.
type Memory struct {
	Size       numa.Bytes `json:"size,omitempty"` // configured; 0 unknown
	ActivePeak numa.Bytes `json:"activePeak,omitempty"`
	ActiveAt   numa.Bytes `json:"activeAt,omitempty"` // at the percentile
	Consumed   numa.Bytes `json:"consumed,omitempty"` // at the percentile
	Reserved   numa.Bytes `json:"reserved,omitempty"`
	// Low and High are the range of sizes that the host's counters allow; both 0 without one.
	Low    numa.Bytes `json:"low,omitempty"`
	High   numa.Bytes `json:"high,omitempty"`
	Reason string     `json:"reason,omitempty"` // why there is no range
	// Node is the memory of the smallest node and Nodes the number needed by the suggested vCPUs;
	// Over is the excess of the memory over them. All 0 when it fits, or when no node is known.
	Node  numa.Bytes `json:"node,omitempty"`
	Nodes int        `json:"nodes,omitempty"`
	Over  numa.Bytes `json:"over,omitempty"`
	// Fits reports whether the range includes a size that fits.
	Fits bool `json:"fits,omitempty"`
}

// memoryStep is the unit to which sizes of memory are rounded up.
const memoryStep = numa.GiB

func roundUp(b numa.Bytes) numa.Bytes { return (b + memoryStep - 1) / memoryStep * memoryStep }

// Locked is the Reason of memory that cannot shrink.
const Locked = "all its memory is reserved and locked"

// memory computes the assessment of the memory.
func (v *VM) memory(o *Options) (m Memory) {
	m.Size = v.Size
	if v.Config != nil {
		if v.Config.Memory.Known() {
			m.Size = v.Config.Memory.Value
		}
		m.Reserved = v.Config.MemoryReservation.Or(0)
	}
	if v.Needs == nil {
		m.Reason = "nothing recorded"
		return m
	}
	active, known := v.Needs.Active.Percentile(float64(o.Percentile))
	if known {
		m.ActiveAt, m.ActivePeak = active, v.Needs.Active.Most
	}
	if consumed, ok := v.Needs.Consumed.Percentile(float64(o.Percentile)); ok {
		m.Consumed = consumed
	}
	seen := v.Needs.Active.Times.Total()
	limit, held := v.memoryLimit()
	switch {
	case v.Doubt != "":
		m.Reason = v.Doubt
	case m.Size == 0:
		m.Reason = "its configured memory is not stated"
	case v.locked():
		m.Reason = Locked
	case held:
		m.Reason = fmt.Sprintf("its memory limit of %s keeps it from using all its memory: remove the limit first, no downtime is needed", limit)
	case !known:
		m.Reason = "no active memory (Touched MBytes)"
	case o.short(seen):
		m.Reason = fmt.Sprintf("%s of %s observed", words.Duration(seen), words.Duration(o.Least))
	default:
		m.bound(o)
	}
	return m
}

// bound sets the range.
func (m *Memory) bound(o *Options) {
	low := max(roundUp(numa.Bytes(float64(m.ActivePeak)*(1+float64(o.Headroom)))), m.Reserved)
	if low >= m.Size {
		m.Reason = "peak active memory with headroom, or what is reserved, is its size"
		return
	}
	m.Low, m.High = low, m.Size
	if m.Consumed > 0 {
		m.High = min(m.Size, max(low, roundUp(m.Consumed)))
	}
}

// locked reports whether the memory cannot shrink.
func (v *VM) locked() bool {
	return v.exclusive() || v.Config != nil && v.Config.AllReserved()
}

// memoryLimit returns the memory limit, if it is below the memory.
func (v *VM) memoryLimit() (limit numa.Bytes, ok bool) {
	if v.Config == nil {
		return 0, false
	}
	return v.Config.LimitedTo()
}

// exclusive reports whether each vCPU has a PCPU of its own (rule book B-21): its run time then
// does not show its need.
func (v *VM) exclusive() bool {
	return v.Config != nil && v.Config.LatencyHigh()
}

// fit computes the excess of the memory over the nodes of the vCPUs.
func (m *Memory) fit(node numa.Bytes, nodes int) {
	room := node * numa.Bytes(nodes)
	if node <= 0 || m.Size <= room {
		return
	}
	m.Node, m.Nodes, m.Over = node, nodes, m.Size-room
	m.Fits = m.Low > 0 && m.Low <= room
}
