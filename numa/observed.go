package numa

import (
	"slices"
	"time"
)

// An Observation is an observed topology, in contrast to the one expected from the settings of the VM: it is compared with
// the prediction of the model.
type Observation struct {
	By   Observer `json:"by"`
	At   string   `json:"at"`             // file:line of its beginning
	Time string   `json:"time,omitempty"` // RFC 3339; empty when not stated
	Host string   `json:"host,omitempty"` // name of the host it ran on, as stated
	// Release is the release of the host at that time; it can be older than in the inventory.
	Release Fact[Release] `json:"release,omitzero"`
	Start   Start         `json:"start,omitempty"`

	// Config contains the settings at that time, as far as the observer states them; they can be older than those of the VM.
	// Zero if it states none. Their origins are places in the file.
	Config Config `json:"config,omitzero"`

	// The virtual node (VPD), NUMA client (PPD) and virtual socket of each vCPU,
	// in the order of the vCPUs.
	VPDs    Fact[[]int] `json:"vpds,omitzero"`
	PPDs    Fact[[]int] `json:"ppds,omitzero"`
	Sockets Fact[[]int] `json:"sockets,omitzero"`
	// Stated numbers of VPDs and PPDs: a log of 6.0 counts two PPDs where its lines name one.
	VPDCount    Fact[int] `json:"vpdCount,omitzero"`
	PPDCount    Fact[int] `json:"ppdCount,omitzero"`
	SocketCount Fact[int] `json:"socketCount,omitzero"`

	Slices  Fact[[]Bytes]      `json:"slices,omitzero"`  // guest memory of each VPD
	Homes   Fact[[]int]        `json:"homes,omitzero"`   // home nodes, each once; empty for a VM outside of the NUMA scheduler
	Clients Fact[[]ClientSeen] `json:"clients,omitzero"` // as listed by the scheduler
	// Local and Remote are the resident memory of the VM relative to its home nodes:
	// NLMEM and NRMEM of esxtop.
	Local  Fact[Bytes] `json:"local,omitzero"`
	Remote Fact[Bytes] `json:"remote,omitzero"`
	// OnNode is the resident memory of the VM on each host node that has any (GST_NDx of esxtop, numastat on KVM).
	OnNode Fact[[]MemoryOnNode] `json:"onNode,omitzero"`
	// Free is the free memory of each host node, by number; -1 if unknown.
	Free Fact[[]Bytes] `json:"free,omitzero"`

	// Together is the host node group of each vCPU, from latencies measured in the guest: the vCPUs of one group run on the
	// same host node. -1 if unknown for a vCPU. A node can run several clients.
	Together Fact[[]int] `json:"together,omitzero"`
	// Far is the share of memory that is remote to the measuring vCPUs, from latencies measured in the guest. It covers only
	// pages that a process in the guest can access or map, so it is not N%L of the VM.
	Far Fact[[]FarShare] `json:"far,omitzero"`
	// Lost is a lower bound of the share of time, in [0, 1], that the host took from threads of the guest.
	Lost Fact[float64] `json:"lost,omitzero"`
}

// Seen reports whether a measurement in a guest has any result: topology, host nodes, or lost time.
func (o *Observation) Seen() bool {
	return o.VPDs.Known() || o.VPDCount.Known() || o.Sockets.Known() || o.Together.Known() || o.Far.Known() || o.Lost.Known()
}

// NoHome reports whether the VM was observed without a home node on a host with several nodes.
func (o *Observation) NoHome() bool { return o.Homes.Known() && len(o.Homes.Value) == 0 }

// Locality returns N%L as a share in [0, 1]; false if it is missing, or the VM has no memory.
func (o *Observation) Locality() (share float64, ok bool) {
	all := o.Local.Value + o.Remote.Value
	if !o.Local.Known() || !o.Remote.Known() || all <= 0 {
		return 0, false
	}
	return float64(o.Local.Value) / float64(all), true
}

// Observe converts the tick's values of one of its VMs; where is the place they were read from.
func (t *Tick) Observe(v *VMTick, where string) Observation {
	o := Observation{By: ByEsxtop, At: where, Time: t.Time.UTC().Format(time.RFC3339), Host: t.Host}
	if v.Has&HasHomes != 0 && (v.Homes != 0 || len(t.Nodes) > 1) {
		o.Homes = ReadAt(slices.AppendSeq([]int{}, v.Homes.All()), where)
	}
	var free []Bytes
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Has&HasFree != 0 {
			for len(free) <= n.ID {
				free = append(free, -1)
			}
			free[n.ID] = n.Free
		}
	}
	if free != nil {
		o.Free = ReadAt(free, where)
	}
	if v.Has&HasMemory != 0 {
		o.Local, o.Remote = ReadAt(v.Local, where), ReadAt(v.Remote, where)
	}
	if v.OnNode != nil {
		o.OnNode = ReadAt(slices.Clone(v.OnNode), where)
	}
	return o
}

// Instant returns the Time; false when it is missing or not in RFC 3339.
func (o *Observation) Instant() (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, o.Time)
	return t, err == nil
}

// A ClientSeen is one NUMA client as the scheduler reports it.
type ClientSeen struct {
	ID     int   `json:"id"`
	Home   int   `json:"home"` // node; -1 for none
	VCPUs  int   `json:"vcpus"`
	Local  Bytes `json:"local"` // on the home node
	Remote Bytes `json:"remote"`
}

// A FarShare is the share of one kind of pages that is remote to the measuring vCPUs, with its 95 % interval, all in [0, 1].
type FarShare struct {
	Of    string  `json:"of"` // "fresh", "page cache" or "all", and the measuring vCPUs
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// An Observer is the source of an observed topology.
type Observer string

// The observers.
const (
	ByVMwareLog  Observer = "vmware.log"
	BySchedStats Observer = "sched-stats"
	ByEsxtop     Observer = "esxtop"
	ByLscpu      Observer = "lscpu"
	ByNumactl    Observer = "numactl"
	ByCoreinfo   Observer = "Coreinfo"
	ByMeasure    Observer = "homenode measure"
	ByNumastat   Observer = "numastat"
)

// InGuest reports whether the observer runs in the guest, without access to the host.
func (o Observer) InGuest() bool {
	return o == ByLscpu || o == ByNumactl || o == ByCoreinfo || o == ByMeasure
}

// A Start is the way in which the VM was started, if the observer reports it.
type Start string

// The starts that vmware.log distinguishes (rule book B-8).
const (
	FirstStart      Start = "first power-on" // no valid cookie was stored
	PowerOnStart    Start = "power-on"
	CheckpointStart Start = "checkpoint" // resumed from suspend, or arrived by vMotion
)
