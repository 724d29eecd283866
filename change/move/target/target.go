// Package target converts descriptions of KVM hosts to hosts for packing a move: virsh capabilities, the outputs of lscpu and numactl,
// or hosts of a scenario.
//
// Missing facts are errors, never guesses; cores and memory of each node are required. Huge pages in capabilities count as free: no VM
// of the move runs there yet. KeptCores and KeptMemory are the caller's policy.
package target

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/move/pack"
	"example.org/homenode/numa"
	"example.org/homenode/source/guest"
	"example.org/homenode/source/libvirt"
)

// OfCapabilities converts virsh capabilities to a host with the given name.
func OfCapabilities(name string, c *libvirt.Host) (pack.Host, error) {
	read, notes := c.Host()
	read.Name = name
	h, err := OfHost(read)
	if err != nil && notes != nil {
		err = fmt.Errorf("%s: %s", name, notes[0])
	}
	return h, err
}

// A place is a logical CPU and the IDs that identify its core on the host.
type place struct {
	cpu  int
	core [3]int
}

// cores groups CPUs by core, in the order of the first CPU of each.
func cores(at []place) (out [][]int) {
	slices.SortFunc(at, func(a, b place) int { return cmp.Compare(a.cpu, b.cpu) })
	index := map[[3]int]int{}
	for _, p := range at {
		i, ok := index[p.core]
		if !ok {
			i = len(out)
			index[p.core] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], p.cpu)
	}
	return out
}

// OfViews converts outputs of lscpu and numactl -H, all of one host: the cores are from lscpu -e or -p, or from its threads per core;
// the memory is from numactl.
func OfViews(name string, views []*guest.View) (pack.Host, error) {
	h := pack.Host{Name: name}
	var nodes, memory, columns *guest.View
	threads, stated := 0, 0
	for _, v := range views {
		if len(v.Nodes) > 0 && nodes == nil {
			nodes = v
		}
		if len(v.Nodes) > 0 && v.Nodes[0].Size.Known() {
			memory = v
		}
		if len(v.CPUs) > 0 && !slices.ContainsFunc(v.CPUs, func(c guest.CPU) bool { return !c.Offline && (c.Core < 0 || c.Node < 0) }) {
			columns = v
		}
		threads = max(threads, v.ThreadsPerCore.Value)
		stated = max(stated, v.Sockets.Value*v.CoresPerSocket.Value)
	}
	switch {
	case memory == nil:
		return h, fmt.Errorf("%s: no output states the memory of its nodes: numactl -H does", name)
	case columns == nil && threads == 0:
		return h, fmt.Errorf("%s: no output states its cores: lscpu does", name)
	case nodes != nil && len(nodes.Nodes) > len(memory.Nodes):
		return h, fmt.Errorf("%s: numactl -H shows %d nodes and lscpu %d: are they of one host?", name, len(memory.Nodes), len(nodes.Nodes))
	}
	for _, m := range memory.Nodes {
		if !m.Size.Known() {
			return h, fmt.Errorf("%s: the memory of node %d is not stated", name, m.ID)
		}
		n := pack.Node{ID: m.ID, Memory: m.Size.Value}
		if columns != nil {
			var at []place
			for _, c := range columns.CPUs {
				if c.Node == m.ID && !c.Offline {
					at = append(at, place{c.Number, [3]int{c.Socket, 0, c.Core}})
				}
			}
			n.CPUs, n.Threads = cores(at), len(at)
			n.Cores = len(n.CPUs)
		} else if count, ok := coresOf(&m, memory.Nodes, threads, stated); ok {
			n.Threads, n.Cores = len(m.CPUs), count
			for _, cpu := range m.CPUs {
				if threads == 1 { // otherwise it is unknown which CPUs share a core
					n.CPUs = append(n.CPUs, []int{cpu})
				}
			}
		} else {
			return h, fmt.Errorf("%s: node %d has %d CPUs of cores with %d threads: lscpu -e says which", name, m.ID, len(m.CPUs), threads)
		}
		h.Nodes = append(h.Nodes, n)
	}
	if len(memory.Distance) == len(h.Nodes) {
		h.Distance = memory.Distance
	}
	return h, nil
}

// coresOf returns the cores of a node, calculated from the threads per core. If these do not account for the CPUs of all nodes (cores of
// two kinds, or threads that are off), it returns the number that the host states if the node has all of its CPUs; otherwise the cores
// are unknown.
func coresOf(m *guest.Node, all []guest.Node, threads, stated int) (cores int, ok bool) {
	total, n := 0, len(m.CPUs)
	for i := range all {
		total += len(all[i].CPUs)
	}
	if stated == 0 || stated*threads == total {
		return n / threads, n%threads == 0
	}
	if n == total && stated <= n {
		return stated, true
	}
	return 0, n == 0
}

// OfHost converts a host of capabilities or of a scenario, with its nodes and CPUs.
func OfHost(in *numa.Host) (pack.Host, error) {
	h := pack.Host{Name: in.Name}
	if !in.Nodes.Known() || len(in.Nodes.Value) == 0 {
		return h, fmt.Errorf("%s: its nodes are not known", in.Name)
	}
	for _, vendor := range []string{"AMD", "Intel"} {
		if strings.HasPrefix(in.CPUModel.Value, vendor) {
			h.Vendor = vendor
		}
	}
	cores := in.CoreCPUs.Value // of all nodes, one after the other
	for i, n := range in.Nodes.Value {
		if !n.Memory.Known() {
			return h, fmt.Errorf("%s: the memory of node %d is not known: numactl -H states it", in.Name, n.ID)
		}
		one := pack.Node{ID: n.ID, Cores: n.Cores, Threads: max(n.Cores, n.Threads), Memory: n.Memory.Value}
		if n.Cores > 0 && len(cores) >= n.Cores {
			one.CPUs, cores = cores[:n.Cores:n.Cores], cores[n.Cores:]
		}
		if i < len(in.Pools.Value) {
			one.Pages = huge(in.Pools.Value[i])
		}
		h.Nodes = append(h.Nodes, one)
	}
	if len(in.Distance.Value) == len(h.Nodes) {
		h.Distance = in.Distance.Value
	}
	return h, nil
}

// huge returns the pools of huge pages.
func huge(pools []numa.Pool) (out []numa.Pool) {
	for _, p := range pools {
		if p.Huge() {
			out = append(out, p)
		}
	}
	return out
}
