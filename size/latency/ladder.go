// Package latency lists the latency of each step of a request, from the cache to the remote call:
// the published figures, the user's own beside them, and how many of each fit a time. Steps are
// counted one after the other.
package latency

import (
	"example.org/homenode/esxi/cost"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/datafile"
)

// A Step is an operation that a request waits for.
type Step string

// The steps, the fastest first.
const (
	L1        Step = "l1"
	L2        Step = "l2"
	L3        Step = "l3"
	L3Far     Step = "l3-far"
	RAM       Step = "ram"
	RAMNear   Step = "ram-near" // another node of the same package (SNC, NPS)
	RAMFar    Step = "ram-far"
	RAMOnly   Step = "ram-only" // a node without CPUs: CXL, persistent memory
	Syscall   Step = "syscall"  // not published, like Switch to FSync
	Call      Step = "call"
	Ethernet  Step = "ethernet"
	RDMA      Step = "rdma"
	Switch    Step = "switch" // a byte through a pipe to another thread
	Unix      Step = "unix"
	TCP       Step = "tcp"
	HTTP      Step = "http"
	RPCLike   Step = "rpc-like"
	FSync     Step = "fsync"
	NVMeRead  Step = "nvme-read"
	NVMeWrite Step = "nvme-write"
	VSANRead  Step = "vsan-read"
	VSANWrite Step = "vsan-write"
	RPCFast   Step = "rpc-c++"
	RPC       Step = "rpc"
)

// A Rung is one step of the ladder as published.
type Rung struct {
	Step      Step
	Name      string
	Published *unit.Figure[unit.Seconds] // nil when the step is not published
	Clocked   bool                       // it takes a fixed number of cycles, so its time depends on the core's clock
	Minor     bool                       // shown with the details, or when the user measured it
}

// hostTypes is the source of the memory latency.
const hostTypes = "8 hosts (A-10, d-latency)"

// CoreOf2019 is the clock in the article with the cache latencies: 0.4 ns a cycle.
const CoreOf2019 = 2.5 * unit.GHz

// Ladder returns the published rungs for a core of that clock; caches that run at the core's clock
// use its cycles. Memory latency is that of a machine of package cost, or the median of all
// published hosts when m is nil.
func Ladder(core unit.Hz, m *cost.Machine) []Rung {
	local, near, far := memory(m)
	known := map[Step]*unit.Figure[unit.Seconds]{RAM: local, RAMNear: near, RAMFar: far}
	var out []Rung
	for _, r := range datafile.Must[struct {
		Step                   Step
		Name                   string
		Value, Low, High       float64
		Unit                   string
		Origin                 unit.Origin
		Clocked, Minor         bool
		Source, Hardware, Note string
	}](published, "ladder.txt") {
		rung := Rung{Step: r.Step, Name: r.Name, Published: known[r.Step], Clocked: r.Clocked, Minor: r.Minor}
		if r.Origin != "" {
			per := map[string]float64{"ns": 1e9, "ms": 1e3}[r.Unit]
			f := unit.Exactly(unit.Seconds(r.Value/per), r.Origin, r.Source, r.Hardware)
			if f.Note = r.Note; r.High > 0 {
				f.Low, f.High = unit.Seconds(r.Low/per), unit.Seconds(r.High/per)
			}
			if r.Clocked && core != CoreOf2019 {
				f = f.Times(float64(CoreOf2019) / float64(core))
				f.Origin = unit.Derived
			}
			rung.Published = &f
		}
		out = append(out, rung)
	}
	return out
}

// memory returns the latency of memory by distance. The range is that of all published hosts, even
// when the machine is known.
func memory(m *cost.Machine) (local, near, far *unit.Figure[unit.Seconds]) {
	at := func(d cost.Distance) *unit.Figure[unit.Seconds] {
		var all []float64
		for _, host := range cost.Table() {
			if p := host.Paths[d].Nanoseconds; p.Origin.Kind != numa.Assumed {
				all = append(all, p.Value/1e9)
			}
		}
		value, low, high := span(all)
		f := unit.Figure[unit.Seconds]{Value: value, Low: low, High: high, Origin: unit.Derived, Source: hostTypes, Note: "the median, idle"}
		if m == nil {
			return &f
		}
		p := m.Paths[d].Nanoseconds
		f.Value, f.Source, f.Hardware, f.Note = unit.Seconds(p.Value/1e9), "A-10: "+m.ID, m.Name, "idle; "+p.Origin.Where
		f.Low, f.High = min(f.Low, f.Value), max(f.High, f.Value)
		switch {
		case p.Origin.Kind == numa.Assumed || m.Extrapolated: // another processor's
			f.Origin = unit.Assumed
		case p.Origin.Kind == numa.Read:
			f.Origin = unit.Published
		}
		return &f
	}
	local, near, far = at(cost.Local), at(cost.Near), at(cost.Far)
	if m == nil { // one host only: its ratio applies to others, its absolute figure does not
		f := local.Times(nearOfSNC / localOfSNC)
		f.Low, f.High = f.Value, f.Value
		f.Source, f.Note = "Denneman 2022/09/21 (A-10)", "81.5 ns on Skylake with SNC, 1.1 × its local 74.2 ns"
		near = &f
	}
	return local, near, far
}

// Idle latency of Skylake with SNC, in ns: of the node itself and of the other one of the package.
// The second is published nowhere else.
const localOfSNC, nearOfSNC = 74.2, 81.5
