// Package iocost says how much CPU traffic costs: I/Os of local NVMe and vSAN ESA,
// network and memory. Its figures are measurements, published or the user's own,
// each with its source and hardware; between them it interpolates, and outside it says
// that it does.
package iocost

import (
	"homenode/numa"
	"homenode/numa/unit"
)

// A Path is what the traffic goes through.
type Path string

// The paths.
const (
	NVMe    Path = "nvme"     // local NVMe, VMFS, no vSAN
	VSANESA Path = "vsan-esa" // vSAN ESA, its network included
	Network Path = "network"  // TCP/IP
	RAM     Path = "ram"
)

// Name returns the path as a reader calls it.
func (p Path) Name() string {
	switch p {
	case NVMe:
		return "local NVMe"
	case VSANESA:
		return "vSAN ESA"
	case RAM:
		return "RAM"
	}
	return string(p)
}

// A Kind is I/Os of one kind.
type Kind struct {
	Path   Path       `json:"path"`
	Block  numa.Bytes `json:"block"`
	Read   unit.Share `json:"read"`   // share of I/Os that are reads; 0.7 for 70/30
	Random unit.Share `json:"random"` // share that are random
}

// A Point is the cost of one kind of I/O, measured.
type Point struct {
	Kind
	// PerIO is host CPU less that of the idle host, for one I/O of the guest.
	PerIO unit.Figure[unit.Cycles] `json:"perIO"`
	// Network is how much of PerIO is TCP/IP between the hosts; nil when it is not known.
	Network *unit.Figure[unit.Cycles] `json:"network,omitempty"`
	// Core is the base frequency of the cores it was measured on; 0 unknown.
	Core unit.Hz `json:"core,omitempty"`
	Runs int     `json:"runs"` // measurements it is the mean of
	// Scope is whose CPU was measured. "" counts as Host.
	Scope Scope `json:"scope"`
}

// A Scope says whose CPU a cost is of.
type Scope string

// The scopes of points.
const (
	Host  Scope = "host"  // all that the I/O takes
	Guest Scope = "guest" // as the guest sees it: the hypervisor's part is not in it, a lower bound
)
