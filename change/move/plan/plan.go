// Package plan assigns hosts to the VMs of a move. It converts their shapes and a policy for administrators to a problem of package pack, and
// the solution to a placement for each VM.
//
//	move.NeedOf ──► pack.Problem ──► pack.Plan ──► move.Placement ──► move.Options.At
//	Policy, hosts ──────┘
package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/change/move/pack"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// A Policy limits how full hosts may be, and groups VMs. The zero value: one vCPU per core, nothing reserved.
type Policy struct {
	PerCore  float64 // vCPUs per core, in steps of a hundredth; 0 means 1
	Ratios   []Ratio // for some VMs; the first match counts
	Threads  bool    // threads count as cores
	Failover int     // hosts that stay empty: the number that may fail
	// KeptCores and KeptMemory of each node with cores are reserved for the host.
	KeptCores  int
	KeptMemory numa.Bytes
	// Apart are groups of VMs that must all be on different hosts: patterns of each group.
	Apart [][]string
	// Waves are VMs that move together, in their order: patterns of each wave. VMs in none of them form the last wave. Without Waves, each
	// cluster is a wave.
	Waves [][]string
}

// A Ratio is vCPUs per core for some VMs.
type Ratio struct {
	VMs     string // pattern
	PerCore float64
}

// A Plan assigns hosts to the VMs of a fleet.
type Plan struct {
	Policy Policy
	Hosts  []pack.Host // without the reserved parts, in the order of Made.Hosts
	VMs    []*rule.VM  // in the order of Made.VMs
	Needs  []*move.Need
	Waves  []string // names, by number of the wave
	Made   *pack.Plan

	// More describes, for each VM, the resources in the plan that only some of the platforms need; "" if all need the same.
	More []string

	index   map[string]int // of VMs, by ID
	perCore []int          // of each VM, its vCPUs on the threads of one core; 0 means one
	wave    []int          // of each VM, its index in Made.Waves; -1 for none
}

// Keep reserves the host's share of each node that has cores.
func (p *Policy) Keep(hosts []pack.Host) {
	for i := range hosts {
		for j := range hosts[i].Nodes {
			if n := &hosts[i].Nodes[j]; n.Cores > 0 {
				n.KeptCores, n.KeptMemory = min(p.KeptCores, n.Cores), min(p.KeptMemory, n.Memory)
			}
		}
	}
}

// Sizing returns the kinds of hosts for which guests are sized with --shape fit, less the reserved share of each node, each named after its
// first host.
func Sizing(hosts []pack.Host) (kinds []move.Host) {
	for _, h := range hosts {
		one := move.Host{Name: h.Name, Count: 1}
		for _, n := range h.Nodes {
			if n.Cores > 0 {
				one.Nodes = append(one.Nodes, numa.Space{Cores: n.Cores - n.KeptCores, Memory: n.Memory - n.KeptMemory})
			}
		}
		if i := slices.IndexFunc(kinds, func(k move.Host) bool { return slices.Equal(k.Nodes, one.Nodes) }); i >= 0 {
			kinds[i].Count++
		} else {
			kinds = append(kinds, one)
		}
	}
	return kinds
}

// Make plans the hosts of the VMs that can be created on one of the platforms. hosts include the reserved shares. o is as for move.Fleet; its
// At is not called. The error names a pattern that matches no VM, a value that pack rejects, or the end of the context.
func Make(ctx context.Context, r *rules.Result, to []*move.Platform, o move.Options, hosts []pack.Host, policy Policy) (*Plan, error) {
	out := &Plan{Policy: policy, Hosts: hosts, index: map[string]int{}}
	o.At = func(*rule.VM) (*move.Placement, string) { return nil, "" }
	p := &pack.Problem{Hosts: hosts}
	p.Policy = pack.Policy{Overcommit: map[string]float64{"": cmp.Or(policy.PerCore, 1)}, Threads: policy.Threads, Spare: policy.Failover}
	sort := newSorter(&policy, r)
	out.Waves = sort.waves
	names := map[string]bool{}
	for v, cluster := range move.VMs(r) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		need, more := needOf(v, to, o)
		if need == nil {
			continue
		}
		one := pack.VM{Name: v.Name, Exclusive: need.Exclusive, Page: need.Shape.Page, Most: move.MostOfNode(v)}
		if t := need.Threads; one.Exclusive && t > 1 && pack.Siblings(hosts, t) {
			one.PerCore = t // B-21
		}
		if names[one.Name] {
			one.Name = v.Name + " (" + v.ID + ")"
		}
		names[one.Name] = true
		if one.Page == 0 { // with huge pages it is part of the host's reserved memory
			one.Own = numa.OwnOfQEMU(need.Shape.Memory, need.Shape.Most())
		}
		one.Cells = cellsOf(need)
		sort.put(&one, v, cluster)
		out.index[v.ID], out.perCore = len(p.VMs), append(out.perCore, one.PerCore)
		p.VMs, out.VMs, out.Needs, out.More = append(p.VMs, one), append(out.VMs, v), append(out.Needs, need), append(out.More, more)
	}
	if err := sort.unused(); err != nil {
		return nil, err
	}
	for i, ratio := range policy.Ratios {
		p.Policy.Overcommit[classOf(i)] = ratio.PerCore
	}
	made, err := pack.Make(ctx, p)
	if err != nil {
		return nil, err
	}
	for i := range made.VMs {
		out.name(&made.VMs[i].Cure, i, to, o, p)
	}
	out.Made = made
	out.wave = slices.Repeat([]int{-1}, len(out.VMs))
	for i, w := range made.Waves {
		for _, v := range w.VMs {
			out.wave[v] = i
		}
	}
	return out, nil
}

