package numa

import "time"

// A Story is a fleet over time: the load of its VMs and the events. Sources of stories yield one;
// the simulation of the NUMA scheduler runs one.
type Story struct {
	Name   string        `json:"name"`  // of the source; used in errors
	Fleet  *Fleet        `json:"-"`     // at the start: powered-on VMs run
	Start  time.Time     `json:"start"` // UTC; day curves follow its time of day
	Length time.Duration `json:"length"`
	// Every is the time between two ticks of the trace: a multiple of Step.
	Every time.Duration `json:"every"`
	Seed  uint64        `json:"seed"` // of the noise of loads

	Used  []NodeUse `json:"used"`  // memory in use from the start: VMkernel, VMs that are not described
	Loads []VMLoad  `json:"loads"` // at the start; other VMs have Unstated
	Talks []Talk    `json:"talks"`
	// Unstated is the load of VMs that are not described, and its origin.
	Unstated Fact[Load] `json:"unstated"`
	Events   []Event    `json:"events"` // in the order of time; simultaneous ones in the order they happen

	// Seen are observations of running VMs at the start of the story: they are not placed but keep
	// their observed place.
	Seen []SeenVM `json:"seen"`
}

// Step is the time grid of a story: everything happens at a multiple of it. It is the period of the
// NUMA rebalancer (rule book C-8).
const Step = 2 * time.Second

// A NodeUse is memory of a node that is used outside the VMs of the fleet.
type NodeUse struct {
	Host   string // ID
	Node   int    // ID
	Memory Bytes
}

// A VMLoad is the load of one VM.
type VMLoad struct {
	VM   string // ID
	Load Load
}

// A Load is the demand of a guest from some moment on.
type Load struct {
	CPU Demand
	// Memory is the memory that the guest has touched: it grows to this value and never shrinks. A
	// negative value means all configured memory.
	Memory Bytes
	// Over is the duration in which touched memory grows to Memory, linearly.
	Over time.Duration
	// Shares of touched memory, in [0, 1].
	Active float64 // in use: the rest is idle
	Zero   float64 // pages of zeros: page sharing frees all but one of them within the VM
	Common float64 // pages that other VMs of the same Image have too
	Image  string  // the image that Common refers to; VMs without one share nothing
	// AsksLarge is the share of memory for which the guest itself requests large pages.
	AsksLarge float64
	Workload  string // one of Workloads; empty for mixed
}

// Workloads are the classes of the cost model.
var Workloads = []string{"latency", "bandwidth", "database", "cached", "mixed"}

// A Demand is the CPU demand of each vCPU over time, as a share of one core.
type Demand struct {
	// Low and High are the minimum and maximum of a day; equal for a constant load.
	Low, High float64
	Peak      time.Duration // time of day of High
	// Noise is the largest deviation of a draw; a new one is drawn every Draw.
	Noise float64
	// Points, if any, replace the day curve: recorded demand by time since the start of the story,
	// each value valid until the next.
	Points []DemandPoint
}

// Draw is the interval at which the demand of VMs changes: day curves and noise are evaluated on
// this grid of time since the start.
const Draw = 20 * time.Second

// A DemandPoint is the demand of each vCPU from a time on.
type DemandPoint struct {
	At    time.Duration
	Share float64
}

// A Talk is communication between two VMs (rule book C-11).
type Talk struct {
	A, B string  // IDs
	Rate float64 // per second
}

// A SeenVM is a running VM as it was observed.
type SeenVM struct {
	VM     string  // ID
	Host   string  // ID
	Homes  NodeSet //
	Local  Bytes   // on its home nodes
	Remote Bytes
	OnNode []MemoryOnNode // nil when not stated
}

// An Event is one event of a VM or a host.
type Event struct {
	At   time.Duration // since the start
	Line int           // of the source, from 1; 0 when it has none
	Text string        // as written in the source, without its time; "" if there is none
	Note string        // remark of the author; "" for none
	Kind EventKind
	VM   string // ID; for events of a VM
	Host string // ID; for events of a host, and as the target of a power-on or move ("" for the host where it is registered)

	Load    *Load    // LoadChange: the whole load from now on
	Config  *Config  // Resize, HotAdd: the whole configuration from now on
	Options Settings // OptionChange: options and their new values
	Talk    *Talk    // TalkChange; a rate of 0 ends it

	// Link is the network rate of a VMotion, per second; 0 for an instantaneous one. Dirty is the
	// rate, per second, at which the guest writes to new memory during the copy.
	Link, Dirty Bytes
}

// An EventKind is a kind of Event.
type EventKind uint8

// The kinds of events. Reboot is a reboot of the guest; it changes nothing unless
// vmx.reboot.PowerCycle is set (rule book D-1).
const (
	PowerOn EventKind = iota
	PowerOff
	Cycle // power off and on
	Reboot
	VMotion
	Resize // powered off, changed, powered on
	HotAdd // while it runs
	LoadChange
	TalkChange
	OptionChange
	Maintenance // evacuated by vMotion to other hosts of the cluster
	LeaveMaintenance
	Fail   // HA restarts its VMs on other hosts of the cluster
	Repair // back, empty
)

var eventNames = [...]string{"power-on", "power-off", "power-cycle", "reboot", "vmotion", "resize", "hot-add", "load", "talk", "set", "maintenance", "leave-maintenance", "fail", "repair"}

// String returns the kind as stories write it.
func (k EventKind) String() string { return eventNames[min(int(k), len(eventNames)-1)] }

// EventKinds are the kinds of events, in order.
func EventKinds() []EventKind {
	all := make([]EventKind, len(eventNames))
	for i := range all {
		all[i] = EventKind(i)
	}
	return all
}
