package optimise

import (
	"example.org/homenode/esxi/placement"
	"example.org/homenode/numa"
)

// A load is the unweighted cost of the VMs on one host.
type load struct {
	remote, far, ready int64
}

// A bench contains reusable buffers for placing, to avoid allocations per host.
type bench struct {
	board  placement.Board
	demand []int64 // per node
	each   []int64 // MiB remote of each VM, if requested
	list   []int32 // for lists of VMs
	slices []int64 // memory of the clients of a VM
}

// at returns the host in the form of package placement; a MiB of the problem is a byte there.
func (h *Host) at() placement.Host {
	at := placement.Host{Release: h.Release, Distance: h.Distance}
	for _, n := range h.Nodes {
		memory := numa.DerivedFrom(numa.Bytes(n.Memory), "")
		at.Nodes = append(at.Nodes, numa.Node{ID: n.ID, Package: n.Package, Cores: n.Cores, Memory: memory})
	}
	return at
}

// place assigns home nodes on host h to the clients of the VMs, in order, as package placement
// does. VMs without NUMA management come first and are spread evenly over all nodes, as in rule
// H007.
//
// shape is indexed by VM. Time: O(clients × nodes).
func (m *model) place(h int, vms []int32, shape []int16, b *bench) load {
	host := &m.hosts[h]
	n := len(host.Nodes)
	b.board.Reset(m.boards[h])
	b.demand = append(b.demand[:0], make([]int64, n)...)
	var l load
	kind := host.Kind
	if m.loose {
		for _, v := range vms {
			if f := &m.vms[v].Shapes[shape[v]].Fits[kind]; !f.Managed {
				l.far += f.Far
				l.remote += m.spread(host.Nodes, &m.vms[v], b)
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
		b.board.Begin(m.places[h].Allowed(s.Nodes))
		remote := m.clients(&m.vms[v], f, b)
		l.remote += remote
		if b.each != nil {
			b.each[i] = remote + f.Far
		}
	}
	for i := range host.Nodes {
		l.ready += max(0, b.demand[i]-int64(host.Nodes[i].Cores)*wholeCore)
	}
	return l
}

// wholeCore is the demand of a busy vCPU: hundredths of a percent of a core.
const wholeCore = 10_000

// spread spreads the VM evenly over all nodes and returns the memory that exceeds its share of
// a node.
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
		take := max(0, min(slice, b.board.Free[i]))
		b.board.Free[i] -= take
		rest += slice - take
		if nodes[i].Cores > 0 {
			b.demand[i] += demand*(c+1)/with - demand*c/with
			c++
		}
	}
	b.board.Begin(1<<len(nodes) - 1)
	b.board.Lend(rest)
	return rest
}

// clients places the clients of one VM and returns its memory outside their homes.
func (m *model) clients(v *VM, f *Fit, b *bench) int64 {
	b.slices = append(b.slices[:0], f.Memory...)
	for i, c := range f.Clients {
		vcpus := int64(c)
		home := b.board.Next(b.slices[i])
		b.board.Put(home, vcpus)
		b.demand[home] += vcpus * v.Demand
	}
	away, _ := b.board.Fill(b.slices)
	return away
}
