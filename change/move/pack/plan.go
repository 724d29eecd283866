package pack

import (
	"cmp"
	"context"
	"slices"

	"example.org/homenode/numa"
)

// A Plan assigns hosts to the VMs.
type Plan struct {
	VMs   []Placement `json:"vms"`   // in the order of the problem
	Hosts []Use       `json:"hosts"` // in the order of the problem
	Waves []Wave      `json:"waves"`
	// Bound is the limit that no plan can exceed. The gap is Tightest − Bound.Hosts if Tightest is known, otherwise Bound.VCPUs −
	// VCPUs.
	Bound    Bound `json:"bound"`
	Tightest int   `json:"tightest"` // smallest number of hosts found for all VMs; 0 if VMs that fit a host are left over
	Used     int   `json:"used"`     // hosts with VMs, which are spread over all hosts that are not spare
	VCPUs    int64 `json:"vcpus"`    // placed
	Left     int   `json:"left"`     // number of VMs that are not placed
	Spare    []int `json:"spare"`    // hosts that stay empty, by index
	// Uncovered are hosts whose VMs do not all fit on one of the empty hosts. It is set only if spare hosts are required.
	Uncovered []int `json:"uncovered,omitempty"`
	// More are additional hosts for the VMs that do not fit; nil if none are needed.
	More *More `json:"more,omitempty"`
}

// More describes additional hosts for the VMs left over.
type More struct {
	Like  string `json:"like"` // the existing host to copy
	Hosts int    `json:"hosts"`
	VMs   int    `json:"vms"` // number of VMs that they accept
}

// A Placement is the host of a VM and the node of each of its cells.
type Placement struct {
	VM    string  `json:"vm"`
	Host  int     `json:"host"` // index; -1 if not placed
	Cells []Place `json:"cells,omitempty"`
	Far   int     `json:"far,omitempty"` // the largest distance between two of its nodes; 0 with one node
	// For a VM that is not placed.
	Why  string `json:"why,omitempty"`
	Cure string `json:"cure,omitempty"` // a change that makes it fit
}

// A Place is the node of a cell.
type Place struct {
	Node int `json:"node"` // as numbered by the host
	// CPUs: for an exclusive VM one for each vCPU; for any other the CPUs that its vCPUs may use, which are all without an exclusive
	// VM. nil if the CPUs of the node are unknown.
	CPUs []int `json:"cpus,omitempty"`
}

// A Use is the load of a host.
type Use struct {
	Host  string    `json:"host"`
	VMs   []int     `json:"vms"` // by index, ascending
	Nodes []NodeUse `json:"nodes"`
}

// A NodeUse is the load of a node of a host.
type NodeUse struct {
	Node      int        `json:"node"`
	Cores     int        `json:"cores"`     // for VMs; threads if the policy counts these
	VCPUs     int        `json:"vcpus"`     // of all cells
	Exclusive int        `json:"exclusive"` // part of Cores that is reserved for exclusive VMs
	Memory    numa.Bytes `json:"memory"`    // of all cells
	Free      numa.Bytes `json:"free"`      // unused, without huge pages
	Pages     []PageUse  `json:"pages,omitempty"`
}

// Ratio returns vCPUs per core; false for a node without cores.
func (n *NodeUse) Ratio() (ratio float64, ok bool) {
	return float64(n.VCPUs) / float64(max(1, n.Cores)), n.Cores > 0
}

// A PageUse is huge pages of one size on a node.
type PageUse struct {
	Size    numa.Bytes `json:"size"`
	Need    int        `json:"need"`    // pages of the cells
	Reserve int        `json:"reserve"` // part of Need that has to be reserved before the VMs arrive
	Free    int        `json:"free"`    // remaining pages
}

// A Wave is a group of VMs that move together.
type Wave struct {
	Wave  int   `json:"wave"`
	VMs   []int `json:"vms"`             // by index, placed VMs only, sorted by host and name
	Hosts []int `json:"hosts,omitempty"` // that get their first VM
	VCPUs int   `json:"vcpus"`
}

// Make computes a plan. It stops when the context ends.
func Make(ctx context.Context, p *Problem) (*Plan, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m, err := newModel(p)
	if err != nil {
		return nil, err
	}
	out := &Plan{}
	s := newState(m)
	if len(m.packed) > 0 {
		var found *search
		found, out.Bound = m.solve(ctx)
		s = found.state
		if s.placed == m.wanted {
			out.Tightest = len(s.used)
		}
		found.spread(ctx)
		found.draw()
	}
	if err := ctx.Err(); err != nil { // the search ended early
		return nil, err
	}
	out.Used, out.VCPUs = len(s.used), s.placed
	for _, h := range m.spare {
		out.Spare = append(out.Spare, int(h))
	}
	out.place(m, s)
	out.use(m, s)
	out.pin(m, s)
	out.explain(ctx, m, s)
	out.order(p)
	return out, ctx.Err()
}

func (out *Plan) place(m *model, s *state) {
	out.VMs = make([]Placement, len(m.items))
	for v := range m.items {
		it, at := &m.items[v], &out.VMs[v]
		at.VM, at.Host = m.p.VMs[v].Name, int(s.In[v])
		if at.Host < 0 {
			out.Left++
			continue
		}
		nodes := m.p.Hosts[at.Host].Nodes
		at.Cells = make([]Place, len(it.cells))
		for i, c := range it.cells {
			a := int(s.node[it.offset+i])
			at.Cells[c.index].Node = nodes[a].ID
			for _, b := range s.node[it.offset : it.offset+i] {
				at.Far = max(at.Far, int(m.far[at.Host][a*len(nodes)+int(b)]))
			}
		}
	}
}

