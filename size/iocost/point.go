// Package iocost computes the CPU cost of traffic: I/Os of local NVMe and vSAN ESA, network and
// memory. Its figures are measurements, published or the user's own, each with its source and
// hardware. It interpolates between them, and marks results outside them.
package iocost

import (
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// A Path is the route of the traffic.
type Path string

// The paths.
const (
	NVMe    Path = "nvme"     // local NVMe, VMFS, no vSAN
	VSANESA Path = "vsan-esa" // vSAN ESA, its network included
	Network Path = "network"  // TCP/IP
	RAM     Path = "ram"
)

// Name returns the path in words.
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
	// Network is the TCP/IP part of PerIO, between the hosts; nil when unknown.
	Network *unit.Figure[unit.Cycles] `json:"network,omitempty"`
	// Core is the base frequency of the measured cores; 0 unknown.
	Core unit.Hz `json:"core,omitempty"`
	Runs int     `json:"runs"` // number of measurements in the mean
	// Scope names the measured CPU. "" counts as Host.
	Scope Scope `json:"scope"`
}

// A Scope names the CPU whose use a cost counts.
type Scope string

// The scopes of points.
const (
	Host  Scope = "host"  // everything that the I/O uses
	Guest Scope = "guest" // as the guest sees it: without the hypervisor's part, a lower bound
)
