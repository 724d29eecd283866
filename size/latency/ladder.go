// Package latency says how long a step of a request takes, from the cache to the remote
// call: the published figures, the user's own beside them, and how many of each fit a
// time. Steps are counted one after the other.
package latency

import (
	"slices"

	"homenode/esxi/cost"
	"homenode/numa"
	"homenode/numa/unit"
)

// A Step is one thing that a request waits for.
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
	Call      Step = "call"
	Ethernet  Step = "ethernet"
	RDMA      Step = "rdma"
	NVMeRead  Step = "nvme-read"
	NVMeWrite Step = "nvme-write"
	VSANRead  Step = "vsan-read"
	VSANWrite Step = "vsan-write"
	RPCFast   Step = "rpc-c++"
	RPC       Step = "rpc"
)

// A Rung is one step of the ladder as it was published.
type Rung struct {
	Step Step   `json:"step"`
	Name string `json:"name"`
	// Published is nil when nobody published the step.
	Published *unit.Figure[unit.Seconds] `json:"published,omitempty"`
	// Clocked says that the step takes a number of cycles: its time is by the core's clock.
	Clocked bool `json:"clocked,omitempty"`
	// Minor rungs are shown with the details, or when the user measured them.
	Minor bool `json:"-"`
}

// Articles.
const (
	denneman2019 = "Denneman 2019/10/14 (A-10)"
	callLatency  = "exp B-15"
	hostTypes    = "8 hosts (A-10, exp D-4)"
)

// CoreOf2019 is the clock of the article that publishes caches: 0.4 ns a cycle.
const CoreOf2019 = 2.5 * unit.GHz

// Ladder returns the published rungs, for a core of that clock; caches that run with the
// core take their cycles of it. Memory is that of a machine of package cost, or the median
// of all published hosts when m is nil.
func Ladder(core unit.Hz, m *cost.Machine) []Rung {
	ns := func(v float64, source, note string) *unit.Figure[unit.Seconds] {
		f := unit.Exactly(unit.Seconds(v/1e9), unit.Published, source, "")
		f.Note = note
		return &f
	}
	clocked := func(v float64, note string) *unit.Figure[unit.Seconds] {
		f := ns(v, denneman2019, note)
		if core != CoreOf2019 {
			*f = f.Times(float64(CoreOf2019) / float64(core))
			f.Origin = unit.Derived
		}
		return f
	}
	storage := func(v, low, high float64, source, hardware, note string) *unit.Figure[unit.Seconds] {
		return &unit.Figure[unit.Seconds]{Value: unit.Seconds(v / 1e3), Low: unit.Seconds(low / 1e3), High: unit.Seconds(high / 1e3),
			Origin: unit.Published, Source: source, Hardware: hardware, Note: note}
	}
	const (
		consumer = "consumer NVMe, Xeon E5-2620 2.0 GHz"
		esa      = "vSAN ESA, 6 hosts, Xeon Gold 6544Y"
		quoted   = " cycles quoted from ChatGPT by exp B-9"
		nvme     = "in the guest, one I/O at a time; the range is that of random I/O of 512 B to 256 KiB"
		loaded   = "under full load with an IOPS limit, not idle; the range is that of 32 KiB random and 1 MiB sequential I/O"
	)
	rpc := storage(280, 40, 300, callLatency, "", "a microservice call with gRPC in Python; it is the program, not the network")
	fast := storage(28, 4, 30, callLatency, "", "the article claims, and did not measure, that C++ is 10 times as fast")
	fast.Origin = unit.Assumed
	local, near, far := memory(m)
	return []Rung{
		{Step: L1, Name: "L1 cache", Published: clocked(1.6, "4 cycles; 3 to 5"+quoted), Clocked: true},
		{Step: L2, Name: "L2 cache", Published: clocked(4.8, "12 cycles; 10 to 20"+quoted), Clocked: true},
		{Step: L3, Name: "L3 cache", Published: ns(15.2, denneman2019, "38 cycles of 0.4 ns; 30 to 50"+quoted)},
		{Step: L3Far, Name: "L3, other package", Published: ns(63, denneman2019, ""), Minor: true},
		{Step: RAM, Name: "RAM, local", Published: local},
		{Step: RAMNear, Name: "RAM, same package", Published: near, Minor: true},
		{Step: RAMFar, Name: "RAM, other package", Published: far},
		{Step: RAMOnly, Name: "RAM, node without CPUs", Minor: true},
		{Step: Call, Name: "function call, Python", Published: ns(370, callLatency, "local")},
		{Step: Ethernet, Name: "25 GE Ethernet", Published: ns(480, callLatency, "what 1,500 bytes take on the wire; not a round trip through two hosts")},
		{Step: RDMA, Name: "RDMA, RoCE", Published: ns(3000, callLatency, "")},
		{Step: NVMeWrite, Name: "local NVMe write", Published: storage(.23, .2, 1.41, "exp B-1, 4 KiB random", consumer, nvme), Minor: true},
		{Step: NVMeRead, Name: "local NVMe read", Published: storage(.26, .25, 1.36, "exp B-1, 4 KiB random", consumer, nvme)},
		{Step: VSANWrite, Name: "vSAN ESA write", Published: storage(1.74, 1.74, 8.68, "exp B-5, 32 KiB random", esa, loaded), Minor: true},
		{Step: VSANRead, Name: "vSAN ESA read", Published: storage(2.03, 1.55, 6.38, "exp B-5, 32 KiB random", esa, loaded)},
		{Step: RPCFast, Name: "remote call, C++", Published: fast, Minor: true},
		{Step: RPC, Name: "remote call, Python", Published: rpc},
	}
}

// memory returns the latency of memory by distance. The range is that of all published
// hosts, also when the machine is known.
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
	if m == nil { // one host alone: its ratio holds for others, its absolute figure does not
		f := local.Times(nearOfSNC / localOfSNC)
		f.Low, f.High = f.Value, f.Value
		f.Source, f.Note = "Denneman 2022/09/21 (A-10)", "81.5 ns on Skylake with SNC, 1.1 × its local 74.2 ns"
		near = &f
	}
	return local, near, far
}

// Idle latency of Skylake with SNC, in ns: of the node itself and of the other one of the
// package. Nobody else published the second.
const localOfSNC, nearOfSNC = 74.2, 81.5

// span returns the median, the least and the greatest of values in seconds.
func span(values []float64) (median, low, high unit.Seconds) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return unit.Seconds((v[(n-1)/2] + v[n/2]) / 2), unit.Seconds(v[0]), unit.Seconds(v[n-1])
}

// A Ratio is one latency as a multiple of another on the same host.
type Ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// RemoteRatio returns far ÷ local of the published hosts, the median and the range.
func RemoteRatio() Ratio {
	var all []float64
	for _, host := range cost.Table() {
		all = append(all, host.Paths[cost.Far].Nanoseconds.Value/host.Paths[cost.Local].Nanoseconds.Value)
	}
	v, low, high := span(all)
	return Ratio{float64(v), float64(low), float64(high)}
}
