package rule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// Ways that change the size of a VM, or divide it by hand.

// atMost returns the way to n vCPUs with so many cores per socket, 0 for its own; why ends its text.
func atMost(n, cps int, why string) numa.Way {
	w := numa.Way{Do: "use at most " + words.Plural(n, "vCPU"), Edits: []numa.Edit{numa.EditVCPUs.To(n)}}
	if cps > 0 {
		w.Do += " with " + words.Plural(cps, "core") + " per socket"
		w.Edits = append(w.Edits, numa.EditCoresPerSocket.To(cps))
	}
	w.Do += why
	return w
}

// divides reports whether n vCPUs are known to be whole sockets of the VM.
func (v *VM) divides(n int) bool {
	return v.Guest.AutoCPS || v.CoresPerSocket.Known() && n%max(1, int(v.Guest.CoresPerSocket)) == 0
}

// Divided returns a way to fewer vCPUs on m with cores per socket that divide them; any other way as it is.
func (v *VM) Divided(w numa.Way, m *vnuma.Machine, why string) numa.Way {
	if len(w.Edits) != 1 || w.Edits[0].Kind != numa.EditVCPUs {
		return w
	}
	n, _ := strconv.Atoi(w.Edits[0].To.Text)
	if v.divides(n) {
		return atMost(n, 0, why)
	}
	return atMost(n, socketFor(int(m.Cores), n), why)
}

// Fitting returns the most vCPUs, up to most, that every host on which the VM is or to which it can move runs without sharing.
func (v *VM) Fitting(most int) int {
	for _, o := range v.Open() {
		n, _ := v.Crowded(o.Kind)
		most = min(most, n)
	}
	return most
}

// AtMostVCPUs returns the way to the maximum suitable number of vCPUs, up to most; why ends its text.
func (p *Pass) AtMostVCPUs(most int, why string) numa.Way {
	v := p.VM
	fits := v.Fitting(most)
	divided := func(n int) numa.Way { return v.Divided(atMost(n, 0, ""), &v.On[0].Kind.Machine, why) }
	first := divided(fits)
	if !v.Sized(most) {
		first = numa.ByHand(fmt.Sprintf("use fewer vCPUs and ask SAP: no size up to %d is whole sockets of its hosts or half a one, as SAP HANA is sized%s", most, why))
	}
	if p.Weighing || p.Cluster.Weigh == nil {
		return first
	}
	tries := 16
	if v.RunsHANA() {
		tries = fits
	}
	node := int(v.On[0].Kind.Machine.Cores)
	smallest := node // on every host
	for _, o := range v.Open() {
		smallest = min(smallest, int(o.Kind.Machine.Cores))
	}
	now := WeightOf(p.now())
	var serves *numa.Way // cures nothing by itself, and makes nothing worse
	for _, n := range down(fits, tries, node) {
		var best *numa.Way // with the least that is medium or high
		var least Weight
		for _, cps := range slices.Compact([]int{0, socketFor(smallest, n), socketFor(node, n), 1}) { // old virtual hardware has sockets of one core alone
			w := atMost(n, cps, why)
			if !v.Sized(n) || cps == 0 && !v.divides(n) {
				continue
			}
			if left := WeightOf(p.weigh(w.Edits)); best == nil || slices.Compare(left[:finding.Medium], least[:finding.Medium]) < 0 {
				best, least = &w, left
			}
		}
		if best == nil || least.Compare(now) > 0 {
			continue
		}
		if n < most {
			best.Do += p.instead(divided(most))
		}
		if least.Compare(now) < 0 {
			return *best
		}
		if serves == nil {
			serves = best
		}
	}
	if serves != nil {
		return *serves
	}
	return first
}

// WholeSockets returns the way to n vCPUs, which are whole sockets of its host, as SAP HANA is sized, with the plan for that size.
func (p *Pass) WholeSockets(n int) numa.Way {
	w := numa.Way{Do: fmt.Sprintf("take %d vCPUs, whole sockets", n), Edits: []numa.Edit{numa.EditVCPUs.To(n)}}
	socket, cps := p.VM.SocketOf(p.VM.On[0].Kind), int(p.VM.Guest.CoresPerSocket)
	if socket > 0 && !p.VM.Guest.AutoCPS && (n%cps != 0 || cps > socket) {
		w.Do += fmt.Sprintf(" of %s", words.Plural(socket, "core"))
		w.Edits = append(w.Edits, numa.EditCoresPerSocket.To(socket))
	}
	if p.Weighing {
		return w
	}
	if more, ok := p.withPlan(&w); ok {
		return more
	}
	return w
}

