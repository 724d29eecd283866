package pack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// explain sets the reason and a remedy for each VM that is not placed. VMs of one shape get the same answer.
func (out *Plan) explain(ctx context.Context, m *model, s *state) {
	type answer struct{ why, cure string }
	known := map[int]answer{}
	var full []int // VMs without room
	for v := range out.VMs {
		at := &out.VMs[v]
		if ctx.Err() != nil { // the plan is not returned
			return
		}
		if at.Host >= 0 {
			continue
		}
		taken := slices.Contains(m.fits[v*len(m.kinds):][:len(m.kinds)], true)
		if taken {
			full = append(full, v)
		}
		a, ok := known[m.items[v].shape]
		if !ok {
			if taken {
				a.why, a.cure = s.noRoom(int32(v))
			} else {
				a.why, a.cure = m.never(v)
			}
			known[m.items[v].shape] = a
		}
		at.Why, at.Cure = a.why, a.cure
	}
	out.More = m.more(ctx, full)
	if len(m.spare) > 0 {
		out.uncovered(m, s)
	}
}

// never returns the reason why no empty host accepts a VM.
func (m *model) never(v int) (why, cure string) {
	vm, it := &m.p.VMs[v], &m.items[v]
	if len(m.heads) == 0 {
		return "there is no host", "hosts"
	}
	fresh := newState(m)
	for _, h := range m.spare {
		if fresh.fit(h, int32(v), false) {
			return fmt.Sprintf("only spare hosts have room for it, such as %s", m.p.Hosts[h].Name), "one spare host fewer, or one more host like it"
		}
	}
	cores, memory, nodes := m.largestNodes()
	c := vm.largest()
	switch {
	case int32(c.VCPUs) > m.cores[cores]:
		why = fmt.Sprintf("a cell has %d vCPUs and the largest node, %s, has %d %s for VMs", c.VCPUs, m.nameOf(cores), m.cores[cores], m.p.Policy.unit())
	case it.most.mem > m.nodeMem(memory):
		why = fmt.Sprintf("a cell has %v and the largest node, %s, has %v for VMs", numa.Bytes(it.most.mem), m.nameOf(memory), numa.Bytes(m.nodeMem(memory)))
	case len(it.cells) > nodes:
		why = fmt.Sprintf("it has %d cells and a host has at most %d nodes", len(it.cells), nodes)
	case it.most.cpu > m.cpu[cores]:
		why = fmt.Sprintf("%d vCPUs of class %q need more than the %d %s of the largest node, at an overcommit of %v", c.VCPUs, vm.Class, m.cores[cores], m.p.Policy.unit(), float64(m.p.Policy.hundredths(vm.Class))/100)
	default:
		why = "no host has a node for each of its cells at once"
	}
	if shape, host, ok := m.otherShape(v); ok {
		cure = fmt.Sprintf("as %s it fits an empty %s", shape, host)
	}
	switch host, ok := m.byThreads(v); {
	case ok && cure != "":
		return why, cure + "; " + ByThreads
	case ok:
		return why, fmt.Sprintf("it fits an empty %s %s", host, ByThreads)
	case cure != "":
		return why, cure
	case len(it.cells) > nodes:
		return why, "hosts with more nodes"
	}
	return why, "hosts with larger nodes"
}

// ByThreads is part of the cure of a VM that fits if threads are counted instead of cores.
const ByThreads = "as it is if threads are counted"

// byThreads returns an empty host that accepts the VM if threads are counted instead of cores.
func (m *model) byThreads(v int) (host string, ok bool) {
	if m.p.Policy.Threads {
		return "", false
	}
	policy := m.p.Policy
	policy.Threads = true
	return Takes(&Problem{Hosts: m.headHosts(), Policy: policy}, m.p.VMs[v])
}

// headHosts returns a host of each kind.
func (m *model) headHosts() (out []Host) {
	for _, h := range m.heads {
		out = append(out, m.p.Hosts[h])
	}
	return out
}

// Takes returns an empty host of a problem that accepts a VM.
func Takes(p *Problem, vm VM) (host string, ok bool) {
	for i := range p.Hosts {
		one := &Problem{VMs: []VM{vm}, Hosts: p.Hosts[i : i+1], Policy: p.Policy}
		if try, err := newModel(one); err == nil && len(try.packed) > 0 {
			return p.Hosts[i].Name, true
		}
	}
	return "", false
}

