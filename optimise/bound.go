package optimise

// bound returns the largest of three totals, each of which no proposal goes below. They
// hold because what exceeds a node is never less for two clients together than for each
// alone.
//
//	each VM alone    in its best case on the emptiest host, its own move and cycle paid
//	all together     memory and demand of all VMs against nodes and cores of all hosts
//	untouched hosts  a host whose VMs stay costs what it costs; to change it takes half
//	                 a move or a power cycle
func (m *model) bound(begin *state, after *Score) Bound {
	w := &m.weights
	alone, far := int64(0), int64(0)
	bare := make([]int64, len(m.vms)) // by VM: the best case, its move and cycle for free
	memory, demand := int64(0), int64(0)
	for v := range m.vms {
		paid, free, leastFar := m.alone(int32(v))
		alone, bare[v], far = alone+paid, free, far+leastFar
		memory += m.vms[v].Memory
		demand += int64(m.vms[v].VCPUs) * m.vms[v].Demand
	}
	for h := range m.hosts {
		for _, n := range m.hosts[h].Nodes {
			memory -= n.Memory
			demand -= int64(n.Cores) * wholeCore
		}
	}
	together := far*w.Far + max(0, memory)*w.Remote + max(0, demand)*w.Ready
	untouched, halves := int64(0), int64(0)
	for h := range m.hosts {
		rest := begin.cost[h] - broken*begin.excess(h, begin.on[h])
		for _, v := range begin.on[h] {
			untouched += bare[v]
			rest -= bare[v]
		}
		halves += max(0, min(2*rest, w.Move, 2*w.Cycle))
	}
	untouched += (halves + 1) / 2 // a total is a whole number
	b := Bound{Total: max(alone, together, untouched)}
	b.Gap = after.Total - b.Total
	b.Proven = b.Gap == 0 && after.Broken == 0
	return b
}

// alone returns the least that VM v costs on any host: with its move and power cycle,
// without them, and what is far of it alone in MiB.
func (m *model) alone(v int32) (paid, free, far int64) {
	vm := &m.vms[v]
	w := &m.weights
	first := true
	for _, h := range vm.Allowed {
		for s := range vm.Shapes {
			if !m.takes(h, v, int16(s)) {
				continue
			}
			f := m.fit(v, int16(s), h)
			cost := f.Far*w.Far + m.excessAlone(vm, f, h)
			with := cost + m.moving(v, h) + m.cycling(int16(s))
			if first {
				paid, free, far = with, cost, f.Far
			}
			first = false
			paid, free, far = min(paid, with), min(free, cost), min(far, f.Far)
		}
	}
	return paid, free, far
}

// excessAlone returns what clients that are larger than the largest node cost on an
// empty host.
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
