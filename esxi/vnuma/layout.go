// Package vnuma predicts the virtual NUMA topology of a VM on a host: the NUMA clients (PPDs) that ESXi makes, the NUMA
// nodes (VPDs) that the guest sees, the placement of its memory and the sizes stored for its next power-on. The rules are
// those of the rule book; their ids (B-6, C-13 …) are cited in the code.
package vnuma

import (
	"fmt"

	"example.org/homenode/numa"
)

// An Event is an event in the life of the VM. The layout depends on it as well as on the settings (rule book D-1).
type Event uint8

// The events of a VM's life.
const (
	PowerCycle   Event = iota // power off, power on: stored sizes are used, clients recomputed
	FirstPowerOn              // sized afresh, as if nothing were stored
	Reboot                    // of the guest: nothing changes unless vmx.reboot.PowerCycle is set
	VMotionIn                 // the guest keeps its nodes, clients are recomputed for this host
	Resume                    // from suspend: as VMotionIn
	VCPUsChanged              // power-on after the vCPU count changed: sized afresh
)

var eventNames = [...]string{"power-cycle", "first-power-on", "reboot", "vmotion", "resume", "vcpus-changed"}

// String returns the name of the event as given on the command line.
func (e Event) String() string { return eventNames[e] }

// ParseEvent returns the event with this name.
func ParseEvent(name string) (Event, bool) {
	for i, n := range eventNames {
		if n == name {
			return Event(i), true
		}
	}
	return 0, false
}

// EventNames lists the names that ParseEvent knows.
func EventNames() []string { return eventNames[:] }

// A Reason explains the number of NUMA nodes that the guest sees.
type Reason uint8

// The reasons for the VPDs of a layout.
const (
	ByClients   Reason = iota // one VPD per client: the automatic size
	ByFit                     // the VM fits a node: one VPD
	ByRelease                 // ESX up to 4.1 shows no vNUMA (B-2)
	ByHardware                // virtual hardware before 8 shows no vNUMA (B-2)
	ByHotAdd                  // CPU hot add forces one VPD (B-15)
	ByManual                  // numa.vcpu.maxPerVirtualNode or coresPerNode (B-10)
	ByStored                  // the size stored at an earlier power-on (B-8)
	ByThreshold               // fewer vCPUs than numa.vcpu.min (B-3)
	ByCPS                     // cores per socket, up to 6.0 (B-11)
)

// A Placement is the placement of a running VM's memory.
type Placement uint8

// The placements of memory (rule book C-12, C-13, C-15).
const (
	Local       Placement = iota // each VPD's memory on the node of its client
	Overflowing                  // as Local; the overflow of a node is remote
	Interleaved                  // a VPD carried by several clients: spread over their nodes
	Anywhere                     // not NUMA-managed: no home node
)

// String returns the placement in one word.
func (p Placement) String() string {
	return [...]string{"local", "partly remote", "interleaved", "anywhere"}[p]
}

// A Layout is the NUMA topology a VM gets on a host. It is a plain value.
type Layout struct {
	Refused  Refusal // why the VM does not power on: then there is no layout
	VSockets Split   // the sockets the guest sees
	VPDs     Split   // the NUMA nodes the guest sees
	PPDs     Split   // NUMA clients: the units of placement and migration
	Managed  bool    // placed by the NUMA scheduler (rule book C-12, C-14)
	Why      Reason

	CoresPerSocket int // effective, after automatic choice
	// L3s counts the last-level caches that the guest sees: one per vSocket, each of the size of the physical one; 0 where
	// ESXi chooses them, which is not published (B-13).
	L3s         int
	Capacity    int   // most vCPUs of one client on this host
	Least       int   // fewest clients that the vCPU count needs on this host
	HomeNodes   int   // nodes its clients are placed on; 0 when not managed
	Nodes       int   // nodes of the host
	Hidden      int   // packages behind its only node; 0 for none
	memory      int64 // bytes; 0 when unknown
	equalSlices bool
	checkpoint  bool // resumed from a checkpoint: suspend or vMotion

	Memory Residency
	Stored Stored
	// Assumes lists the assumptions behind the layout.
	Assumes Assumptions
}

// A Residency is the placement of the VM's memory once all of it is touched, on an otherwise empty host.
type Residency struct {
	Known     bool // the memory of the VM and of the nodes is known
	Placement Placement
	// Local and Remote are relative to the union of the home nodes, as NLMEM and NRMEM of esxtop count them (C-17), once the
	// guest uses its touched memory. With Nowhere they add up to all memory.
	Local, Remote numa.Bytes
	// First is the part of Local that goes to other nodes at first: it migrates home when the guest uses it, and stays away
	// otherwise (C-15, C-16).
	First numa.Bytes
	// Crossed is the part of Local on another home node than that of the client that uses it: where more clients than nodes
	// share a full one, or a node joined those of a client (D-2). N%L counts it as local (C-17).
	Crossed numa.Bytes
	// Nowhere is the memory that does not fit the nodes the VM may use: it is ballooned or swapped (C-12, C-23).
	Nowhere numa.Bytes
	far     numa.Bytes // part of Local and Remote: on another node than the vCPUs that use it
	joined  bool       // nodes without clients join the home nodes (D-2)
}