// units formats a number of units, to three digits: "1 core", "1.5 cores".
func (p *Policy) units(n float64) string {
	text := fmt.Sprintf("%.3g %s", n, p.unit())
	if strings.HasPrefix(text, "1 ") {
		return strings.TrimSuffix(text, "s")
	}
	return text
}

func (p *Policy) unit() string {
	if p.Threads {
		return "threads"
	}
	return "cores"
}

// largest returns the most vCPUs and memory of any cell.
func (v *VM) largest() (c Cell) {
	for _, x := range v.Cells {
		c = Cell{max(c.VCPUs, x.VCPUs), max(c.Memory, x.Memory)}
	}
	return c
}

// largestNodes returns the node with most cores, the node with most memory, and the largest number of nodes of a
// host, counting only nodes with cores.
func (m *model) largestNodes() (cores, memory int32, nodes int) {
	for _, h := range m.heads {
		count := 0
		for n := m.first[h]; n < m.last(h); n++ {
			if m.cores[n] == 0 {
				continue
			}
			count++
			if m.cores[n] > m.cores[cores] {
				cores = n
			}
			if m.cores[memory] == 0 || m.nodeMem(n) > m.nodeMem(memory) {
				memory = n
			}
		}
		nodes = max(nodes, count)
	}
	return cores, memory, nodes
}

// nameOf names a node by its index among the nodes of all hosts.
func (m *model) nameOf(n int32) string {
	h := int32(len(m.first) - 1)
	for m.first[h] > n {
		h--
	}
	return fmt.Sprintf("node %d of %s", m.p.Hosts[h].Nodes[n-m.first[h]].ID, m.p.Hosts[h].Name)
}

// otherShape returns the smallest number of equal cells for which an empty host accepts the VM.
func (m *model) otherShape(v int) (shape, host string, ok bool) {
	vm := m.p.VMs[v]
	vcpus, memory, most := 0, numa.Bytes(0), 0
	for _, c := range vm.Cells {
		vcpus, memory = vcpus+c.VCPUs, memory+c.Memory
	}
	for _, h := range m.heads {
		most = max(most, int(m.last(h)-m.first[h]))
	}
	for cells := 1; cells <= min(most, vcpus); cells++ {
		vm.Cells, cells = nil, numa.Parts(vcpus, cells, most)
		for i := range cells {
			vm.Cells = append(vm.Cells, Cell{vcpus*(i+1)/cells - vcpus*i/cells, memory*numa.Bytes(i+1)/numa.Bytes(cells) - memory*numa.Bytes(i)/numa.Bytes(cells)})
		}
		if vm.Most > 0 && vm.largest().VCPUs > vm.Most {
			continue
		}
		host, ok := Takes(&Problem{Hosts: m.headHosts(), Policy: m.p.Policy}, vm)
		if !ok {
			continue
		}
		c := vm.largest()
		if cells == 1 {
			return fmt.Sprintf("one cell of %d vCPUs and %v", c.VCPUs, c.Memory), host, true
		}
		return fmt.Sprintf("%d cells of %d vCPUs and %v", cells, c.VCPUs, c.Memory), host, true
	}
	return "", "", false
}

// noRoom describes the missing resource on the host that comes closest to accepting a VM.
func (s *state) noRoom(v int32) (why, cure string) {
	m, it := s.m, &s.m.items[v]
	best, least, group := "", 0.0, 0
	hosts := 0
	for h := range int32(len(s.On)) {
		if slices.Contains(m.spare, h) || !m.fits[int(v)*len(m.kinds)+int(m.kind[h])] {
			continue
		}
		hosts++
		if !s.Apart(int(h), v, nil) {
			group++
			continue
		}
		if lack, share := s.lacks(h, it); best == "" || share < least {
			best, least = lack, share
		}
	}
	like := m.p.Hosts[m.heads[slices.Index(m.fits[int(v)*len(m.kinds):][:len(m.kinds)], true)]].Name
	groups := fmt.Sprintf("%q", strings.Join(m.p.VMs[v].Groups, " or "))
	if best == "" {
		return fmt.Sprintf("each of %d hosts that take it has a VM of group %s", hosts, groups), "one more host like " + like
	}
	why = "the hosts are full; nearest to taking it: " + best
	if group > 0 {
		why += fmt.Sprintf("; %d others have a VM of group %s", group, groups)
	}
	return why, "that much more, or one more host like " + like
}

