package fit

import (
	"example.org/homenode/internal/binpack"
	"example.org/homenode/numa"
)

// kind is the capacity of the nodes for VMs, without a limit on the number of hosts.
func (r *room) kind() binpack.Kind {
	k := binpack.Kind{Bins: binpack.Endless}
	for i, n := range r.host.Nodes {
		k.Nodes = append(k.Nodes, binpack.Size{CPU: int64(r.vcpus[i]), Mem: int64(n.Memory.Value)})
	}
	return k
}

// batch is the demand of the VMs of the item.
func (it *item) batch() binpack.Batch {
	b := binpack.Batch{Things: it.count, Spills: it.spills}
	for _, c := range it.clients {
		b.Parts = append(b.Parts, binpack.Size{CPU: int64(c.vcpus), Mem: int64(c.memory)})
	}
	return b
}

// most returns an upper bound of the VMs of the item on one host, for any placement.
func (r *room) most(it *item) int {
	k, b := r.kind(), it.batch()
	b.Things = maxPerHost
	return k.Most(&b)
}

// leastFor returns a lower bound of the hosts for running VMs of which only the sums are known, and described ones; 0 without the former.
func (r *room) leastFor(a *Ask) int {
	if a.Running == nil {
		return 0
	}
	all := *a.Running
	for _, s := range a.Shapes {
		if s.VMs == nil {
			all.VMs, all.VCPUs, all.Memory = all.VMs+s.Count, all.VCPUs+s.Count*s.VCPUs, all.Memory+numa.Bytes(s.Count)*s.Memory
		}
	}
	vcpus, memory := 0, numa.Bytes(0)
	for i, n := range r.host.Nodes {
		vcpus, memory = vcpus+r.vcpus[i], memory+n.Memory.Value
	}
	return max(binpack.Ceil(all.VMs, maxPerHost), binpack.Ceil(all.VCPUs, max(1, vcpus)), binpack.Ceil(int(all.Memory/numa.MiB), max(1, int(memory/numa.MiB))))
}

// leastHosts returns a lower bound of the hosts for the items, for any placement of their clients.
func (r *room) leastHosts(items []item) int {
	vms, batches := 0, make([]binpack.Batch, len(items))
	for i := range items {
		vms, batches[i] = vms+items[i].count, items[i].batch()
	}
	return max(binpack.Ceil(vms, maxPerHost), binpack.Fewest([]binpack.Kind{r.kind()}, batches))
}
