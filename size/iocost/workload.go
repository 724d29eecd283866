package iocost

import (
	"fmt"
	"math"

	"homenode/numa"
	"homenode/numa/unit"
)

// A Policy is the storage policy of vSAN objects.
type Policy string

// The policies. Only RAID-5 was measured.
const (
	RAID0 Policy = "raid-0"
	RAID1 Policy = "raid-1"
	RAID5 Policy = "raid-5"
	RAID6 Policy = "raid-6"
)

// A Workload is traffic of one kind: I/Os of storage, traffic of a network or of memory.
// It is that of all hosts together.
type Workload struct {
	Kind
	// Rate is I/Os a second of storage; for a vSAN cluster those of its guests.
	Rate unit.IORate `json:"rate,omitempty"`
	// TX and RX are what a network sends and receives.
	TX unit.BitRate `json:"tx,omitempty"`
	RX unit.BitRate `json:"rx,omitempty"`
	// Traffic is what memory transfers.
	Traffic unit.BitRate `json:"traffic,omitempty"`
	Policy  Policy       `json:"policy,omitempty"` // of vSAN; "" is RAID-5
	// IPC is the work that a cycle of the hosts does, compared with one of the CPU that was
	// measured; 0 is Options.IPC.
	IPC float64 `json:"workPerCycle,omitempty"`
}

// storage reports whether the workload is I/Os.
func (w *Workload) storage() bool { return w.Path == NVMe || w.Path == VSANESA }

// Bits returns the traffic of the workload, both directions of a network.
func (w *Workload) Bits() unit.BitRate {
	switch {
	case w.storage():
		return w.Rate.Traffic(w.Block)
	case w.Path == Network:
		return w.TX + w.RX
	}
	return w.Traffic
}

// Times returns the workload with factor times the traffic.
func (w Workload) Times(factor float64) Workload {
	w.Rate *= unit.IORate(factor)
	w.TX *= unit.BitRate(factor)
	w.RX *= unit.BitRate(factor)
	w.Traffic *= unit.BitRate(factor)
	return w
}

// Options are what is assumed of all workloads.
type Options struct {
	IPC   float64 // see Workload.IPC; 0 means 1: a cycle is a cycle
	RDMA  bool    // vSAN over RDMA
	Rules bool    // the published rules of thumb instead of the measurements
}

// A Load is what a workload costs.
type Load struct {
	Workload
	CPU unit.Figure[unit.Hz] `json:"cpu"`
	// Network is the part of CPU that is TCP/IP between the hosts; nil when it is not known.
	Network *unit.Figure[unit.Hz] `json:"network,omitempty"`
	// Cost is that of one I/O; nil for what has none.
	Cost *Cost `json:"cost,omitempty"`
	// RDMA is what RDMA saves of it; nil without RDMA.
	RDMA *unit.Figure[unit.Share] `json:"rdma,omitempty"`
	// AtLeast says that CPU is a lower bound: only what the guest sees was measured.
	AtLeast bool `json:"atLeast,omitempty"`
	// PerBit is CPU by the traffic, options applied.
	PerBit unit.Figure[unit.CyclesPerBit] `json:"perBit"`
	Basis  Basis                          `json:"basis"`
	Why    []string                       `json:"why,omitempty"`
}

// Load returns what a workload costs. CPU is proportional to the traffic.
func (m *Model) Load(w Workload, o Options) (Load, error) {
	l := Load{Workload: w, Basis: Measured}
	if l.IPC == 0 {
		l.IPC = o.IPC
	}
	if l.IPC == 0 {
		l.IPC = 1
	}
	if !(l.IPC > 0) || math.IsInf(l.IPC, 0) {
		return Load{}, fmt.Errorf("found %v times the work per cycle, want more than 0", l.IPC)
	}
	if b := float64(w.Bits()); !(b > 0) || math.IsInf(b, 0) {
		return Load{}, fmt.Errorf("%s: found no traffic, want more than 0", w.Path)
	}
	var err error
	switch {
	case o.Rules:
		err = l.byRule()
	case w.storage():
		err = l.storageLoad(m)
	case w.Path == Network:
		l.PerBit, l.CPU = Transmit, sum(hz(Transmit, w.TX), hz(Receive, w.RX))
	case w.Path == RAM:
		l.Basis, l.PerBit, l.CPU = Estimated, Memory, hz(Memory, w.Traffic)
	default:
		err = fmt.Errorf("unknown path %q", w.Path)
	}
	if err != nil {
		return Load{}, err
	}
	if o.RDMA && w.Path == VSANESA && !o.Rules {
		saving := RDMASaved(l.Kind)
		l.RDMA, l.CPU = &saving, saved(l.CPU, saving)
		l.Basis = worse(l.Basis, Estimated) // measured on another cluster
		l.Network = nil                     // the saving is known of the whole I/O only
	}
	l.CPU = l.CPU.Times(1 / l.IPC)
	if l.Network != nil {
		n := l.Network.Times(1 / l.IPC)
		l.Network = &n
	}
	l.PerBit.Origin = unit.Derived
	l.PerBit.Value, l.PerBit.Low, l.PerBit.High = l.CPU.Value.PerBit(w.Bits()), l.CPU.Low.PerBit(w.Bits()), l.CPU.High.PerBit(w.Bits())
	return l, nil
}