// use sums up the load of the nodes.
func (out *Plan) use(m *model, s *state) {
	out.Hosts = make([]Use, len(m.p.Hosts))
	sizes := len(m.sizes)
	for h := range out.Hosts {
		u, host := &out.Hosts[h], &m.p.Hosts[h]
		u.Host = host.Name
		u.Nodes = make([]NodeUse, len(host.Nodes))
		for i := range u.Nodes {
			n := int(m.first[h]) + i
			u.Nodes[i] = NodeUse{Node: host.Nodes[i].ID, Cores: int(m.cores[n]), Exclusive: int(s.alone[n]), Free: numa.Bytes(s.mem[n])}
			for k, size := range m.sizes {
				have, left := m.pool[n*sizes+k], s.pool[n*sizes+k]
				if have == 0 && left == 0 {
					continue
				}
				u.Nodes[i].Pages = append(u.Nodes[i].Pages, PageUse{size, int((have - left) / int64(size)), int(max(0, -left) / int64(size)), int(max(0, left) / int64(size))})
			}
		}
		for _, v := range s.On[h] {
			u.VMs = append(u.VMs, int(v))
			it := &m.items[v]
			for i := range it.cells {
				n := &u.Nodes[s.node[it.offset+i]]
				n.VCPUs, n.Memory = n.VCPUs+int(it.cells[i].vcpus), n.Memory+numa.Bytes(it.cells[i].mem)
			}
		}
		slices.Sort(u.VMs)
	}
}

// pin assigns one CPU to each exclusive vCPU, first for VMs whose vCPUs share cores, then in the order of VMs. All other VMs get the
// remaining CPUs of their node.
func (out *Plan) pin(m *model, s *state) {
	for h := range out.Hosts {
		nodes := m.p.Hosts[h].Nodes
		lists := make([][][]int, len(nodes)) // the CPUs of each core, or of each thread if the policy counts these
		next := make([]int, len(nodes))
		for i := range nodes {
			lists[i] = nodes[i].forVMs(m.p.Policy.Threads)
		}
		exclusive := slices.DeleteFunc(slices.Clone(out.Hosts[h].VMs), func(v int) bool { return !m.items[v].exclusive })
		slices.SortStableFunc(exclusive, func(a, b int) int { return cmp.Compare(m.p.VMs[b].PerCore, m.p.VMs[a].PerCore) }) // otherwise one would begin in the middle of a core
		for _, v := range exclusive {
			it := &m.items[v]
			for i, c := range it.cells {
				n := s.node[it.offset+i]
				if lists[n] == nil {
					continue
				}
				cpus := []int{}
				for _, core := range lists[n][next[n]:][:c.alone] {
					cpus = append(cpus, core[:min(len(core), max(1, m.p.VMs[v].PerCore))]...)
				}
				out.VMs[v].Cells[c.index].CPUs = cpus[:c.vcpus]
				next[n] += int(c.alone)
			}
		}
		rest := make([][]int, len(nodes))
		for i := range nodes {
			rest[i] = besides(lists[i], next[i])
		}
		for _, v := range out.Hosts[h].VMs {
			it := &m.items[v]
			for i, c := range it.cells {
				if !it.exclusive && c.vcpus > 0 {
					out.VMs[v].Cells[c.index].CPUs = rest[s.node[it.offset+i]]
				}
			}
		}
	}
}

// forVMs returns the CPUs of each core that is not reserved for the host, or each CPU separately.
func (n *Node) forVMs(threads bool) (out [][]int) {
	if n.CPUs == nil {
		return nil
	}
	for _, core := range n.CPUs[min(n.KeptCores, len(n.CPUs)):] {
		if !threads {
			out = append(out, core)
			continue
		}
		for _, c := range core {
			out = append(out, []int{c})
		}
	}
	return out
}

// besides returns the CPUs that are left by exclusive VMs, which have the first of list.
func besides(list [][]int, exclusive int) (out []int) {
	if list == nil {
		return nil
	}
	out = slices.Concat(list[exclusive:]...)
	slices.Sort(out)
	return out
}

// order lists the waves.
func (out *Plan) order(p *Problem) {
	list := []int{}
	for v := range out.VMs {
		if out.VMs[v].Host >= 0 {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.VMs[a].Wave, p.VMs[b].Wave), cmp.Compare(out.VMs[a].Host, out.VMs[b].Host), cmp.Compare(p.VMs[a].Name, p.VMs[b].Name))
	})
	first := make([]bool, len(p.Hosts))
	for _, v := range list {
		if n := len(out.Waves); n == 0 || out.Waves[n-1].Wave != p.VMs[v].Wave {
			out.Waves = append(out.Waves, Wave{Wave: p.VMs[v].Wave})
		}
		w := &out.Waves[len(out.Waves)-1]
		w.VMs = append(w.VMs, v)
		for _, c := range p.VMs[v].Cells {
			w.VCPUs += c.VCPUs
		}
		if h := out.VMs[v].Host; !first[h] {
			first[h] = true
			w.Hosts = append(w.Hosts, h)
		}
	}
}
