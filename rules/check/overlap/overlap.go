// Package overlap finds VMs of one host that affinities restrict to the same PCPUs or nodes.
package overlap

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed overlap.md
var page string

// Rule is N024.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, Check: check})

func check(p *rule.Pass) {
	if p.Kind == nil {
		return
	}
	var pinned []*rule.VM
	for _, v := range p.Cluster.Running(p.Host) {
		if v.Guest.Affinity {
			pinned = append(pinned, v)
		}
	}
	onPCPUs(p, pinned)
	onNodes(p)
}

// A group is VMs whose PCPUs overlap, directly or through others.
type group struct {
	index int // in the order of the fleet
	vms   []*rule.VM
	lists [][]int // of each VM
	pcpus []int   // of all, ascending
	vcpus int
}

// onPCPUs reports groups of VMs with overlapping CPU affinity, and VMs with fewer
// PCPUs than vCPUs.
func onPCPUs(p *rule.Pass, vms []*rule.VM) {
	for _, g := range groups(vms) {
		busiest, load := g.busiest()
		cores := g.cores(p.Host)
		f := finding.Finding{Severity: finding.Info, Topic: fmt.Sprintf("PCPU %d", g.pcpus[0]), Advice: "Give each VM PCPUs of its own, no more vCPUs than cores, or clear the CPU affinities"}
		switch {
		case load > 1:
			f.Severity = finding.Medium
		case g.vcpus > cores:
			f.Severity = finding.Low
		}
		if len(g.vms) == 1 {
			if load <= 1 {
				continue
			}
			f.Message = fmt.Sprintf("%s has %d vCPUs on %s", g.vms[0].Name, g.vcpus, words.Plural(len(g.pcpus), "PCPU"))
			f.Advice = "Give the VM at least as many PCPUs as vCPUs, or clear its CPU affinity"
		} else {
			f.Message = fmt.Sprintf("%s are pinned to overlapping PCPUs: %d vCPUs on %s (%s) of %s", rule.Names(g.vms), g.vcpus,
				words.Plural(len(g.pcpus), "PCPU"), words.Ranges(g.pcpus), words.Plural(cores, "core"))
		}
		if load > 1 {
			f.Message += fmt.Sprintf("; PCPU %d alone has a demand of %.1f vCPUs", busiest, load)
		}
		for i, v := range g.vms {
			f.Evidence = append(f.Evidence, finding.Evidence{Name: "CPU affinity of " + v.Name, Value: words.Ranges(g.lists[i]), Origin: pinOrigin(v.VM), At: v.At},
				finding.Of("vCPUs of "+v.Name, v.VCPUs, v.At))
		}
		f.Evidence = append(f.Evidence, p.NodesEvidence())
		p.Report(f, nil)
	}
}

// pinOrigin returns the source of the CPU affinity.
func pinOrigin(v *numa.VM) string {
	if len(v.CPUAffinity.Value) > 0 {
		return v.CPUAffinity.Origin.String()
	}
	return v.Settings.Origin.String()
}

// groups joins the VMs that share PCPUs, in the order of their first PCPU. It needs time linear
// in the size of the lists.
func groups(vms []*rule.VM) []*group {
	of := map[int]*group{} // by PCPU
	joined := map[*group]*group{}
	var root func(g *group) *group
	root = func(g *group) *group {
		if to := joined[g]; to != nil && to != g {
			joined[g] = root(to)
			return joined[g]
		}
		return g
	}
	var all []*group
	for _, v := range vms {
		list := vnuma.PinnedPCPUs(v.VM)
		if len(list) == 0 {
			continue
		}
		g := &group{index: len(all), vms: []*rule.VM{v}, lists: [][]int{list}, vcpus: int(v.Guest.VCPUs)}
		all = append(all, g)
		for _, c := range list {
			if other := of[c]; other != nil {
				first, later := root(other), root(g)
				if first.index > later.index {
					first, later = later, first
				}
				joined[later] = first
			}
			of[c] = g
		}
	}
	var out []*group
	for _, g := range all {
		r := root(g)
		if r == g {
			out = append(out, g)
		}
	}
	return gather(all, out, root)
}

