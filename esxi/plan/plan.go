// Package plan searches for a better configuration of a VM and lists the steps to it and back.
//
//	VM, its hosts ──► Best ──► Plan ──► Edit ──► Steps, Undo
//	                    └─ vnuma.Predict of each sensible Edit on each host
//
// Rules report the plan; right-sizing and the optimiser build on it. None of them searches itself.
package plan

import (
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A Plan is the best configuration found for a VM on its hosts, with its predicted layouts.
type Plan struct {
	Edit   Edit
	Before []vnuma.Layout // on each machine and each other, as configured
	After  []vnuma.Layout // on each machine, with the edit
	Better bool           // After is better than Before
	// Needed is the part of Edit without which harm remains, and Cured its result alone. The rest of Edit is cosmetic: it aligns sockets
	// with nodes, or equalises clients whose difference is unnoticeable.
	Needed Edit
	Cured  []vnuma.Layout
	// Fewer and More are the nearest vCPU counts that divide evenly on every
	// machine; 0 when the present one does, or none was found.
	Fewer, More int
	// For are the indexes of the other machines that need this edit: the best edit for the first machine only, Alone, makes the VM worse
	// there. Nil when Alone is Edit.
	For   []int
	Alone *Plan // nil when For is; on the first machine
	// AloneSimpler reports whether Alone has fewer changes, or fewer manual settings.
	AloneSimpler bool
}

// Best searches for the best configuration of the VM on the machines. It is powered on at the first and reaches the others by vMotion
// (rule book D-1). The criteria in order: no virtual node spread over several clients, no remote memory, clients that fit their nodes,
// equal sizes, as few clients as possible, a socket for each virtual node (B-25), few changes. Every candidate is predicted; the search
// covers the sensible ones, not all. Machines are weighed with the memory of their nodes equalised: a missing memory module should be
// repaired, not worked around by dividing VMs. If no edit makes the VM power on, the plan assumes that the cause of the refusal is fixed
// by other means. The other machines follow the machines in the layouts; they do not influence the choice.
func Best(g *vnuma.Guest, machines []vnuma.Machine, ch vnuma.Choices, others ...vnuma.Machine) Plan {
	s := search{g: g, machines: make([]vnuma.Machine, len(machines)), real: slices.Concat(machines, others), ch: ch}
	for i := range machines {
		s.machines[i] = machines[i].Repaired()
	}
	s.before = s.layout(g, 0)
	now := s.score(Edit{})
	best, least, apart := Edit{}, now, 0
	try := func(e Edit) {
		c := s.score(e) + e.cost(g)
		if c > least || c == least && apart == 0 {
			return
		}
		if a := s.apart(e); c < least || a < apart {
			best, least, apart = e, c, a
		}
	}
	for _, base := range s.bases() {
		for _, shape := range shapes(g, base.hardware(g), machines) {
			base.Shape = shape
			try(base)
			if s.spreads() && (base.PreferHTOff || !g.PreferHT) { // drop preferHT first
				spread := base
				spread.Spread = true
				try(spread)
			}
		}
	}
	if least > costManual { // manual sizes only where no other edit helps
		s.manual(try)
	}
	if least >= impossible && !g.Admitted {
		admitted := *g
		admitted.Admitted = true
		return Best(&admitted, machines, ch, others...)
	}
	best = s.minimal(best)
	least, apart = s.score(best)+best.cost(g), s.apart(best)
	for _, shape := range shapes(g, best.hardware(g), machines) { // without what was not needed, others may be better
		e := best
		e.Shape = shape
		try(e)
	}
	p := Plan{Edit: best, Before: s.layouts(Edit{}), After: s.layouts(best), Better: s.score(best) < now}
	if !p.Better {
		p.Edit, p.After = Edit{}, p.Before
	}
	p.Needed = s.needed(p.Edit)
	p.Cured = s.layouts(p.Needed)
	if s.uneven() {
		p.Fewer, p.More = s.nearestEven()
	}
	if p.Better && len(machines) > 1 {
		s.alone(&p)
	}
	return p
}

// manual tries the edits that set the size of virtual nodes by hand.
func (s *search) manual(try func(Edit)) {
	for _, base := range s.bases() {
		base.ManualOff = false
		for k := int32(2); k < s.g.VCPUs; k++ {
			if s.g.VCPUs%k != 0 || k > s.smallest() {
				continue
			}
			base.PerNode = int(k)
			base.Shape = Shape{}
			try(base)
			base.Shape = Shape{CoresPerSocket: int(k)}
			try(base)
			if base.hardware(s.g) < 20 {
				forced := base
				forced.Force = true
				try(forced)
			}
		}
	}
}

// apart returns how far the sockets are from one per virtual node (B-25). Among equal edits the lowest wins.
func (s *search) apart(e Edit) int {
	g := e.Apply(*s.g)
	l := s.layout(&g, 0)
	return max(l.VSockets.Len()-l.VPDs.Len(), l.VPDs.Len()-l.VSockets.Len())
}

// spreads reports whether to try numa.consolidate = FALSE: memory exceeds a node, and the setting is the documented fix for the release
// (Denneman, October 2017). Where NUMA Nodes can be set by hand, that is the fix (Denneman, November 2022), if the vCPUs divide over the nodes that hold the memory.
func (s *search) spreads() bool {
	m := &s.machines[0]
	if s.g.Spread || m.Model() < numa.ESXi65 || m.Nodes < 2 || !m.MemoryKnown() || s.g.Resident() <= m.NodeMemory {
		return false
	}
	return !canBeAutomatic(s.g.Hardware, s.machines) || int(s.g.VCPUs)%m.NodesFor(s.g.Resident()) != 0
}

// needed returns the part of e without which harm remains.
func (s *search) needed(e Edit) Edit {
	cure := *s
	cure.harm = true
	if cure.score(Edit{}) <= cure.score(e) {
		return Edit{}
	}
	part := cure.minimal(e)
	if part.ManualOff && part.PerNode != e.PerNode { // it would remove a value set by the rest
		return e
	}
	return part
}

// alone finds the other machines on which the best edit for the first machine only would be worse than the plan.
func (s *search) alone(p *Plan) {
	alone := Best(s.g, s.real[:1], s.ch)
	if alone.Edit == p.Edit {
		return
	}
	there, here := alone.Edit.Apply(*s.g), p.Edit.Apply(*s.g)
	for i := 1; i < len(s.machines); i++ {
		m := &s.machines[i]
		a, b := s.layout(&there, i), s.layout(&here, i)
		if flaws(&a, &there, m, false, false) > flaws(&b, &here, m, false, false) {
			p.For = append(p.For, i)
		}
	}
	if p.For != nil {
		p.Alone, p.AloneSimpler = &alone, alone.Edit.cost(s.g) < p.Edit.cost(s.g)
	}
}

type search struct {
	g        *vnuma.Guest
	machines []vnuma.Machine // repaired: used for scoring
	real     []vnuma.Machine // as they are: used for the reported layouts
	ch       vnuma.Choices
	before   vnuma.Layout // of g, on the first machine
	harm     bool         // ignore cosmetic flaws
}

// layouts predicts the edited VM: a power cycle on the first machine, then vMotion to the others.
func (s *search) layouts(e Edit) []vnuma.Layout {
	out := make([]vnuma.Layout, len(s.real))
	g := e.Apply(*s.g)
	told := *s
	told.machines = s.real
	for i := range out {
		out[i] = told.layout(&g, i)
	}
	return out
}

func (s *search) layout(g *vnuma.Guest, i int) vnuma.Layout {
	if i == 0 {
		return vnuma.Predict(g, &s.machines[0], &vnuma.Case{Choices: s.ch})
	}
	return vnuma.Predict(g, &s.machines[i], &vnuma.Case{Event: vnuma.VMotionIn, From: &s.machines[0], Choices: s.ch})
}

// bases returns the edits that remove obstacles, from none to all of them.
func (s *search) bases() []Edit {
	g := s.g
	all := cleared(g)
	all.Upgrade = s.upgrade()
	all.ManualOff = g.MaxPerVirtualNode > 0 || g.CoresPerNode > 0
	list := []Edit{{}, all}
	for _, change := range []func(*Edit){
		func(e *Edit) { e.HotAddOff = false },
		func(e *Edit) { e.PreferHTOff = g.PreferHT },
		func(e *Edit) { e.Min = int(g.VCPUs) },
		func(e *Edit) { e.SpreadOff = false },
		func(e *Edit) { e.ManualOff = false },
		func(e *Edit) { e.LimitsOff = false },
	} {
		e := all
		change(&e)
		if e != all && (e.Min == 0 || g.VCPUs < vnuma.DefaultMin && g.Min == 0 || g.Min > g.VCPUs) {
			list = append(list, e)
		}
	}
	return list
}

// upgrade returns the virtual hardware that the VM needs where its own has no vNUMA (B-2) or does not power on: the newest that all
// machines run; 0 for none.
func (s *search) upgrade() int {
	if h := s.g.Hardware; h == 0 || h >= 8 && (s.g.Admitted || !vnuma.Refuse(s.g, &s.machines[0]).Any()) {
		return 0
	}
	newest := 0
	for i := range s.machines {
		if h := s.machines[i].Release.Hardware(); i == 0 || h < newest {
			newest = h
		}
	}
	if newest <= int(s.g.Hardware) {
		return 0
	}
	return newest
}

// cleared returns the edit that removes all settings of the VM except manual sizes.
func cleared(g *vnuma.Guest) Edit {
	return Edit{
		HotAddOff: g.HotAdd, ForgetStored: g.Stored > 0 || g.CookieVCPUs > 0, SpreadOff: g.Spread,
		LimitsOff: g.MaxPerMachineNode > 0 || g.MaxPerClient > 0, FollowOff: g.Follow,
	}
}

// ByHand returns two edits that divide the VM into virtual nodes of per vCPUs: without other changes, and with conflicting settings removed.
func ByHand(g *vnuma.Guest, per int) (asIs, clear Edit) {
	asIs = Edit{Shape: Shape{CoresPerSocket: per}, PerNode: per, Force: g.Hardware < 20}
	if g.VCPUs < g.Min || g.Min == 0 && g.VCPUs < vnuma.DefaultMin { // B-3, F-29
		asIs.Min = int(g.VCPUs)
	}
	clear = cleared(g)
	clear.Shape, clear.PerNode, clear.Force, clear.Min = asIs.Shape, asIs.PerNode, asIs.Force, asIs.Min
	return asIs, clear
}

// shapes returns the cores per socket to try: the present ones, automatic, and every divisor of the vCPU count.
func shapes(g *vnuma.Guest, hardware int32, machines []vnuma.Machine) []Shape {
	list := []Shape{{}}
	if canBeAutomatic(hardware, machines) && !g.AutoCPS {
		list = append(list, Shape{CoresPerSocket: 1, Auto: true})
	}
	for k := int32(1); k <= g.VCPUs; k++ {
		if g.VCPUs%k == 0 && (k != g.CoresPerSocket || g.AutoCPS) {
			list = append(list, Shape{CoresPerSocket: int(k)})
		}
	}
	return list
}

// undos returns the functions that remove a single change.
func undos() []func(*Edit) {
	return []func(*Edit){
		func(e *Edit) { e.HotAddOff = false }, func(e *Edit) { e.Shape = Shape{} }, func(e *Edit) { e.ForgetStored = false },
		func(e *Edit) { e.ManualOff = false }, func(e *Edit) { e.SpreadOff = false }, func(e *Edit) { e.Spread = false }, func(e *Edit) { e.LimitsOff = false },
		func(e *Edit) { e.PreferHTOff = false }, func(e *Edit) { e.FollowOff = false }, func(e *Edit) { e.Min = 0 },
		func(e *Edit) { e.Upgrade = 0 }, func(e *Edit) { e.PerNode, e.Force = 0, false }, func(e *Edit) { e.Force = false },
	}
}

// minimal removes every single change from e that is not needed.
func (s *search) minimal(e Edit) Edit {
	least := s.score(e)
	for _, undo := range undos() {
		without := e
		undo(&without)
		if c := s.score(without); c <= least {
			e, least = without, c
		}
	}
	return e
}

// Near returns the edits without one of the changes of e, and those with other cores per socket for n vCPUs.
func (e Edit) Near(n int32) (out []Edit) {
	for _, undo := range undos() {
		without := e
		if undo(&without); without != e && without != (Edit{}) {
			out = append(out, without)
		}
	}
	for k := n; k > 0; k-- {
		if n%k == 0 && e.Shape != (Shape{}) && e.Shape.CoresPerSocket != int(k) {
			other := e
			other.Shape = Shape{CoresPerSocket: int(k)}
			out = append(out, other)
		}
	}
	return out
}

// Instead returns the plan with another edit for the VM on the machines, all of which is needed.
func (p Plan) Instead(e Edit, g *vnuma.Guest, ch vnuma.Choices, machines ...vnuma.Machine) *Plan {
	s := search{g: g, machines: machines, real: machines, ch: ch}
	p.Edit, p.Needed, p.For, p.Alone = e, e, nil, nil
	p.After = s.layouts(e)
	p.Cured = p.After
	return &p
}

// smallest returns the cores of the smallest node of all machines.
func (s *search) smallest() int32 {
	least := s.machines[0].Cores
	for i := range s.machines {
		least = min(least, s.machines[i].Cores)
	}
	return least
}

// uneven reports whether the vCPU count divides unevenly on the first machine.
func (s *search) uneven() bool { return !evenOn(s.g.VCPUs, &s.machines[0]) }

// canBeAutomatic reports whether every machine chooses cores per socket itself
// (rule book B-18).
func canBeAutomatic(hardware int32, machines []vnuma.Machine) bool {
	for i := range machines {
		if hardware < 20 || machines[i].Model() < numa.ESXi80 {
			return false
		}
	}
	return true
}

// evenOn reports whether n vCPUs divide evenly over the fewest nodes of m.
func evenOn(n int32, m *vnuma.Machine) bool {
	return n%m.Least(n) == 0
}

// nearestEven returns the vCPU counts next to the present one that divide evenly on every machine and do not exceed its cores.
func (s *search) nearestEven() (fewer, more int) {
	n := int(s.g.VCPUs)
	fits := func(k int) bool {
		for i := range s.machines {
			m := &s.machines[i]
			_, all := m.CPUs(s.g)
			large := s.g.Usable.PerNode > 0 && int32(k)/m.Least(int32(k)) > s.g.Usable.PerNode
			if !evenOn(int32(k), m) || k%2 == 1 && k > 1 && k != int(m.Cores) || vnuma.NeedsIOMMU(k) && !vnuma.NeedsIOMMU(n) || k > int(all) || k > vnuma.HardwareOf(s.g, m).VCPUs || large {
				return false
			}
		}
		return true
	}
	for k := n - 1; k > 0 && fewer == 0; k-- {
		if fits(k) {
			fewer = k
		}
	}
	for k := n + 1; k <= 2*n+numa.MaxNodes && more == 0; k++ {
		if fits(k) {
			more = k
		}
	}
	return fewer, more
}