// Joins reports whether nodes without clients join the home nodes (D-2).
func (r *Residency) Joins() bool { return r.joined }

// Measurable reports whether N%L and the counter of remote memory tell which part is remote: of interleaved memory they count all on the home
// nodes as local (C-17).
func (r *Residency) Measurable() bool { return r.Placement != Interleaved }

// String returns the placement in words; it is "partly remote" only with Remote memory.
func (r *Residency) String() string {
	switch {
	case r.Placement > Overflowing || r.Remote > 0:
		return r.Placement.String()
	case r.Nowhere > 0:
		return "partly ballooned or swapped"
	case r.Crossed > 0:
		return "partly on the home node of another client"
	}
	return r.Placement.String()
}

// Away returns the memory that is on no home node: Remote and Nowhere.
func (r *Residency) Away() numa.Bytes { return r.Remote + r.Nowhere }

// Missed returns the memory that is not on the node of the vCPUs that use it: Away, and also Crossed unless the host is
// full. On a full host it is unpredictable which clients share the rest.
func (r *Residency) Missed() numa.Bytes {
	if r.Nowhere > 0 {
		return r.Away()
	}
	return r.Away() + r.Crossed
}

// AwayText describes the memory on no home node: "88 GB remote", "8.3 GB ballooned or swapped".
func (r *Residency) AwayText() string {
	switch {
	case r.Nowhere == 0:
		return fmt.Sprintf("%s remote", r.Remote)
	case r.Remote == 0:
		return fmt.Sprintf("%s ballooned or swapped", r.Nowhere)
	}
	return fmt.Sprintf("%s remote and %s ballooned or swapped", r.Remote, r.Nowhere)
}

// CrossedText describes memory that only counts as local: "18.0 GB on the home node of another client".
func (l *Layout) CrossedText() string {
	where := "the home node of another client"
	if l.Memory.joined {
		where = "a node that joins the home nodes (D-2)"
	}
	return fmt.Sprintf("%s on %s, which N%%L counts as local", l.Memory.Crossed, where)
}

// Locality returns N%L as a share in [0, 1]; false when it is unknown.
func (r Residency) Locality() (share float64, ok bool) {
	if !r.Known || r.Local+r.Remote <= 0 {
		return 0, false
	}
	return float64(r.Local) / float64(r.Local+r.Remote), true
}

// Stored holds the sizes that the VM's configuration will have after the event (rule book B-8, B-9).
type Stored struct {
	Written bool // false: nothing is stored, or the event does not change it
	Size    int  // numa.autosize.vcpu.maxPerVirtualNode
	Cookie  int  // numa.autosize.cookie
}

// Wide reports whether the VM needs more than one NUMA client.
func (l *Layout) Wide() bool { return l.PPDs.Len() > 1 }

// GuestSeesNUMA reports whether the guest gets a NUMA topology: a single VPD is
// not shown as NUMA at all (rule book B-3).
func (l *Layout) GuestSeesNUMA() bool { return l.VPDs.Len() > 1 }

// HidesNUMA reports whether the VM runs as several clients while the guest sees no NUMA topology.
func (l *Layout) HidesNUMA() bool { return l.Wide() && !l.GuestSeesNUMA() }

// Carriers returns the first and last PPD that carry VPD i.
func (l *Layout) Carriers(i int) (first, last int) {
	v, n := l.VPDs.Group(i)
	return l.PPDs.Of(v), l.PPDs.Of(v + n - 1)
}

// Spanning returns the first VPD that is carried by more than one PPD.
func (l *Layout) Spanning() (vpd int, ok bool) {
	if l.VPDs == l.PPDs { // most layouts: one client a node
		return 0, false
	}
	for i := range l.VPDs.Len() {
		if a, b := l.Carriers(i); a != b {
			return i, true
		}
	}
	return 0, false
}

// Slice returns the memory of VPD i: equal for equal VPDs (rule book B-22), else
// in proportion to their vCPUs (F-12). It is 0 when the VM's memory is unknown.
func (l *Layout) Slice(i int) numa.Bytes {
	v, n := l.VPDs.Group(i)
	return share(l.memory, l.VPDs, i, v, n, l.equalSlices)
}

// share returns the part of memory that belongs to group i, in whole pages; the last group gets the rest.
func share(memory int64, s Split, i, first, n int, equal bool) numa.Bytes {
	page := int64(numa.PageSize)
	upTo := func(k, all int) int64 { return memory / page * int64(k) / int64(all) * page }
	from, to := upTo(first, int(s.n)), upTo(first+n, int(s.n))
	if equal {
		from, to = upTo(i, s.Len()), upTo(i+1, s.Len())
	}
	if i == s.Len()-1 {
		to = memory
	}
	return numa.Bytes(to - from)
}

