package pack

import (
	"cmp"
	"encoding/binary"
	"slices"

	"example.org/homenode/internal/binpack"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A model is an immutable form of a Problem for the search. The nodes of all hosts are in one array, those of
// host h from first[h] to first[h+1].
type model struct {
	p     *Problem
	core  int64        // parts of a core
	sizes []numa.Bytes // of huge pages
	items []item       // by VM
	cells int          // of all items

	first []int32
	cores []int32   // cores of a node for VMs
	cpu   []int64   // the same, in parts
	mem   []int64   // memory of a node, without its free pages
	pool  []int64   // bytes of free pages, by node × size
	far   [][]int32 // by host, node × node

	kind              []int32        // by host
	kinds             [][]int32      // hosts of a kind that are not spare, by index; the largest kind first
	heads             []int32        // one host of each kind
	fits              []bool         // by VM × kind: it fits an empty host
	spare             []int32        // hosts that stay empty
	packed            []int32        // VMs that fit some host that is not spare
	wanted            int64          // vCPUs of packed
	bins              *binpack.Model // hosts as sums over their nodes, with pages, and VMs
	nodeCPU, nodeMost int64          // the maximum over all nodes
}

// An item is a VM. Its cells are sorted by size, the largest first.
type item struct {
	cells     []cell
	offset    int // of its cells among all
	exclusive bool
	size      int // index of its page size; -1 for ordinary memory
	shape     int // equal for VMs that fit the same hosts
	vcpus     int64
	all       binpack.Size // of its cells
	most      cell         // the maximum over the cells, per resource
	both      int64        // the maximum over the cells of the smaller share
}

// A cell of an item.
type cell struct {
	index    int // in VM.Cells
	vcpus    int32
	alone    int32 // cores reserved for this VM
	cpu, mem int64 // parts of cores; bytes
}

func newModel(p *Problem) (*model, error) {
	core, err := p.Policy.core()
	if err != nil {
		return nil, err
	}
	m := &model{p: p, core: core, bins: &binpack.Model{}}
	for i := range p.VMs {
		if s := p.VMs[i].Page; s > 0 && !slices.Contains(m.sizes, s) {
			m.sizes = append(m.sizes, s)
		}
	}
	for i := range p.Hosts {
		m.addHost(&p.Hosts[i])
	}
	for n := range m.cores {
		m.nodeCPU, m.nodeMost = max(m.nodeCPU, m.cpu[n]), max(m.nodeMost, m.nodeMem(int32(n)))
	}
	m.addItems()
	m.sortKinds()
	m.reserve()
	m.feasible()
	return m, nil
}

func (m *model) addHost(h *Host) {
	m.first = append(m.first, int32(len(m.cores)))
	var all binpack.Size
	for i := range h.Nodes {
		n := &h.Nodes[i]
		c := max(0, n.Cores-n.KeptCores)
		switch {
		case !m.p.Policy.Threads || c == 0:
		case n.CPUs != nil:
			c = len(n.forVMs(true))
		default:
			c = c * n.Threads / n.Cores
		}
		left := max(0, int64(n.Memory-n.KeptMemory))
		ordinary := int64(numa.Ordinary(numa.Bytes(left), n.Pages))
		for _, size := range m.sizes {
			k := slices.IndexFunc(n.Pages, func(g numa.Pool) bool { return g.Size == size })
			have := int64(0)
			if k >= 0 {
				have = min(left, int64(n.Pages[k].Count)*int64(size)) / int64(size) * int64(size)
			}
			m.pool = append(m.pool, have)
			left -= have
			all.Mem += have
		}
		m.cores = append(m.cores, int32(c))
		m.cpu = append(m.cpu, int64(c)*m.core)
		m.mem = append(m.mem, ordinary)
		all = all.Plus(binpack.Size{CPU: int64(c) * m.core, Mem: ordinary})
	}
	m.bins.Bins = append(m.bins.Bins, all)
	k := len(h.Nodes)
	far := make([]int32, k*k)
	for i := range k {
		for j := range k {
			if i != j {
				far[i*k+j] = 20
				if h.Distance != nil {
					far[i*k+j] = int32(h.Distance[i][j])
				}
			}
		}
	}
	m.far = append(m.far, far)
}

// both is the smaller of the shares of the largest node's cores and memory, in millionths.
func (m *model) both(cpu, mem int64) int64 {
	return int64(1e6 * min(float64(cpu)/float64(m.nodeCPU+1), float64(mem)/float64(m.nodeMost+1)))
}

// last returns the index after the last node of a host.
func (m *model) last(h int32) int32 {
	if int(h)+1 < len(m.first) {
		return m.first[h+1]
	}
	return int32(len(m.cores))
}

func (m *model) addItems() {
	names, shapes := map[string]int32{}, map[string]int{}
	for i := range m.p.VMs {
		v := &m.p.VMs[i]
		it := item{offset: m.cells, exclusive: v.Exclusive}
		it.size = slices.Index(m.sizes, v.Page)
		var groups []int32
		for _, name := range v.Groups {
			if _, ok := names[name]; !ok {
				names[name] = int32(len(names))
			}
			groups = words.Once(groups, names[name])
		}
		part := m.core
		if !v.Exclusive {
			part = m.core / m.p.Policy.hundredths(v.Class) * 100
		}
		if len(m.p.Policy.Overcommit) == 0 {
			part = m.core
		}
		m.addCells(&it, v, part)
		for _, c := range it.cells {
			it.vcpus += int64(c.vcpus)
			it.all = it.all.Plus(binpack.Size{CPU: c.cpu, Mem: c.mem})
			it.both = max(it.both, m.both(c.cpu, c.mem))
			it.most = cell{0, max(it.most.vcpus, c.vcpus), max(it.most.alone, c.alone), max(it.most.cpu, c.cpu), max(it.most.mem, c.mem)}
		}
		key := it.key(groups)
		shape, ok := shapes[key]
		if !ok {
			shape = len(shapes)
			shapes[key] = shape
		}
		it.shape = shape
		m.cells += len(it.cells)
		m.items = append(m.items, it)
		m.bins.Things, m.bins.Groups = append(m.bins.Things, it.all), append(m.bins.Groups, groups)
	}
}

// addCells gives an item the cells of its VM, the largest first. part is the price of a vCPU that has no core of its own.
func (m *model) addCells(it *item, v *VM, part int64) {
	for k, c := range v.Cells {
		memory := int64(c.Memory + v.Own/numa.Bytes(len(v.Cells)))
		if page := int64(v.Page); page > 0 {
			memory = (memory + page - 1) / page * page
		}
		one := cell{k, int32(c.VCPUs), 0, int64(c.VCPUs) * part, memory}
		if v.Exclusive {
			one.alone = int32(m.p.alone(v, c.VCPUs))
			one.cpu = int64(one.alone) * m.core
		}
		it.cells = append(it.cells, one)
	}
	slices.SortFunc(it.cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.mem, a.mem), cmp.Compare(a.index, b.index))
	})
}

