package rule

import (
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// NodesOf returns the nodes of the PCPUs, ascending; complete is false if the host lacks some PCPUs.
func NodesOf(h *numa.Host, pcpus []int) (nodes []int, complete bool) {
	complete = true
	for _, c := range pcpus {
		n, ok := h.NodeOfPCPU(c)
		if !ok {
			complete = false
			continue
		}
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), complete
}

// LackingPCPUs returns the PCPUs that the host does not have. It returns none if it is unknown whether cores have two threads.
func LackingPCPUs(h *numa.Host, pcpus []int) (out []int) {
	if !h.CPUs.Known() && !h.HyperThreading.Known() {
		return nil
	}
	for _, c := range pcpus {
		if _, ok := h.NodeOfPCPU(c); !ok {
			out = append(out, c)
		}
	}
	return out
}

// LackingNodes returns the nodes that the host does not have.
func LackingNodes(h *numa.Host, ids []int) (out []int) {
	for _, id := range ids {
		if !slices.ContainsFunc(h.Nodes.Value, func(n numa.Node) bool { return n.ID == id }) {
			out = append(out, id)
		}
	}
	return out
}

// Lacking lists the hosts and the objects named by the VM that they lack: "esx02 lacks node 2, with 2 nodes of 8 cores". on is their first
// kind according to Worst, nil for none.
func (p *Pass) Lacking(lacks func(*numa.Host) string) (on *On, text string) {
	on, _, ok := p.Worst(func(o *On) bool {
		return slices.ContainsFunc(o.Kind.Hosts, func(h *numa.Host) bool { return lacks(h) != "" })
	})
	if !ok {
		return nil, ""
	}
	var parts []string
	for i := range p.VM.On {
		var hosts []*numa.Host
		for _, h := range p.VM.On[i].Kind.Hosts {
			if lacks(h) != "" {
				hosts = append(hosts, h)
			}
		}
		if hosts == nil {
			continue
		}
		verb := " lack "
		if len(hosts) == 1 {
			verb = " lacks "
		}
		parts = append(parts, HostNames(hosts)+verb+lacks(hosts[0])+", with "+p.VM.On[i].Kind.Shape())
	}
	return on, strings.Join(parts, "; ")
}

// BoundTo returns the VMs that run on the host with the node in their numa.nodeAffinity, and the number of their vCPUs: those of a VM with
// several nodes are divided among them.
func (c *Cluster) BoundTo(h *numa.Host, node int) (vms []*VM, vcpus float64) {
	for _, v := range c.Running(h) {
		if list := vnuma.NodeAffinity(v.VM); !v.Guest.Affinity && slices.Contains(list, node) {
			vms, vcpus = append(vms, v), vcpus+float64(v.Guest.VCPUs)/float64(len(list))
		}
	}
	return vms, vcpus
}

// NodeOf returns the host node of a device of the VM, if known.
func (v *VM) NodeOf(d numa.Device) (node int, ok bool) {
	if v.Host == nil {
		return 0, false
	}
	return v.Host.NodeOf(d.PCI)
}

// ClearAffinity returns the way to clear the CPU and memory affinity of the VM.
func (v *VM) ClearAffinity() numa.Way {
	way := numa.Way{Do: "clear the CPU and memory affinity"}
	pcpus, memory := vnuma.PinnedPCPUs(v.VM), vnuma.PinnedMemory(v.VM)
	switch {
	case len(memory) == 0 && len(pcpus) > 0:
		way.Do = "clear the CPU affinity (Edit Settings, CPU, Scheduling Affinity)"
		if v.Cluster != "" { // vSphere Virtual Machine Administration 6.7, configure processor scheduling affinity
			way.Do = "clear the CPU affinity (Edit Settings, CPU, Scheduling Affinity: in a cluster with DRS that field is not shown, so move the VM off the cluster first)"
		}
	case len(pcpus) == 0 && len(memory) > 0:
		way.Do = "clear the memory affinity (sched.mem.affinity)"
	}
	if len(v.CPUAffinity.Value) > 0 {
		way.Edits, way.Auto = append(way.Edits, numa.Edit{Kind: numa.EditCPUAffinity, To: numa.Is("")}), len(memory) == 0
	}
	if len(v.MemoryAffinity.Value) > 0 {
		way.Edits = append(way.Edits, numa.Edit{Kind: numa.EditMemoryAffinity, To: numa.Is("")})
	}
	for _, s := range vnuma.AffinitySettings(v.VM) {
		way.Edits = append(way.Edits, numa.Unassign(s.Key))
	}
	return way
}
