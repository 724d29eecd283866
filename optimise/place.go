package optimise

import "homenode/numa"

// A load is what the VMs of one host cost there, before weights.
type load struct {
	remote, far, ready int64
}

// A bench holds what placing needs, to be used again: nothing is allocated per host.
type bench struct {
	vcpus, used, demand []int64 // per node
	each                []int64 // MiB remote of each VM, when wanted
	list                []int32 // for lists of VMs
}

func newBench(nodes int) *bench {
	return &bench{vcpus: make([]int64, nodes), used: make([]int64, nodes), demand: make([]int64, nodes)}
}

// place gives the clients of the VMs home nodes on host h, in order, as sim.Place does:
// the node with the fewest vCPUs per core, then the most free memory, then the first;
// clients of one VM on different nodes while there are enough; memory local first, then
// where most is free. A test demands equality with sim.Place. VMs without NUMA
// management come first and lie on all nodes alike, as rule H007 has them.
//
// shape is indexed by VM. It takes O(clients × nodes).
func (m *model) place(h int, vms []int32, shape []int16, b *bench) load {
	nodes := m.hosts[h].Nodes
	n := len(nodes)
	clear(b.vcpus[:n])
	clear(b.used[:n])
	clear(b.demand[:n])
	var l load
	kind := m.hosts[h].Kind
	if m.loose {
		for _, v := range vms {
			if f := &m.vms[v].Shapes[shape[v]].Fits[kind]; !f.Managed {
				l.far += f.Far
				l.remote += m.spread(nodes, &m.vms[v], b)
			}
		}
	}
	for i, v := range vms {
		s := &m.vms[v].Shapes[shape[v]]
		f := &s.Fits[kind]
		if !f.Managed {
			continue
		}
		l.far += f.Far
		remote := m.clients(nodes, &m.vms[v], f, s.Nodes, b)
		l.remote += remote
		if b.each != nil {
			b.each[i] = remote + f.Far
		}
	}
	for i := range nodes {
		l.ready += max(0, b.demand[i]-int64(nodes[i].Cores)*wholeCore)
	}
	return l
}

// wholeCore is the demand of a busy vCPU: hundredths of a percent of a core.
const wholeCore = 10_000

// spread lays the VM on all nodes alike and returns what exceeds its share of one.
func (m *model) spread(nodes []Node, v *VM, b *bench) (remote int64) {
	n, with := int64(len(nodes)), int64(0)
	for i := range nodes {
		if nodes[i].Cores > 0 {
			with++
		}
	}
	demand := int64(v.VCPUs) * v.Demand
	rest, c := int64(0), int64(0)
	for i := range nodes {
		k := int64(i)
		slice := v.Memory*(k+1)/n - v.Memory*k/n
		take := max(0, min(slice, nodes[i].Memory-b.used[i]))
		b.used[i] += take
		rest += slice - take
		if nodes[i].Cores > 0 {
			b.demand[i] += demand*(c+1)/with - demand*c/with
			c++
		}
	}
	lend(nodes, b, 0, rest)
	return rest
}

// clients places the clients of one VM and returns its memory outside their homes.
func (m *model) clients(nodes []Node, v *VM, f *Fit, only numa.NodeSet, b *bench) (remote int64) {
	eligible := 0
	for i := range nodes {
		if nodes[i].Cores > 0 && (only == 0 || only.Has(nodes[i].ID)) {
			eligible++
		}
	}
	if eligible == 0 { // an affinity for nodes that this host does not have
		only = 0
	}
	var taken uint64
	first, all := int64(0), int64(v.VCPUs)
	for _, c := range f.Clients {
		home := leastLoaded(nodes, b, taken, only)
		if home < 0 { // more clients than nodes share them (C-5)
			taken = 0
			home = leastLoaded(nodes, b, taken, only)
		}
		taken |= 1 << home
		vcpus := int64(c)
		slice := v.Memory*(first+vcpus)/all - v.Memory*first/all
		first += vcpus
		b.vcpus[home] += vcpus
		b.demand[home] += vcpus * v.Demand
		local := max(0, min(slice, nodes[home].Memory-b.used[home]))
		b.used[home] += local
		if rest := slice - local; rest > 0 {
			remote += rest
			lend(nodes, b, only, rest)
		}
	}
	return remote
}

// leastLoaded returns the node for the next client; -1 when all are taken.
func leastLoaded(nodes []Node, b *bench, taken uint64, only numa.NodeSet) int {
	best := -1
	for i := range nodes {
		if taken>>i&1 == 1 || nodes[i].Cores == 0 || only != 0 && !only.Has(nodes[i].ID) {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		// vCPUs per core, compared without division.
		x, y := b.vcpus[i]*int64(nodes[best].Cores), b.vcpus[best]*int64(nodes[i].Cores)
		if x < y || x == y && nodes[i].Memory-b.used[i] > nodes[best].Memory-b.used[best] {
			best = i
		}
	}
	return best
}

// lend puts memory where most is free; what no node has room for stays nowhere.
func lend(nodes []Node, b *bench, only numa.NodeSet, rest int64) {
	for rest > 0 {
		most, free := -1, int64(0)
		for i := range nodes {
			if f := nodes[i].Memory - b.used[i]; f > free && (only == 0 || only.Has(nodes[i].ID)) {
				most, free = i, f
			}
		}
		if most < 0 {
			return
		}
		take := min(free, rest)
		b.used[most] += take
		rest -= take
	}
}