// lacks describes the resources that a host lacks, as text and as shares of a node. The largest cell is compared
// with the emptiest node first.
func (s *state) lacks(h int32, it *item) (words string, share float64) {
	m := s.m
	var nodes []int32
	for n := m.first[h]; n < m.last(h); n++ {
		nodes = append(nodes, n)
	}
	var list []string
	for i := range it.cells {
		c := &it.cells[i]
		at, least, lack := 0, -1.0, ""
		for k, n := range nodes {
			cpu := max(0, c.cpu-s.cpu[n])
			if !it.exclusive && c.vcpus > m.cores[n]-s.alone[n] {
				cpu = max(cpu, int64(c.vcpus-m.cores[n]+s.alone[n])*m.core)
			}
			mem := max(0, s.reserves(n, it, c.mem)-s.mem[n])
			if x := float64(cpu)/float64(m.cpu[n]+1) + float64(mem)/float64(m.nodeMem(n)+1); least < 0 || x < least {
				at, least, lack = k, x, m.lack(n, cpu, mem)
			}
		}
		if share += max(0, least); lack != "" {
			list = append(list, lack)
		}
		if len(nodes) > 1 {
			nodes = slices.Delete(nodes, at, at+1)
		}
	}
	if len(list) == 0 { // each cell fits, but not all at once
		return m.p.Hosts[h].Name + " has room, not for all cells and exclusive cores at once", share
	}
	return strings.Join(list, ", "), share
}

func (m *model) lack(n int32, cpu, mem int64) string {
	var list []string
	if cpu > 0 {
		list = append(list, m.p.Policy.units(float64(cpu)/float64(m.core)))
	}
	if mem > 0 {
		list = append(list, numa.Bytes(mem).String())
	}
	if len(list) == 0 {
		return ""
	}
	return m.nameOf(n) + " lacks " + strings.Join(list, " and ")
}

// moreBudget is the budget for packing the VMs left over onto additional hosts.
const moreBudget = 50_000

// more packs the VMs left over onto copies of the host that fits most of them.
func (m *model) more(ctx context.Context, left []int) *More {
	best, most := -1, 0
	for k := range m.kinds {
		n := 0
		for _, v := range left {
			n += int(b2i(m.fits[v*len(m.kinds)+k]))
		}
		if n > most {
			best, most = k, n
		}
	}
	if best < 0 {
		return nil
	}
	p := &Problem{Policy: m.p.Policy, Search: Search{Seed: m.p.Search.Seed, Budget: moreBudget}}
	p.Policy.Spare = 0
	for _, v := range left {
		if m.fits[v*len(m.kinds)+best] {
			p.VMs = append(p.VMs, m.p.VMs[v])
		}
	}
	host := m.p.Hosts[m.heads[best]]
	for range p.VMs {
		p.Hosts = append(p.Hosts, host)
	}
	try, err := newModel(p)
	if err != nil {
		return nil
	}
	s, _ := try.solve(ctx)
	return &More{Like: host.Name, Hosts: len(s.used), VMs: len(p.VMs)}
}

// uncovered lists the hosts whose VMs would not all fit an empty host.
func (out *Plan) uncovered(m *model, s *state) {
	var empty []int32 // one of each kind
	for h := range int32(len(s.On)) {
		if len(s.On[h]) == 0 && !slices.ContainsFunc(empty, func(o int32) bool { return m.kind[o] == m.kind[h] }) {
			empty = append(empty, h)
		}
	}
	f := &search{state: newState(m), keys: make([]float64, len(m.items))}
	for h, vms := range s.On {
		if len(vms) > 0 && !slices.ContainsFunc(empty, func(e int32) bool { return m.kind[e] == m.kind[h] || f.takesAll(e, vms) }) {
			out.Uncovered = append(out.Uncovered, h)
		}
	}
}

// takesAll reports whether an empty host has room for all these VMs, in one of the orders.
func (s *search) takesAll(h int32, vms []int32) (ok bool) {
	for _, order := range orders[:3] {
		list := slices.Clone(vms)
		s.sort(list, order, 0)
		s.Try(func() bool { ok = ok || s.all(h, list, false); return false })
	}
	return ok
}
