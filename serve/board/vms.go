package board

import (
	"cmp"
	"slices"
	"time"

	"example.org/homenode/numa"
)

// A VMNow is the current state of a VM.
type VMNow struct {
	VCenter  string       `json:"vcenter"`
	Cluster  string       `json:"cluster,omitempty"`
	Host     string       `json:"host"`
	VM       string       `json:"vm"`
	VMID     string       `json:"vmId,omitempty"`
	Time     time.Time    `json:"time"`
	VCPUs    int          `json:"vcpus,omitempty"`
	Homes    []int        `json:"homeNodes"`          // empty for a VM without home node
	Local    numa.Bytes   `json:"local"`              // bytes
	Remote   numa.Bytes   `json:"remote"`             // bytes
	Locality *float64     `json:"locality,omitempty"` // N%L as a share; absent without memory
	Ready    *float64     `json:"ready,omitempty"`    // share of time per vCPU
	Moves    numa.Moves   `json:"migrations"`         // since the collector first saw it here
	HostID   string       `json:"-"`
	HomeSet  numa.NodeSet `json:"-"` // the same as Homes
}

// VMs returns every visible VM, lowest locality first, those without locality last.
func (b *Board) VMs() []VMNow {
	return b.VMsOf(func(*Host, string) bool { return true })
}

// VMsOf is VMs, restricted to the VMs for which keep is true.
func (b *Board) VMsOf(keep func(h *Host, id string) bool) (all []VMNow) {
	b.Each(func(h *Host) {
		for i := range h.Tick.VMs {
			if !keep(h, h.VMs[i].ID) {
				continue
			}
			t := &h.Tick.VMs[i]
			v := VMNow{VCenter: h.VCenter, Cluster: h.Cluster, Host: h.Name, HostID: h.ID, VM: t.Name, VMID: h.VMs[i].ID, Time: h.Tick.Time,
				VCPUs: t.VCPUs, Homes: slices.AppendSeq([]int{}, t.Homes.All()), HomeSet: t.Homes, Local: t.Local, Remote: t.Remote, Moves: h.VMs[i].Totals.Moves}
			if share, ok := t.Locality(); ok {
				v.Locality = &share
			}
			if t.Has&numa.HasReady != 0 && t.VCPUs > 0 {
				ready := t.Ready / float64(t.VCPUs)
				v.Ready = &ready
			}
			all = append(all, v)
		}
	})
	slices.SortFunc(all, func(a, b VMNow) int {
		return cmp.Or(cmp.Compare(known(a.Locality, 2), known(b.Locality, 2)), cmp.Compare(a.VM, b.VM), cmp.Compare(a.VCenter, b.VCenter), cmp.Compare(a.Host, b.Host), cmp.Compare(a.VMID, b.VMID))
	})
	return all
}

// known returns the value, or the default for nil.
func known(v *float64, or float64) float64 {
	if v == nil {
		return or
	}
	return *v
}

// A NodeNow is the current state of a NUMA node of a host.
type NodeNow struct {
	Node     int
	Busy     *float64   // share of its cores in use; nil if not stated
	Total    numa.Bytes // 0 if not stated
	Free     *numa.Bytes
	VMs      int      // VMs with this home node
	Locality *float64 // N%L of these VMs together, as a share; nil without memory
}

// NodesNow returns the nodes of a host as of its last tick. A VM with several home nodes counts on each.
func (h *Host) NodesNow() []NodeNow {
	all := make([]NodeNow, 0, len(h.Tick.Nodes))
	for i := range h.Tick.Nodes {
		t := &h.Tick.Nodes[i]
		n := NodeNow{Node: t.ID}
		if busy, ok := t.Busy(); ok {
			n.Busy = &busy
		}
		if t.Has&numa.HasTotal != 0 {
			n.Total = t.Total
		}
		if t.Has&numa.HasFree != 0 {
			free := t.Free
			n.Free = &free
		}
		var local, remote numa.Bytes
		for j := range h.Tick.VMs {
			v := &h.Tick.VMs[j]
			if v.Has&numa.HasHomes == 0 || !v.Homes.Has(t.ID) {
				continue
			}
			n.VMs++
			if v.Has&numa.HasMemory != 0 {
				local, remote = local+v.Local, remote+v.Remote
			}
		}
		if local+remote > 0 {
			share := float64(local) / float64(local+remote)
			n.Locality = &share
		}
		all = append(all, n)
	}
	return all
}
