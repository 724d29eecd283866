package optimise

import (
	"cmp"
	"math"
	"slices"
)

// bound returns the largest of four lower bounds of the total. They hold because the excess
// over a node is never less for two clients together than for each alone, so that a host costs
// at least as much as its VMs cost alone.
//
//	each VM alone   in its best case on an empty host, including its own move and cycle
//	all together    memory and demand of all VMs against nodes and cores of all hosts
//	host by host    a host that loses and gains no VMs keeps its cost; any other host
//	                has half the move of an added VM, or one of its own VMs changes:
//	                by half a move, whose other half is the other host's, or by a cycle
//	those that leave  the excess of a host stays, or VMs leave it at the price of a move each:
//	                k of them take no more than the k largest have
func (m *model) bound(begin *state, after *Score) Bound {
	w := &m.weights
	alone, fixed, memory, demand, halves, leaving := int64(0), int64(0), int64(0), int64(0), int64(0), int64(0)
	each := make([]single, len(m.vms))
	for v := range each {
		each[v] = m.alone(int32(v))
	}
	for h := range m.hosts {
		stay, least, extra := int64(0), int64(0), int64(math.MaxInt64)
		for _, v := range begin.On[h] {
			c := &each[v]
			alone, fixed = alone+c.paid, fixed+min(c.fixed, c.away)
			best := min(c.stay, c.change)
			stay, least, extra = stay+c.stay, least+best, min(extra, c.change-best)
			memory += m.vms[v].Memory
			demand += int64(m.vms[v].VCPUs) * m.vms[v].Demand
		}
		now := 2 * (begin.cost[h] - broken*begin.excess(h, begin.On[h]))
		halves += min(now, stay+w.Move, least+min(extra, math.MaxInt64-least))
		leaving += m.leaving(h, begin.On[h], each)
		memory -= m.all[h].memory
		demand -= m.all[h].demand
	}
	together := fixed + max(0, memory)*w.Remote + max(0, demand)*w.Ready
	b := Bound{Total: max(alone, together, (halves+1)/2, leaving)} // a total is an integer
	b.Gap = after.Total - b.Total
	b.Proven = b.Gap == 0 && after.Broken == 0
	return b
}

// leaving returns the least cost of the VMs of host h at the beginning, wherever they are then, and of the part of its excess that stays. Moves count
// where they begin.
func (m *model) leaving(h int, vms []int32, each []single) (cost int64) {
	n := need{memory: -m.all[h].memory, demand: -m.all[h].demand}
	var price, memory, demand []int64 // of those that leave if it pays for others
	for _, v := range vms {
		vm := &m.vms[v]
		c, d := &each[v], int64(vm.VCPUs)*vm.Demand
		cost += min(c.fixed, c.away)
		if c.away <= c.fixed {
			continue // it leaves anyway
		}
		n.memory, n.demand = n.memory+vm.Memory, n.demand+d
		price, memory, demand = append(price, c.away-c.fixed), append(memory, vm.Memory), append(demand, d)
	}
	slices.Sort(price)
	slices.SortFunc(memory, func(a, b int64) int { return cmp.Compare(b, a) })
	slices.SortFunc(demand, func(a, b int64) int { return cmp.Compare(b, a) })
	least, paid := int64(math.MaxInt64), int64(0)
	for k := 0; ; k++ {
		least = min(least, paid+max(0, n.memory)*m.weights.Remote+max(0, n.demand)*m.weights.Ready)
		if k == len(price) || paid+price[k] >= least {
			return cost + least
		}
		paid, n.memory, n.demand = paid+price[k], n.memory-memory[k], n.demand-demand[k]
	}
}

// A single is the minimum cost of a VM alone.
type single struct {
	paid int64 // including its move and cycle
	// In halves: unchanged on its host, and changed, with half of its move.
	stay, change int64
	// Far memory and cycle alone: on its host, and with its move on another one.
	fixed, away int64
}

// alone returns the minimum cost of VM v alone on any host. A VM that cannot change has half of
// the largest number for its change.
func (m *model) alone(v int32) single {
	vm, w := &m.vms[v], &m.weights
	const never = math.MaxInt64 / 2
	out := single{never, never, never, never, never}
	for _, h := range vm.Allowed {
		for s := range vm.Shapes {
			if !m.takes(h, v, int16(s)) {
				continue
			}
			f := m.fit(v, int16(s), h)
			fixed, move := f.Far*w.Far+m.cycling(int16(s)), m.moving(v, h)
			cost := fixed + m.excessAlone(vm, f, h)
			out.paid = min(out.paid, cost+move)
			if h == vm.Host {
				out.fixed = min(out.fixed, fixed)
			} else {
				out.away = min(out.away, fixed+move)
			}
			if h == vm.Host && s == 0 {
				out.stay = 2 * cost
			} else {
				out.change = min(out.change, 2*cost+move)
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
	for i, slice := range f.Memory {
		vcpus := int64(f.Clients[i])
		cost += max(0, slice-memory)*m.weights.Remote + max(0, vcpus*vm.Demand-cores*wholeCore)*m.weights.Ready
	}
	return cost
}
