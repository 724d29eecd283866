package pack

import (
	"cmp"
	"slices"

	"example.org/homenode/internal/binpack"
)

// A Bound is the limit that no plan can exceed.
type Bound struct {
	Hosts int   `json:"hosts"` // minimum for placing all VMs that fit some host
	VCPUs int64 `json:"vcpus"` // maximum that can be placed
}

// bound returns the minimum number of hosts for all VMs, and the number of vCPUs that would fit if VMs were divisible and the
// cores and memory of each host were pooled.
func (m *model) bound() Bound {
	kinds := make([]binpack.Kind, len(m.kinds))
	var all binpack.Size
	for k, hosts := range m.kinds {
		h := m.heads[k]
		for n := m.first[h]; n < m.last(h); n++ {
			kinds[k].Nodes = append(kinds[k].Nodes, binpack.Size{CPU: m.cpu[n], Mem: m.nodeMem(n)})
		}
		kinds[k].Bins = len(hosts)
		all = all.Plus(m.bins.Bins[h].Times(len(hosts)))
	}
	batches, at := []binpack.Batch{}, map[int]int{} // by shape
	for _, v := range m.packed {
		it := &m.items[v]
		i, ok := at[it.shape]
		if !ok {
			i = len(batches)
			at[it.shape] = i
			b := binpack.Batch{Groups: m.bins.Groups[v], On: m.fits[int(v)*len(kinds):][:len(kinds)]}
			for _, c := range it.cells {
				b.Parts = append(b.Parts, binpack.Size{CPU: c.cpu, Mem: c.mem})
			}
			batches = append(batches, b)
		}
		batches[i].Things++
	}
	vcpus := min(m.divisible(all.CPU, func(it *item) int64 { return it.all.CPU }), m.divisible(all.Mem, func(it *item) int64 { return it.all.Mem }))
	return Bound{Hosts: binpack.Fewest(kinds, batches), VCPUs: min(m.wanted, vcpus)}
}

// nodeMem is the total memory of a node for VMs.
func (m *model) nodeMem(n int32) int64 {
	mem := m.mem[n]
	for s := range m.sizes {
		mem += m.pool[int(n)*len(m.sizes)+s]
	}
	return mem
}

// divisible returns the maximum number of vCPUs within a total of a resource if VMs were divisible: VMs that need least of it
// per vCPU come first.
func (m *model) divisible(sum int64, of func(*item) int64) (vcpus int64) {
	list := slices.Clone(m.packed)
	each := func(v int32) float64 { return float64(of(&m.items[v])) / float64(max(1, m.items[v].vcpus)) }
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(each(a), each(b)), cmp.Compare(a, b)) })
	for _, v := range list {
		need, n := of(&m.items[v]), m.items[v].vcpus
		if need > sum {
			return vcpus + int64(float64(n)*(float64(sum)/float64(need))+1e-6) // rounded up
		}
		sum -= need
		vcpus += n
	}
	return vcpus
}