// key returns a text that is equal for items of one shape: their pages, groups, cells and policy.
func (it *item) key(groups []int32) string {
	key := binary.AppendVarint(nil, int64(it.size))
	key = binary.AppendVarint(key, int64(len(groups)))
	for _, g := range groups {
		key = binary.AppendVarint(key, int64(g))
	}
	key = append(key, b2i(it.exclusive))
	for _, c := range it.cells {
		key = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(key, int64(c.vcpus)), c.cpu), c.mem)
	}
	return string(key)
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// alone returns the number of cores, or of threads if the policy counts these, that vCPUs of an exclusive VM
// occupy.
func (p *Problem) alone(v *VM, vcpus int) int {
	if per := max(1, v.PerCore); !p.Policy.Threads {
		return (vcpus + per - 1) / per
	}
	return vcpus
}

// same reports whether two hosts are of one kind: they fit the same VMs.
func (m *model) same(a, b int32) bool {
	i, j, k, l := m.first[a], m.last(a), m.first[b], m.last(b)
	n := int32(len(m.sizes))
	return slices.Equal(m.cores[i:j], m.cores[k:l]) && slices.Equal(m.mem[i:j], m.mem[k:l]) &&
		slices.Equal(m.pool[i*n:j*n], m.pool[k*n:l*n]) && slices.Equal(m.far[a], m.far[b])
}

// sortKinds groups the hosts, the largest kind first.
func (m *model) sortKinds() {
	m.kind = make([]int32, len(m.p.Hosts))
	type key struct {
		all   binpack.Size
		nodes int32
	}
	index := map[key][]int{} // of kinds
	for h := range int32(len(m.p.Hosts)) {
		like := key{m.bins.Bins[h], m.last(h) - m.first[h]}
		k := -1
		for _, c := range index[like] {
			if m.same(m.kinds[c][0], h) {
				k = c
			}
		}
		if k < 0 {
			k = len(m.kinds)
			index[like] = append(index[like], k)
			m.kinds = append(m.kinds, nil)
		}
		m.kinds[k] = append(m.kinds[k], h)
	}
	var largest binpack.Size // most cores, then most memory
	for _, k := range m.kinds {
		if a := m.bins.Bins[k[0]]; cmp.Or(cmp.Compare(a.CPU, largest.CPU), cmp.Compare(a.Mem, largest.Mem)) > 0 {
			largest = a
		}
	}
	size := func(h int32) float64 {
		all := m.bins.Bins[h]
		return float64(float64(all.CPU)/float64(largest.CPU+1)) + float64(float64(all.Mem)/float64(largest.Mem+1))
	}
	slices.SortStableFunc(m.kinds, func(a, b []int32) int { return cmp.Compare(size(b[0]), size(a[0])) })
	for k, hosts := range m.kinds {
		m.heads = append(m.heads, hosts[0])
		for _, h := range hosts {
			m.kind[h] = int32(k)
		}
	}
}

// reserve removes the spare hosts from their kinds: the last ones of the largest kinds. It leaves at least
// one host for VMs.
func (m *model) reserve() {
	left := min(m.p.Policy.Spare, len(m.p.Hosts)-1)
	for k, hosts := range m.kinds {
		cut := max(0, len(hosts)-left)
		m.spare = append(m.spare, hosts[cut:]...)
		m.kinds[k] = hosts[:cut]
		left -= len(hosts) - cut
	}
	slices.Sort(m.spare)
}

// feasible determines which VMs fit which kinds of host.
func (m *model) feasible() {
	m.fits = make([]bool, len(m.items)*len(m.kinds))
	s := newState(m)
	known := map[int]int{} // first VM of a shape
	for v := range m.items {
		row := m.fits[v*len(m.kinds):][:len(m.kinds)]
		if first, ok := known[m.items[v].shape]; ok {
			copy(row, m.fits[first*len(m.kinds):])
		} else {
			known[m.items[v].shape] = v
			for k, hosts := range m.kinds {
				row[k] = len(hosts) > 0 && s.fit(m.heads[k], int32(v), false)
			}
		}
		if slices.Contains(row, true) {
			m.packed = append(m.packed, int32(v))
			m.wanted += m.items[v].vcpus
		}
	}
}
