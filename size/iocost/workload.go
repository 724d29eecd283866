package iocost

import "example.org/homenode/numa/unit"

// A Policy is the storage policy of vSAN objects.
type Policy string

// The policies. Only RAID-5 was measured.
const (
	RAID0 Policy = "raid-0"
	RAID1 Policy = "raid-1"
	RAID5 Policy = "raid-5"
	RAID6 Policy = "raid-6"
)

// A Workload is traffic of one kind: I/Os of storage, traffic of a network or of memory. It is the
// sum over all hosts.
type Workload struct {
	Kind
	// Rate is I/Os a second of storage; for a vSAN cluster those of its guests.
	Rate unit.IORate
	// TX and RX are the traffic that a network sends and receives.
	TX unit.BitRate
	RX unit.BitRate
	// Traffic is the transfer rate of memory.
	Traffic unit.BitRate
	Policy  Policy // of vSAN; "" is RAID-5
	// IPC is the work per cycle of the hosts relative to the measured CPU; 0 is that of the question.
	IPC float64
}

// storage reports whether the workload is I/Os.
func (w *Workload) storage() bool { return w.Path == NVMe || w.Path == VSANESA }

// A Cluster is a set of equal hosts.
type Cluster struct {
	Name  string // "" when flags state the hosts
	Hosts int
	Cores int     // of a host
	Core  unit.Hz // base frequency
	// CoreGiven reports that Core was not read from the inventory in Name.
	CoreGiven bool
}