// storageLoad fills in what the I/Os cost.
func (l *Load) storageLoad(m *Model) error {
	c, err := m.Cost(l.Kind)
	if err != nil {
		return err
	}
	l.Cost, l.Basis, l.Why, l.PerBit = &c, c.Basis, c.Why, c.PerBit
	l.CPU, l.AtLeast = atRate(c.PerIO, l.Rate), c.Scope == Guest
	if c.Network != nil {
		n := atRate(*c.Network, l.Rate)
		l.Network = &n
	}
	if l.Path == VSANESA && l.Policy != "" && l.Policy != RAID5 {
		l.Basis = Extrapolated
		l.Why = append(l.Why, fmt.Sprintf("%s was not measured: taken to cost as much as %s", l.Policy, RAID5))
	}
	return nil
}

// atRate returns the CPU of that many I/Os.
func atRate(c unit.Figure[unit.Cycles], r unit.IORate) unit.Figure[unit.Hz] {
	return unit.Figure[unit.Hz]{Value: c.Value.At(r), Low: c.Low.At(r), High: c.High.At(r), Origin: unit.Derived, Source: c.Source, Hardware: c.Hardware}
}

// hz returns the CPU of that much traffic.
func hz(c unit.Figure[unit.CyclesPerBit], b unit.BitRate) unit.Figure[unit.Hz] {
	return unit.Figure[unit.Hz]{Value: c.Value.At(b), Low: c.Low.At(b), High: c.High.At(b), Origin: unit.Derived, Source: c.Source, Hardware: c.Hardware}
}

// sum returns the sum of two amounts of CPU; the ends of their ranges add up.
func sum(a, b unit.Figure[unit.Hz]) unit.Figure[unit.Hz] {
	a.Value, a.Low, a.High = a.Value+b.Value, a.Low+b.Low, a.High+b.High
	return a
}

// saved returns CPU less a share of it: the most saved is the low end.
func saved(f unit.Figure[unit.Hz], s unit.Figure[unit.Share]) unit.Figure[unit.Hz] {
	f.Value *= unit.Hz(1 - s.Value)
	f.Low *= unit.Hz(1 - s.High)
	f.High *= unit.Hz(1 - s.Low)
	return f
}

// A Sum is what workloads cost together.
type Sum struct {
	Loads []Load               `json:"loads"`
	CPU   unit.Figure[unit.Hz] `json:"cpu"`
	Basis Basis                `json:"basis"` // the weakest of the loads
	// AtLeast says that CPU is a lower bound, as that of a load is.
	AtLeast bool `json:"atLeast,omitempty"`
}

// Sum returns what workloads cost together. The error names the workload by its number,
// from 1.
func (m *Model) Sum(workloads []Workload, o Options) (Sum, error) {
	s := Sum{Basis: Measured, CPU: unit.Figure[unit.Hz]{Origin: unit.Derived}}
	for i, w := range workloads {
		l, err := m.Load(w, o)
		if err != nil {
			return Sum{}, fmt.Errorf("workload %d: %w", i+1, err)
		}
		s.Loads = append(s.Loads, l)
		s.CPU = sum(s.CPU, l.CPU)
		s.Basis = worse(s.Basis, l.Basis)
		s.AtLeast = s.AtLeast || l.AtLeast
	}
	return s, nil
}

// Within returns how much of a workload an amount of CPU allows: the workload with as much
// traffic as costs exactly that, and the factors for the ends of the range of its cost.
// The traffic that the workload has says only how its directions relate.
func (m *Model) Within(w Workload, cpu unit.Hz, o Options) (Workload, unit.Figure[unit.BitRate], error) {
	l, err := m.Load(w, o)
	if err != nil {
		return Workload{}, unit.Figure[unit.BitRate]{}, err
	}
	if !(cpu > 0) || math.IsInf(float64(cpu), 0) {
		return Workload{}, unit.Figure[unit.BitRate]{}, fmt.Errorf("found %v of CPU, want more than 0", cpu)
	}
	w = w.Times(float64(cpu / l.CPU.Value))
	bits := unit.Figure[unit.BitRate]{
		Value: w.Bits(), Low: w.Bits() * unit.BitRate(l.CPU.Value/l.CPU.High), High: w.Bits() * unit.BitRate(l.CPU.Value/l.CPU.Low), Origin: unit.Derived,
	}
	return w, bits, nil
}

// LimitUnit is the size that vSAN counts as one I/O against an IOPS limit: an assumption,
// which the published tests support (b-limits: reads of 1 MiB stopped at a 32nd).
const LimitUnit = 32 * numa.KiB

// Limit returns the I/Os of a size that IOPS limits of virtual disks allow together.
func Limit(disks int, each unit.IORate, block numa.Bytes) unit.IORate {
	units := max((block+LimitUnit-1)/LimitUnit, 1)
	return unit.IORate(float64(disks) * float64(each) / float64(units))
}

// A Cluster is hosts that are alike.
type Cluster struct {
	Name  string  `json:"name,omitempty"` // "" when flags state the hosts
	Hosts int     `json:"hosts"`
	Cores int     `json:"cores"` // of a host
	Core  unit.Hz `json:"core"`  // base frequency
	// CoreGiven says that Core is not from the inventory that Name is from.
	CoreGiven bool `json:"-"`
}

// Host returns the CPU of one host: cores × base frequency, without Hyper-Threading and
// turbo.
func (c Cluster) Host() unit.Hz { return unit.Hz(c.Cores) * c.Core }

// CPU returns the CPU of all hosts.
func (c Cluster) CPU() unit.Hz { return unit.Hz(c.Hosts) * c.Host() }