// instead describes the finding that the maximum would cause in place of fewer vCPUs, as the end of the text; "" if it causes none.
func (p *Pass) instead(most numa.Way) string {
	now := p.now()
	var worst *finding.Finding
	for _, a := range p.weigh(most.Edits) {
		had := slices.ContainsFunc(now, func(n finding.Finding) bool {
			return n.Rule == a.Rule && n.Topic == a.Topic && n.Severity >= a.Severity
		})
		if !had && a.Severity > finding.Info && (worst == nil || a.Severity > worst.Severity) {
			worst = &a
		}
	}
	if most.Edits == nil || worst == nil {
		return ""
	}
	return fmt.Sprintf(" (with %s: %s)", most.Edits[0].To.Text, words.Lower(worst.Title))
}

// down returns the numbers of vCPUs to try on nodes with this number of cores, from the maximum down, limited to tries. The maximum and even ones come first where
// their clients are even, then the other even ones.
func down(most, tries, node int) (out []int) {
	var even, odd []int
	for n := most; n > max(0, most-tries); n-- {
		clients := (n + node - 1) / max(1, node)
		switch {
		case (n == most || n%2 == 0) && n%max(1, clients) == 0:
			out = append(out, n)
		case n%2 == 0:
			even = append(even, n)
		default:
			odd = append(odd, n)
		}
	}
	return slices.Concat(out, even, odd)
}

// socketFor returns the largest divisor of n vCPUs that fits a node of this number of cores.
func socketFor(cores, n int) int {
	for k := min(n, cores); k > 1; k-- {
		if n%k == 0 {
			return k
		}
	}
	return 1
}

// ForNodes returns the way to make the VM small enough for nodes to which numa.nodeAffinity binds it then, on all of these kinds; ok is false if it is.
func (p *Pass) ForNodes(kinds []*Kind, nodes ...int) (smaller numa.Way, ok bool) {
	bound := p.VM.Guest
	bound.AllowedNodes, bound.Affinity = numa.SetOf(nodes...), false
	most, least := int(bound.VCPUs), math.MaxInt
	var less numa.Way
	for _, k := range kinds {
		cores, _ := k.Machine.CPUs(&bound)
		most = min(most, len(nodes)*int(cores))
		on := On{Kind: k, Layout: vnuma.Predict(&bound, &k.Machine, &vnuma.Case{Choices: p.Choices})}
		if on.Lacks(&bound)+on.Fills(&bound) == 0 {
			continue
		}
		w := p.AtMostMemory(&on, len(nodes), bound.AllowedNodes)
		if n, _ := strconv.Atoi(w.Edits[0].To.Text); n > 0 && n < least {
			least, less = n, w
		}
	}
	if most < int(bound.VCPUs) {
		smaller = p.AtMostVCPUs(most, "")
	}
	if less.Edits != nil {
		smaller.Do, smaller.Edits = words.Join(" and ", smaller.Do, less.Do), append(smaller.Edits, less.Edits...)
	}
	return smaller, smaller.Do != ""
}

// AtMostMemory returns the way to limit the VM's memory to that of n of the allowed nodes of its host.
func (p *Pass) AtMostMemory(on *On, n int, allowed numa.NodeSet) numa.Way {
	m := &on.Kind.Machine
	holds, all := m.Holds(n, allowed, p.Choices.FillToMinFree)
	most, why := all.Whole(), ""
	if holds != all && holds >= numa.GiB {
		most = holds.Whole()
		why = fmt.Sprintf(": new memory leaves %s of each node free", m.Reserve(p.Choices.FillToMinFree).New)
	}
	if p.VM.RunsHANA() {
		why += ", and only if its database fits, which SAP HANA holds in memory"
	}
	return numa.Way{Do: fmt.Sprintf("give the VM at most %s%s", most, why), Edits: []numa.Edit{numa.EditMemory.To(int(most / numa.MiB))}}
}

// LessMemory is AtMostMemory, after the ways that only change the placement of the VM: if only other hosts of the cluster are too small,
// nothing else is needed.
func (p *Pass) LessMemory(on *On, n int) []numa.Way {
	if p.away {
		return p.Elsewhere()
	}
	return append(p.Elsewhere(), p.AtMostMemory(on, n, p.VM.Guest.AllowedNodes))
}

// Divided returns the way to divide the VM by hand into the fewest equal nodes, n or more, where no plan does; nil if its host has too few.
func (p *Pass) Divided(n int) []numa.Way {
	g, m := &p.VM.Guest, &p.VM.On[0].Kind.Machine
	for ; n <= int(m.Nodes); n++ {
		if int(g.VCPUs)%n == 0 {
			_, clear := plan.ByHand(g, int(g.VCPUs)/n)
			return []numa.Way{{Do: strings.Join(clear.Steps(g, m), ", ") + p.VM.Cycle(), Edits: p.VM.Edits(&clear)}}
		}
	}
	return nil
}