// name adds the options to the cure of a VM that fits no host.
func (out *Plan) name(cure *string, i int, to []*move.Platform, o move.Options, p *pack.Problem) {
	if strings.HasPrefix(*cure, "as ") && o.Shape != move.Fit {
		shape, threads, _ := strings.Cut(*cure, "; ")
		*cure = cmp.Or(asNow(out.VMs[i], p.VMs[i], to, o, p), shape+": --shape fit") + " (--vm for this VM alone)"
		if threads != "" {
			*cure += "; " + threads
		}
	}
	if strings.HasSuffix(*cure, pack.ByThreads) {
		*cure += ": --count-threads"
	}
}

// asNow returns a hint for a VM that was to get the nodes of its clients and fits an empty host with the nodes that its guest sees on vSphere;
// "" if it does not fit.
func asNow(v *rule.VM, one pack.VM, to []*move.Platform, o move.Options, p *pack.Problem) string {
	if o.Shape != "" && o.Shape != move.Clients {
		return ""
	}
	o.Shape = move.Same
	need, _ := needOf(v, to, o)
	if need == nil {
		return ""
	}
	one.Cells = cellsOf(need)
	host, ok := pack.Takes(p, one)
	if !ok {
		return ""
	}
	return fmt.Sprintf("with the %s that its guest sees now it fits an empty %s: --shape same", words.Plural(len(one.Cells), "node"), host)
}

// cellsOf returns the cells to be packed.
func cellsOf(need *move.Need) (out []pack.Cell) {
	for _, c := range need.Shape.Cells {
		out = append(out, pack.Cell{VCPUs: len(c.CPUs), Memory: c.Memory})
	}
	return out
}

// needOf returns the combined needs of a VM on all platforms: huge pages and CPUs of its own if one of the platforms provides them. more
// describes the needs that only some platforms have, and names these platforms; "" for none.
func needOf(v *rule.VM, to []*move.Platform, o move.Options) (out *move.Need, more string) {
	var exclusive, pages []string // the platforms that need it
	var threads []int
	made := 0
	for _, p := range to {
		need := move.NeedOf(v, p, o)
		if need == nil {
			continue
		}
		made++
		if need.Exclusive {
			exclusive, threads = append(exclusive, p.Title), append(threads, need.Threads)
		}
		switch {
		case out == nil || need.Shape.Page > out.Shape.Page:
			out, pages = need, []string{p.Title}
		case need.Shape.Page == out.Shape.Page:
			pages = append(pages, p.Title)
		}
	}
	if out == nil {
		return nil, ""
	}
	if out.Exclusive = exclusive != nil; out.Exclusive {
		out.Threads = slices.Min(threads)
	}
	var texts []string
	for _, one := range []struct {
		what string
		who  []string
	}{{"a CPU for each vCPU", exclusive}, {fmt.Sprintf("huge pages of %s", out.Shape.Page), pages}} {
		if n := len(one.who); n > 0 && n < made {
			texts = append(texts, fmt.Sprintf("%s, for %s alone", one.what, strings.Join(one.who, " and ")))
		}
	}
	return out, strings.Join(texts, "; ")
}

// Of returns the index of a VM in the lists of the plan; false if it is not planned.
func (p *Plan) Of(id string) (i int, ok bool) {
	i, ok = p.index[id]
	return i, ok
}

// Wave returns the number of the VM's wave, from 1; false if the VM is not placed.
func (p *Plan) Wave(id string) (n int, ok bool) {
	i, ok := p.index[id]
	if !ok || p.wave[i] < 0 {
		return 0, false
	}
	return p.wave[i] + 1, true
}

// At returns the placement of a VM, or the reason why no host accepts it and a remedy; neither for a VM that cannot be created on any
// platform.
func (p *Plan) At(v *rule.VM) (at *move.Placement, why string) {
	i, ok := p.index[v.ID]
	if !ok {
		return nil, ""
	}
	put := &p.Made.VMs[i]
	if put.Host < 0 {
		return nil, fmt.Sprintf("it fits no host: %s. This would help: %s", put.Why, put.Cure)
	}
	at = &move.Placement{Host: p.Hosts[put.Host].Name, PerCore: p.perCore[i], Vendor: p.Hosts[put.Host].Vendor}
	for _, c := range put.Cells {
		at.Nodes = append(at.Nodes, c.Node)
		if c.CPUs != nil {
			if at.CPUs == nil {
				at.CPUs = map[int][]int{}
			}
			at.CPUs[c.Node] = c.CPUs
		}
	}
	if p.Needs[i].Exclusive && at.CPUs != nil {
		at.Helpers = p.helpers(put.Host, at.Nodes)
	}
	return at, ""
}

