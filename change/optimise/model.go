package optimise

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/internal/binpack"
)

// A model is an immutable form of a Problem for the search. It is sorted by ID, so that the order of the input does
// not affect the result.
type model struct {
	hosts        []Host
	vms          []VM
	hostAt, vmAt []int // indexes in the Problem
	weights      Weights
	nplus1       bool
	loose        bool               // some VM is not NUMA-managed
	places       []placement.Host   // by host
	boards       []*placement.Board // by host, empty
	all          []need             // by host: memory of its nodes and demand that its cores meet; equal keys for hosts that cost the same
	bins         *binpack.Model     // hosts and VMs by memory in MiB and vCPUs
	units        [][]int32          // VMs that move as one; each VM is in one
	unitOf       []int32            // by VM
	rank         []int32            // by VM: 0 for the most memory
	short        []int64            // by host: MiB without room after its failure, at the beginning
}

func newModel(p *Problem) *model {
	m := &model{weights: p.Weights, nplus1: p.NPlus1}
	if m.weights == (Weights{}) {
		m.weights = DefaultWeights
	}
	var hostTo, vmTo []int
	m.hostAt, hostTo = byID(len(p.Hosts), func(i int) string { return p.Hosts[i].ID })
	m.vmAt, vmTo = byID(len(p.VMs), func(i int) string { return p.VMs[i].ID })
	for _, i := range m.hostAt {
		m.hosts = append(m.hosts, p.Hosts[i])
		m.places = append(m.places, p.Hosts[i].at())
		m.boards = append(m.boards, placement.NewBoard(&m.places[len(m.places)-1]))
		m.all = append(m.all, m.allOf(len(m.hosts)-1))
	}
	for _, i := range m.vmAt {
		v := p.VMs[i]
		v.Host = hostTo[v.Host]
		v.Allowed = slices.Clone(v.Allowed)
		for k, h := range v.Allowed {
			v.Allowed[k] = hostTo[h]
		}
		slices.Sort(v.Allowed)
		v.Shapes = slices.Clone(v.Shapes)
		for k := range v.Shapes {
			s := &v.Shapes[k]
			s.Fits = slices.Clone(s.Fits)
			for i := range s.Fits {
				s.Fits[i].Memory = s.Fits[i].slices(&v)
			}
			m.loose = m.loose || slices.ContainsFunc(s.Fits, func(f Fit) bool { return f.OK && !f.Managed })
		}
		m.vms = append(m.vms, v)
	}
	m.bins = p.bins(m.hosts, m.vms, vmTo)
	m.group(p, vmTo)
	m.rank = make([]int32, len(m.vms))
	bySize := make([]int32, len(m.vms))
	for i := range bySize {
		bySize[i] = int32(i)
	}
	slices.SortStableFunc(bySize, func(a, b int32) int { return cmp.Compare(m.vms[b].Memory, m.vms[a].Memory) })
	for i, v := range bySize {
		m.rank[v] = int32(i)
	}
	if m.nplus1 {
		begin := newState(m)
		begin.sortRooms()
		for x := range m.hosts {
			m.short = append(m.short, begin.shortage(x))
		}
	}
	return m
}

// allOf returns the resources of host h. Its key is that of the first host with the same nodes and limits.
func (m *model) allOf(h int) need {
	n := need{key: scramble(^uint64(h))}
	for _, node := range m.hosts[h].Nodes {
		n.memory, n.demand = n.memory+node.Memory, n.demand+int64(node.Cores)*wholeCore
	}
	x := &m.hosts[h]
	for i := range m.hosts[:h] {
		if o := &m.hosts[i]; o.Kind == x.Kind && o.Memory == x.Memory && o.VCPUs == x.VCPUs && o.MHz == x.MHz && o.Release == x.Release &&
			slices.Equal(o.Nodes, x.Nodes) && slices.EqualFunc(o.Distance, x.Distance, slices.Equal) {
			n.key = m.all[i].key
			break
		}
	}
	return n
}

// byID returns the indexes in the order of the IDs, and the position of each index there.
func byID(n int, id func(int) string) (at, to []int) {
	at, to = make([]int, n), make([]int, n)
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return strings.Compare(id(a), id(b)) })
	for i, k := range at {
		to[k] = i
	}
	return at, to
}

// bins returns hosts with their limits for VMs, and these VMs, where VM i of the problem is number to[i].
func (p *Problem) bins(hosts []Host, vms []VM, to []int) *binpack.Model {
	m := &binpack.Model{Groups: make([][]int32, len(vms))}
	for i := range hosts {
		m.Bins = append(m.Bins, binpack.Size{CPU: cmp.Or(hosts[i].VCPUs, math.MaxInt64/2), Mem: hosts[i].Memory, Reserved: cmp.Or(hosts[i].MHz, math.MaxInt64/2)})
	}
	for i := range vms {
		m.Things = append(m.Things, binpack.Size{CPU: int64(vms[i].VCPUs), Mem: vms[i].Memory, Reserved: vms[i].MHz})
	}
	for g, group := range p.Apart {
		for _, v := range group {
			if a := &m.Groups[to[v]]; !slices.Contains(*a, int32(g)) {
				*a = append(*a, int32(g))
			}
		}
	}
	return m
}

// group creates the units from the groups that stay together.
func (m *model) group(p *Problem, vmTo []int) {
	m.unitOf = make([]int32, len(m.vms))
	for i := range m.unitOf {
		m.unitOf[i] = -1
	}
	with := make(map[int32][]int32)
	for _, group := range p.Together {
		var unit []int32
		for _, v := range group {
			unit = append(unit, int32(vmTo[v]))
		}
		slices.Sort(unit)
		unit = slices.Compact(unit)
		for _, v := range unit {
			with[v] = unit
		}
	}
	for i := range m.vms {
		if m.unitOf[i] >= 0 {
			continue
		}
		unit := with[int32(i)]
		if unit == nil {
			unit = []int32{int32(i)}
		}
		for _, v := range unit {
			m.unitOf[v] = int32(len(m.units))
		}
		m.units = append(m.units, unit)
	}
}

// fit returns the Fit of VM v with the shape on host h.
func (m *model) fit(v int32, shape int16, h int) *Fit {
	return &m.vms[v].Shapes[shape].Fits[m.hosts[h].Kind]
}

// takes reports whether host h may run VM v with the shape, regardless of its free capacity.
func (m *model) takes(h int, v int32, shape int16) bool {
	vm := &m.vms[v]
	if h == vm.Host {
		return m.fit(v, shape, h).OK
	}
	_, ok := slices.BinarySearch(vm.Allowed, h)
	return ok && !m.hosts[h].Closed && m.fit(v, shape, h).OK
}
