package optimise

import "math"

// bound returns the largest of three lower bounds of the total. They hold because the excess
// over a node is never less for two clients together than for each alone, so that a host costs
// at least as much as its VMs cost alone.
//
//	each VM alone   in its best case on an empty host, including its own move and cycle
//	all together    memory and demand of all VMs against nodes and cores of all hosts
//	host by host    a host that loses and gains no VMs keeps its cost; any other host
//	                has half the move of an added VM, or one of its own VMs changes:
//	                by half a move, whose other half is the other host's, or by a cycle
func (m *model) bound(begin *state, after *Score) Bound {
	w := &m.weights
	alone, far, memory, demand, halves := int64(0), int64(0), int64(0), int64(0), int64(0)
	for h := range m.hosts {
		stay, least, extra := int64(0), int64(0), int64(math.MaxInt64)
		for _, v := range begin.On[h] {
			c := m.alone(v)
			alone, far = alone+c.paid, far+c.far
			best := min(c.stay, c.change)
			stay, least, extra = stay+c.stay, least+best, min(extra, c.change-best)
			memory += m.vms[v].Memory
			demand += int64(m.vms[v].VCPUs) * m.vms[v].Demand
		}
		now := 2 * (begin.cost[h] - broken*begin.excess(h, begin.On[h]))
		halves += min(now, stay+w.Move, least+min(extra, math.MaxInt64-least))
		for _, n := range m.hosts[h].Nodes {
			memory -= n.Memory
			demand -= int64(n.Cores) * wholeCore
		}
	}
	together := far*w.Far + max(0, memory)*w.Remote + max(0, demand)*w.Ready
	b := Bound{Total: max(alone, together, (halves+1)/2)} // a total is an integer
	b.Gap = after.Total - b.Total
	b.Proven = b.Gap == 0 && after.Broken == 0
	return b
}

// A single is the minimum cost of a VM alone.
type single struct {
	far  int64 // MiB far
	paid int64 // including its move and cycle
	// In halves: unchanged on its host, and changed, with half of its move.
	stay, change int64
}

// alone returns the minimum cost of VM v alone on any host. A VM that cannot change has half of
// the largest number for its change.
func (m *model) alone(v int32) single {
	vm, w := &m.vms[v], &m.weights
	const never = math.MaxInt64 / 2
	out := single{never, never, never, never}
	for _, h := range vm.Allowed {
		for s := range vm.Shapes {
			if !m.takes(h, v, int16(s)) {
				continue
			}
			f := m.fit(v, int16(s), h)
			cost, move, cycle := f.Far*w.Far+m.excessAlone(vm, f, h), m.moving(v, h), m.cycling(int16(s))
			out.far, out.paid = min(out.far, f.Far), min(out.paid, cost+move+cycle)
			if h == vm.Host && s == 0 {
				out.stay = 2 * cost
			} else {
				out.change = min(out.change, 2*cost+move+2*cycle)
			}
		}
	}
	return out
}

// excessAlone returns the cost on an empty host of clients that are larger than the largest
// node.
func (m *model) excessAlone(vm *VM, f *Fit, h int) (cost int64) {
	if !f.Managed {
		return 0
	}
	memory, cores := int64(0), int64(0)
	for _, n := range m.hosts[h].Nodes {
		memory, cores = max(memory, n.Memory), max(cores, int64(n.Cores))
	}
	first, all := int64(0), int64(vm.VCPUs)
	for _, c := range f.Clients {
		vcpus := int64(c)
		slice := vm.Memory*(first+vcpus)/all - vm.Memory*first/all
		first += vcpus
		cost += max(0, slice-memory)*m.weights.Remote + max(0, vcpus*vm.Demand-cores*wholeCore)*m.weights.Ready
	}
	return cost
}