// helpers returns the CPUs of a host for the other threads of QEMU, for a VM with CPUs of its own. It prefers the cores reserved for the host
// over cores without exclusive VMs, and the VM's nodes over the others.
func (p *Plan) helpers(host int, nodes []int) []int {
	alone := map[int]bool{}
	for i, v := range p.Made.VMs {
		for _, c := range v.Cells {
			for _, cpu := range c.CPUs {
				alone[cpu] = alone[cpu] || v.Host == host && p.Needs[i].Exclusive
			}
		}
	}
	var own, near, others []int
	for _, n := range p.Hosts[host].Nodes {
		for i, core := range n.CPUs {
			switch {
			case slices.ContainsFunc(core, func(cpu int) bool { return alone[cpu] }):
			case !slices.Contains(nodes, n.ID):
				others = append(others, core...)
			case i < n.KeptCores:
				own = append(own, core...)
			default:
				near = append(near, core...)
			}
		}
	}
	for _, cpus := range [][]int{own, near} {
		if cpus != nil {
			return cpus
		}
	}
	return others
}

// A sorter assigns class, group and wave to VMs.
type sorter struct {
	policy               *Policy
	ratios, apart, wave  []glob.Patterns
	usedRatio, usedApart []bool
	usedWave             []bool
	waves                []string
	clusters             map[*rule.Cluster]int
	kept                 map[string][]string // DRS rules that keep a VM apart from others, by its ID
}

func newSorter(p *Policy, r *rules.Result) *sorter {
	s := &sorter{policy: p, clusters: map[*rule.Cluster]int{}, kept: map[string][]string{}}
	for i := range r.Fleet.Clusters {
		c := &r.Fleet.Clusters[i]
		for k, g := range c.Apart {
			for _, id := range g.VMs {
				s.kept[id] = append(s.kept[id], fmt.Sprintf("DRS rule %d of %s: %s", k+1, c.Name, g.Name))
			}
		}
	}
	for _, one := range p.Ratios {
		s.ratios = append(s.ratios, glob.Compile([]string{one.VMs}, ""))
	}
	for _, one := range p.Apart {
		s.apart = append(s.apart, glob.Compile(one, ""))
	}
	for _, one := range p.Waves {
		s.wave = append(s.wave, glob.Compile(one, ""))
		s.waves = append(s.waves, strings.Join(one, ", "))
	}
	s.usedRatio, s.usedApart, s.usedWave = make([]bool, len(s.ratios)), make([]bool, len(s.apart)), make([]bool, len(s.wave))
	if s.wave != nil {
		s.waves = append(s.waves, "all others")
		return s
	}
	for i, c := range r.Clusters {
		s.clusters[c] = i
		s.waves = append(s.waves, c.Title())
	}
	return s
}

// put sets the class, the group and the wave of a VM. The patterns have the syntax of --vm.
func (s *sorter) put(one *pack.VM, v *rule.VM, cluster *rule.Cluster) {
	first := func(list []glob.Patterns, used []bool) int {
		i := slices.IndexFunc(list, func(p glob.Patterns) bool { return p.Named(v.Name, cluster.Name+"/"+v.Name, v.ID) })
		if i >= 0 {
			used[i] = true
		}
		return i
	}
	if i := first(s.ratios, s.usedRatio); i >= 0 {
		one.Class = classOf(i)
	}
	if one.Wave = first(s.wave, s.usedWave); one.Wave < 0 {
		one.Wave = len(s.wave)
	}
	if s.wave == nil {
		one.Wave = s.clusters[cluster]
	}
	for i, p := range s.apart {
		if !p.Named(v.Name, cluster.Name+"/"+v.Name, v.ID) {
			continue
		}
		s.usedApart[i] = true
		one.Groups = append(one.Groups, strings.Join(s.policy.Apart[i], ","))
	}
	one.Groups = append(one.Groups, s.kept[v.ID]...)
}

// unused returns an error for the first pattern that matches no VM.
func (s *sorter) unused() error {
	for i, used := range s.usedRatio {
		if !used {
			return fmt.Errorf("vCPUs per core of %q: it matches no VM that is moved", s.policy.Ratios[i].VMs)
		}
	}
	for i, used := range s.usedApart {
		if !used {
			return fmt.Errorf("apart %q: it matches no VM that is moved", strings.Join(s.policy.Apart[i], ","))
		}
	}
	for i, used := range s.usedWave {
		if !used {
			return fmt.Errorf("wave %q: it matches no VM that is moved and is in no wave before", strings.Join(s.policy.Waves[i], ","))
		}
	}
	return nil
}

func classOf(i int) string { return fmt.Sprintf("ratio %d", i+1) }
