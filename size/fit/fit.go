// Package fit computes how many VMs of a shape fit a host with every NUMA client local to its node,
// for described candidate hosts and for those of a fleet. Dividing cores and memory gives a bound;
// the result comes from the model of ESXi's layout (vnuma) and placement (placement.Place).
//
//	node      [ reserve | VM | VM | VM | rest ]      memory, and the same for cores
//	host      as many VMs as Place puts on the nodes before the first is not local
//	cluster   hosts − spare, packed VM by VM, the largest first
package fit

import (
	"fmt"
	"math"
	"slices"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// Options define when VMs fit. The zero value keeps no reserve, adds no overhead, and has no room
// for a vCPU: PerCore must be set.
type Options struct {
	// Reserve is the multiple of its soft reserve that each node keeps free (rule book C-15, C-23).
	// A node with less was observed to allocate new memory on other nodes.
	Reserve float64
	// PerCore is the number of vCPUs per core of a node.
	PerCore  float64
	Overhead Overhead
	Choices  vnuma.Choices
}

// Check returns an error for an invalid option.
func (o *Options) Check() error {
	switch {
	case !(o.Reserve >= 0 && o.Reserve <= 10):
		return fmt.Errorf("reserve: found %v, want 0 to 10 times the soft reserve", o.Reserve)
	case !(o.PerCore > 0 && o.PerCore <= 100):
		return fmt.Errorf("vCPUs per core: found %v, want more than 0, up to 100", o.PerCore)
	}
	return nil
}

// An Overhead is the memory of a VM in addition to that of its guest. The zero value is none.
type Overhead struct {
	Base    numa.Bytes `json:"base"`
	PerVCPU numa.Bytes `json:"perVCPU"`
	Share   unit.Share `json:"share"` // of the guest's memory
}

// PublishedOverhead fits the table of "Overhead Memory on Virtual Machines" (vSphere
// Resource Management, 5.0 to 6.7: 1 to 8 vCPUs, 256 MB to 16 GB) within 1.2 MB: the line
// through its 4 and 16 GB of one vCPU, and its vCPUs at 16 GB. Larger VMs are
// extrapolated.
//
//	14.2 MB + 4.14 MB a vCPU + 0.74 % of the memory
var PublishedOverhead = Overhead{
	Base: 14_858_000, PerVCPU: 4_341_000,
	Share: unit.Share((139.62 - 48.64) / (16384 - 4096)),
}

// Of returns the overhead of a VM in whole MiB, rounded up.
func (o *Overhead) Of(vcpus int, memory numa.Bytes) numa.Bytes {
	b := o.Base + numa.Bytes(vcpus)*o.PerVCPU + numa.Bytes(math.Round(float64(o.Share)*float64(memory)))
	return (b + numa.MiB - 1) / numa.MiB * numa.MiB
}

// guestWithin returns the most guest memory that fits into room together with its overhead, in
// whole MiB; 0 when not even the overhead fits.
func (o *Overhead) guestWithin(room numa.Bytes, vcpus int) numa.Bytes {
	lo, hi := numa.Bytes(0), max(0, room/numa.MiB)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if m := mid * numa.MiB; m+o.Of(vcpus, m) <= room {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo * numa.MiB
}

// A Shape is a set of identical VMs.
type Shape struct {
	Name   string      `json:"name"` // "12x96GB", or the user's name for it
	VCPUs  int         `json:"vcpus"`
	Memory numa.Bytes  `json:"memory"`
	Count  int         `json:"count,omitempty"` // 0: as many as fit
	VMs    []string    `json:"vms,omitempty"`   // names, of a fleet
	Guest  vnuma.Guest `json:"-"`
}

// String returns the shape in the form users type.
func (s *Shape) String() string { return fmt.Sprintf("%d vCPU and %s", s.VCPUs, s.Memory) }

// NewShape returns a VM of default settings: one core per socket, no hot add.
func NewShape(vcpus int, memory numa.Bytes) Shape {
	return Shape{
		Name: fmt.Sprintf("%dx%s", vcpus, compact(memory)), VCPUs: vcpus, Memory: memory,
		Guest: vnuma.Guest{VCPUs: int32(vcpus), CoresPerSocket: int32(numa.PlainCores(vcpus)), Memory: int64(memory)},
	}
}

// resized returns the shape with other sizes.
func (s Shape) resized(vcpus int, memory numa.Bytes) Shape {
	s.VCPUs, s.Memory = vcpus, memory
	s.Guest.VCPUs, s.Guest.Memory = int32(vcpus), int64(memory)
	return s
}

// A Type is a kind of host.
type Type struct {
	Name  string
	Host  numa.Host // as the model sees it
	Hosts int       // of this kind in the source; 0 for a described one
	// Releases are those of these hosts, oldest first; Host has the newest.
	Releases []numa.Release
	Price    float64 // of a host; 0 when unknown
}

// A room is a host with its capacity for VMs.
type room struct {
	machine vnuma.Machine
	host    placement.Host // the memory of its nodes is that left for VMs
	vcpus   []int          // capacity of each node
	reserve numa.Bytes     // of each node
	lesser  []*room        // with the same nodes, and less on them
}

// newRoom returns the capacity of a host for VMs. The error names an unknown fact.
func newRoom(h *numa.Host, o *Options) (*room, error) {
	m, err := vnuma.NewMachine(h)
	if err != nil {
		return nil, err
	}
	if m.AllMemory == 0 {
		return nil, fmt.Errorf("host %s: the memory of its NUMA nodes is unknown", h.Name)
	}
	r := &room{machine: m, host: placement.Of(h, vnuma.Choices{}), vcpus: make([]int, len(h.Nodes.Value))}
	r.host.Nodes = slices.Clone(r.host.Nodes)
	// Same as rule H007 and optimise: the reserve of the host, for each node (C-15 [I]).
	r.reserve = numa.Bytes(o.Reserve * float64(r.host.Reserve))
	r.host.Reserve = 0 // it is subtracted from the nodes, so that the overflow is remote
	for i := range r.host.Nodes {
		n := &r.host.Nodes[i]
		n.Memory.Value = max(0, n.Memory.Value-r.reserve)
		r.vcpus[i] = vcpusOf(n.Cores, o.PerCore)
	}
	return r, nil
}

// vcpusOf returns the vCPU capacity of so many cores. The small share keeps 3 × 1.1 from being less than 3.3.
func vcpusOf(cores int, perCore float64) int {
	return int(math.Floor(float64(float64(cores)*perCore) + 1e-9))
}

// layout predicts the shape on the host, powered on there.
func (r *room) layout(s *Shape, o *Options) vnuma.Layout {
	g := s.Guest
	return vnuma.Predict(&g, &r.machine, &vnuma.Case{Choices: o.Choices})
}

// powersOn reports whether ESXi starts the shape, and the reason if not.
func (r *room) powersOn(s *Shape) (why string, ok bool) {
	refused := vnuma.Refuse(&s.Guest, &r.machine)
	return refused.String() + ": it does not power on", !refused.Any()
}
