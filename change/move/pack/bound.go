package pack

import (
	"cmp"
	"slices"

	"homenode/internal/binpack"
)

// A Bound is what no plan can better.
type Bound struct {
	Hosts int   `json:"hosts"` // needed to place all VMs that some host takes
	VCPUs int64 `json:"vcpus"` // that can be placed
}

// bound returns the largest of these numbers of hosts
//
//	all vCPUs and all memory ÷ those of the largest hosts
//	cells of more than half a node, which share none, and what the others need beside
//	them, for vCPUs and for memory (binpack.Least), by the nodes of the hosts with most
//	VMs that must be apart
//	for each kind of host what only it takes, in sum
//
// and the vCPUs that would fit were VMs divisible and each host's cores and memory one.
func (m *model) bound() Bound {
	var hosts []int32
	for _, k := range m.kinds {
		hosts = append(hosts, k...)
	}
	b := Bound{Hosts: m.least(m.packed, hosts), VCPUs: m.wanted}
	only := 0
	for k := range m.kinds {
		var list []int32
		for _, v := range m.packed {
			row := m.fits[int(v)*len(m.kinds):][:len(m.kinds)]
			if row[k] && !slices.Contains(row[:k], true) && !slices.Contains(row[k+1:], true) {
				list = append(list, v)
			}
		}
		only += m.least(list, m.kinds[k])
	}
	b.Hosts = max(b.Hosts, only)
	var cpu, mem int64
	for _, h := range hosts {
		cpu, mem = cpu+m.hostCPU[h], mem+m.hostMem[h]
	}
	b.VCPUs = min(b.VCPUs, m.divisible(cpu, func(it *item) int64 { return it.cpu }), m.divisible(mem, func(it *item) int64 { return it.mem }))
	return b
}

// least bounds how many of the hosts the VMs need.
func (m *model) least(vms, hosts []int32) int {
	if len(vms) == 0 {
		return 0
	}
	var cpu, mem int64
	cpus, mems, groups := map[int64]int{}, map[int64]int{}, map[int]int{}
	apart := 1
	for _, v := range vms {
		it := &m.items[v]
		cpu, mem = cpu+it.cpu, mem+it.mem
		for _, g := range it.groups {
			groups[g]++
			apart = max(apart, groups[g])
		}
		for i := range it.cells {
			cpus[it.cells[i].cpu]++
			mems[it.cells[i].mem]++
		}
	}
	var mostCPU, mostMem int64
	for _, h := range hosts {
		for n := m.first[h]; n < m.last(h); n++ {
			mostCPU, mostMem = max(mostCPU, m.cpu[n]), max(mostMem, m.nodeMem(n))
		}
	}
	need := func(total int64, of func(h int32) int64) int {
		sizes := make([]int64, len(hosts))
		for i, h := range hosts {
			sizes[i] = of(h)
		}
		slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
		for i, s := range sizes {
			if total <= 0 {
				return i
			}
			total -= s
		}
		return len(hosts)
	}
	nodes := func(h int32) int64 { return int64(m.last(h) - m.first[h]) }
	withCores := func(h int32) (n int64) {
		for i := m.first[h]; i < m.last(h); i++ {
			n += int64(b2i(m.cores[i] > 0))
		}
		return n
	}
	return max(min(apart, len(hosts)), need(cpu, func(h int32) int64 { return m.hostCPU[h] }), need(mem, func(h int32) int64 { return m.hostMem[h] }),
		need(int64(binpack.Least(weights(cpus), mostCPU)), withCores), need(int64(binpack.Least(weights(mems), mostMem)), nodes))
}

// weights sorts what is there of each size; of nothing there is none.
func weights(counts map[int64]int) (out []binpack.Weight) {
	for size, n := range counts {
		if size > 0 {
			out = append(out, binpack.Weight{Size: size, Count: n})
		}
	}
	slices.SortFunc(out, func(a, b binpack.Weight) int { return cmp.Compare(a.Size, b.Size) })
	return out
}

// nodeMem is all memory of a node for VMs.
func (m *model) nodeMem(n int32) int64 {
	mem := m.mem[n]
	for s := range m.sizes {
		mem += m.pool[int(n)*len(m.sizes)+s]
	}
	return mem
}

// divisible returns the most vCPUs that a sum of something carries were VMs divisible: those that need least of
// it for a vCPU come first.
func (m *model) divisible(sum int64, of func(*item) int64) (vcpus int64) {
	list := slices.Clone(m.packed)
	each := func(v int32) float64 { return float64(of(&m.items[v])) / float64(max(1, m.items[v].vcpus)) }
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(each(a), each(b)), cmp.Compare(a, b)) })
	for _, v := range list {
		need, n := of(&m.items[v]), m.items[v].vcpus
		if need > sum {
			return vcpus + int64(float64(n)*(float64(sum)/float64(need))+1e-6) // no less than the quotient
		}
		sum -= need
		vcpus += n
	}
	return vcpus
}