// gather moves the VMs of all groups to the roots.
func gather(all, roots []*group, root func(*group) *group) []*group {
	for _, g := range all {
		if r := root(g); r != g {
			r.vms, r.lists, r.vcpus = append(r.vms, g.vms...), append(r.lists, g.lists...), r.vcpus+g.vcpus
		}
	}
	for _, g := range roots {
		for _, list := range g.lists {
			g.pcpus = append(g.pcpus, list...)
		}
		slices.Sort(g.pcpus)
		g.pcpus = slices.Compact(g.pcpus)
	}
	slices.SortFunc(roots, func(a, b *group) int { return cmp.Compare(a.pcpus[0], b.pcpus[0]) })
	return roots
}

// busiest returns the PCPU with the highest demand, in vCPUs, if each VM spreads evenly over
// its list.
func (g *group) busiest() (pcpu int, load float64) {
	loads := map[int]float64{}
	for i, list := range g.lists {
		for _, c := range list {
			loads[c] += float64(g.vms[i].Guest.VCPUs) / float64(len(list))
		}
	}
	for _, c := range g.pcpus {
		if loads[c] > load {
			pcpu, load = c, loads[c]
		}
	}
	return pcpu, load
}

// cores counts the cores of the PCPUs.
func (g *group) cores(h *numa.Host) int {
	perCore := 1
	if c, t := h.Cores.Or(0), h.Threads.Or(0); c > 0 && t > c && h.HyperThreading.Or(true) {
		perCore = t / c
	}
	n, last := 0, -1
	for _, c := range g.pcpus {
		if c/perCore != last {
			n, last = n+1, c/perCore
		}
	}
	return n
}

// onNodes reports nodes that NUMA node affinities load beyond their cores while other nodes of
// the host are unused by affinities.
func onNodes(p *rule.Pass) {
	for _, n := range p.Host.Nodes.Value {
		threads := n.Threads
		if !p.Host.HyperThreading.Or(true) {
			threads = n.Cores
		}
		users, vcpus := p.Cluster.BoundTo(p.Host, n.ID)
		if n.Cores == 0 || len(users) < 2 || vcpus <= float64(n.Cores) {
			continue
		}
		f := finding.Finding{
			Severity: finding.Low, Topic: fmt.Sprintf("node %d", n.ID),
			Message: fmt.Sprintf("numa.nodeAffinity restricts %s to node %d: %.0f vCPUs on %d cores",
				rule.Names(users), n.ID, vcpus, n.Cores),
			Advice: "Clear numa.nodeAffinity where no device asks for it, or spread the VMs over the nodes",
		}
		if vcpus > float64(threads) {
			f.Severity = finding.Medium
			f.Message += fmt.Sprintf(" and %d threads", threads)
		}
		if taken := exclusive(users, p); taken >= n.Cores && (taken > n.Cores || vcpus > float64(taken)) {
			f.Severity = finding.Medium
			f.Message += fmt.Sprintf("; latency sensitivity High wants %d of these cores for itself, so that not every vCPU has a core", taken)
		}
		for _, v := range users {
			e := v.SettingEvidence("numa.nodeAffinity")
			e.Name += " of " + v.Name
			f.Evidence = append(f.Evidence, e, finding.Of("vCPUs of "+v.Name, v.VCPUs, v.At))
		}
		f.Evidence = append(f.Evidence, p.NodesEvidence())
		p.Report(f, nil)
	}
}

// exclusive returns the cores of a node that those of its VMs with latency sensitivity High want for themselves, each its even part: a second thread
// does not help, because nothing else runs on such a core (B-21).
func exclusive(users []*rule.VM, p *rule.Pass) (cores int) {
	for _, v := range users {
		if v.Guest.Needs.Exclusive {
			cores += v.Guest.ExclusiveCores(&p.Kind.Machine) / max(1, p.Kind.Machine.Allowed(v.Guest.AllowedNodes))
		}
	}
	return cores
}