// SameGuest reports whether the guest sees the same topology in both layouts.
func (l *Layout) SameGuest(o *Layout) bool {
	return l.VPDs.Equal(o.VPDs) && l.VSockets.Equal(o.VSockets)
}

// FarShare returns the share of memory that a vCPU finds on another node than its own client's, in [0, 1], for a guest that
// uses the nodes it sees. Memory interleaved over k home nodes is remote by 1 − 1/k, although N%L reads 100 (C-13, C-17);
// this does not depend on sizes. Memory that does not fit these nodes is remote as well. Where node interleaving hides k
// packages behind a single node it is 1 − 1/k, whatever N%L reports.
func (l *Layout) FarShare() float64 {
	if l.Hidden > 1 {
		return 1 - 1/float64(l.Hidden)
	}
	r := &l.Memory
	switch all := r.Local + r.Remote; {
	case r.Placement == Anywhere: // vCPUs and memory are spread over all nodes alike (C-12)
		return 1 - 1/float64(max(1, l.Nodes))
	case all > 0:
		return float64(r.far) / float64(all)
	}
	far := 0.0
	for c := range l.PPDs.Len() {
		far += float64(float64(l.PartOf(c, whole)) / whole * l.farAt(c, c%max(1, l.HomeNodes))) // no fused multiply-add
	}
	return far
}

// farAt returns the remote share of the accesses of client c to its memory on the home node with this number, -1 for another
// node. It is 1 except for its own node and for interleaved virtual nodes, of which each home has a part (C-13).
func (l *Layout) farAt(c, home int) float64 {
	homes := max(1, l.HomeNodes)
	switch {
	case home < 0:
		return 1
	case l.Memory.Placement != Interleaved:
		return float64(min(1, max(home-c%homes, c%homes-home)))
	}
	far, all := 0.0, int64(0)
	first, n := l.PPDs.Group(c)
	begin, end := l.VPDs.Of(first), l.VPDs.Of(first+n-1)
	for v := begin; v <= end; v++ {
		from, to := l.Carriers(v)
		share := 1.0
		if k := min(to-from+1, homes); (home-from%homes+homes)%homes < k {
			share -= 1 / float64(k)
		}
		if begin == end { // all its memory is of one virtual node
			return share
		}
		_, vcpus := l.VPDs.Group(v)
		at := c - from
		part := carried(whole/int64(l.VPDs.Sum())*int64(vcpus), at, to+1-from, homes)
		all += part
		far += float64(float64(part) * share) // no fused multiply-add
	}
	return far / float64(max(1, all))
}

// whole is an amount of memory for shares.
const whole = 1 << 40

// PartOf returns the part of client c in x bytes of the VM's memory.
func (l *Layout) PartOf(c int, x int64) int64 {
	if _, spans := l.Spanning(); spans {
		return PartOf(l.PPDs, l.VPDs, l.HomeNodes, c, x)
	}
	first, n := l.PPDs.Group(c)
	return part(x, first, n, l.PPDs.Sum())
}

// PartOf returns the part of client c in x bytes or pages of the memory of a VM, in proportion to vCPUs (F-12). The memory of a virtual node that several clients
// carry is on each of their homes alike (C-13).
func PartOf(clients, nodes Split, homes, c int, x int64) (sum int64) {
	first, n := clients.Group(c)
	for v, end := nodes.Of(first), nodes.Of(first+n-1); v <= end; v++ {
		sum += PartOfNode(clients, nodes, homes, c, v, x)
	}
	return sum
}

// PartOfNode is PartOf for the memory of one virtual node.
func PartOfNode(clients, nodes Split, homes, c, v int, x int64) int64 {
	begin, vcpus := nodes.Group(v)
	from := clients.Of(begin)
	carriers := clients.Of(begin+vcpus-1) + 1 - from
	at := c - from
	if at < 0 || at >= carriers {
		return 0
	}
	return carried(part(x, begin, vcpus, nodes.Sum()), at, carriers, homes)
}

// carried returns the part of the memory of a virtual node that one of its clients, counted from at = 0, carries.
func carried(memory int64, at, carriers, homes int) int64 {
	homes = min(carriers, max(1, homes)) // that of client at is at % homes
	sharing := (carriers-at%homes-1)/homes + 1
	return part(part(memory, at%homes, 1, homes), at/homes, 1, sharing)
}

// parts sets out to the part of each client in x bytes, as PartOf does. Clients with one home in common share by vCPUs, which makes no difference there.
func (l *Layout) parts(x int64, out []int64) {
	clients, all := l.PPDs.Len(), l.PPDs.Sum()
	if l.Memory.Placement != Interleaved {
		for c := range clients {
			first, n := l.PPDs.Group(c)
			out[c] = part(x, first, n, all)
		}
		return
	}
	clear(out[:clients])
	for v := range l.VPDs.Len() {
		begin, vcpus := l.VPDs.Group(v)
		from, to := l.Carriers(v)
		memory := part(x, begin, vcpus, all)
		for at := range to + 1 - from {
			out[from+at] += carried(memory, at, to+1-from, l.HomeNodes)
		}
	}
}
