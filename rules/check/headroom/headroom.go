// Package headroom finds NUMA nodes that a load peak would fill.
package headroom

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed headroom.md
var page string

// Rule is H007.
var Rule = rule.New(page, rule.Rule{
	// For an inventory low where it assumes that memory is touched, which was not observed. See Foresee.
	Severity: finding.Medium,
	Check:    check,
})

func check(p *rule.Pass) {
	h := p.Host
	if p.Kind == nil || !p.Kind.Machine.MemoryKnown() {
		return
	}
	vms := p.Cluster.Running(h)
	powerOn(p, vms)
	over := p.Cluster.Excess(p.Kind, h)
	if over <= 0 && len(h.Nodes.Value) < 2 {
		return
	}
	f := finding.Finding{}
	unknown := 0
	for _, v := range vms {
		if !v.Memory.Known() {
			unknown++
		}
	}
	homes := rule.HomesOn(h, vms, func(v *rule.VM) *vnuma.Layout { return &v.On[0].Layout }, p.Choices)
	nodes, loose := homes.Nodes, homes.Loose
	basis, seen := homes.Basis()
	switch {
	case seen == 0:
		f.Assumes = append(f.Assumes, "homes are predicted, VMs placed in the order of the inventory (C-4)")
	case seen < len(vms)-len(loose):
		f.Assumes = append(f.Assumes, fmt.Sprintf("homes of %s are predicted, placed in the order of the inventory (C-4)", words.Plural(len(vms)-len(loose)-seen, "VM")))
	}
	percent := rule.OptionEvidence(h, "Mem.MemMinFreePct")
	reserve := numa.Bytes(float64(memory.Of(h, p.Choices.FillToMinFree).New) * p.Threshold("reserve"))
	tight := tightNodes(nodes, vms, reserve)
	if over <= 0 { // otherwise it is more than N005
		tight = slices.DeleteFunc(tight, func(t tightNode) bool { return overfilled(t.Node, vms) })
	}
	if over <= 0 && len(tight) == 0 {
		return
	}
	for _, a := range []struct {
		n    int
		text string
	}{
		{unknown, "the memory of %s is unknown and not counted"},
		{len(loose), "%s without a home node: memory on all nodes, in proportion to what is free (C-12)"},
	} {
		if a.n > 0 {
			f.Assumes = append(f.Assumes, fmt.Sprintf(a.text, words.Plural(a.n, "VM")))
		}
	}
	if over > 0 {
		overcommitted(p, &f, tight, vms, over, reserve)
	} else {
		describe(p, &f, tight, vms, reserve)
	}
	f.Evidence = append(f.Evidence, finding.Of("memory of "+h.Name, h.Memory, h.At), percent, p.NodesEvidence())
	if seen > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{Name: "home nodes", Value: basis, Origin: "read: observations of the VMs", At: h.At})
	}
	p.Report(f, nil)
}

// A tightNode has no room for the reserve beside the memory of its own clients.
type tightNode struct {
	*placement.Node
	free, spilled, nowhere numa.Bytes // spilled: memory of its clients on other nodes; nowhere: on none
	lacks                  numa.Bytes // memory to free, so that all of its clients' memory fits beside the reserve
}

// tightNodes returns the nodes that lack memory for their own clients and the reserve, those with the most memory elsewhere first. Memory is counted where
// its home is: what is here because its home is full comes home once that has room, unless one VM alone overfills that node.
func tightNodes(nodes []placement.Node, vms []*rule.VM, reserve numa.Bytes) []tightNode {
	stays := map[int]bool{} // requests without home node, or with one that a VM overfills
	for i, v := range vms {
		stays[i] = !v.On[0].Layout.Managed
	}
	for i := range nodes {
		if overfilled(&nodes[i], vms) {
			for _, c := range nodes[i].Clients {
				stays[c.Request] = true
			}
		}
	}
	var out []tightNode
	for i := range nodes {
		n := &nodes[i]
		free, ok := n.Free()
		t := tightNode{Node: n, free: max(0, free), lacks: reserve - free}
		for _, c := range n.Clients {
			t.spilled, t.nowhere = t.spilled+c.Crossed+c.Remote, t.nowhere+c.Nowhere
		}
		t.lacks += t.spilled + t.nowhere
		for _, s := range n.Foreign {
			if !stays[s.Request] {
				t.lacks -= s.Memory
			}
		}
		if ok && len(n.Clients) > 0 && t.lacks > 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b tightNode) int {
		return cmp.Or(cmp.Compare(b.spilled, a.spilled), cmp.Compare(b.lacks, a.lacks), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// overfilled reports whether the node has a VM with more memory than its nodes: such a VM fills it regardless of the other
// VMs, and is reported as N005.
func overfilled(n *placement.Node, vms []*rule.VM) bool {
	return slices.ContainsFunc(n.Clients, func(c placement.Client) bool {
		m := &vms[c.Request].On[0].Layout.Memory
		return m.Away()+m.First+m.Crossed > 0
	})
}

// left formats the free memory.
func left(free numa.Bytes) string {
	if free < numa.MiB {
		return "nothing"
	}
	return "only " + round(free).String()
}

// describe writes the finding about the tightest node.
func describe(p *rule.Pass, f *finding.Finding, tight []tightNode, vms []*rule.VM, reserve numa.Bytes) {
	n := tight[0]
	homes := users(n.Node, vms)
	f.Severity = finding.Low
	f.Message = fmt.Sprintf("node %d would have %s of %s free if its %s used all their memory; the reserve is %s: %s, %d vCPUs on %s",
		n.ID, left(n.free), n.Memory.Value, words.Plural(len(homes), "VM"), round(reserve), rule.Names(homes), n.VCPUs, words.Plural(n.Cores, "core"))
	if n.spilled > 0 {
		because := fmt.Sprintf("ESXi keeps %s of a node free", round(reserve))
		if n.free < numa.MiB {
			because = "the node is full"
		}
		f.Message = fmt.Sprintf("node %d of %s cannot hold all memory of its %s: %s go to other nodes, because %s; %s, %d vCPUs on %s",
			n.ID, n.Memory.Value, words.Plural(len(homes), "VM"), round(n.spilled), because, rule.Names(homes), n.VCPUs, words.Plural(n.Cores, "core"))
	}
	if n.nowhere > 0 {
		f.Message += fmt.Sprintf("; %s do not fit any other node and are ballooned or swapped then", round(n.nowhere))
	}
	f.Message += foreign(n.Node, vms)
	if len(tight) > 1 {
		var others []int
		for _, t := range tight[1:] {
			others = append(others, t.ID)
		}
		slices.Sort(others)
		f.Message += fmt.Sprintf("; %s too", words.Numbered("node", others))
	}
	move := "move VMs to another host before the peak, or "
	if bound(homes) {
		move = ""
	}
	f.Advice = fmt.Sprintf("Free %s: %sgive VMs less memory", words.Join(" and ", words.Texts(tight, func(t tightNode) string {
		return fmt.Sprintf("%s on node %d", up(t.lacks), t.ID)
	})...), move)
	used(f, tight, len(vms), p.Host.At)
	f.Evidence = append(f.Evidence, finding.Evidence{
		Name: "reserve of a node", Value: round(reserve).String(), Origin: "derived: memory of the host, release (C-23)", At: p.Host.At,
	})
}

// bound reports whether each of the VMs is tied to its host by a device (D-5).
func bound(vms []*rule.VM) bool {
	return !slices.ContainsFunc(vms, func(v *rule.VM) bool { return v.TiedTo() == nil })
}

// used adds the memory on the tight nodes as evidence.
func used(f *finding.Finding, tight []tightNode, vms int, at string) {
	for _, t := range tight {
		f.Evidence = append(f.Evidence, finding.Evidence{
			Name: fmt.Sprintf("node %d: memory, in use, vCPUs per core", t.ID), Value: fmt.Sprintf("%s, %s, %.1f", t.Memory.Value, round(t.Used), t.Load()),
			Origin: "derived: placement of " + words.Plural(vms, "VM"), At: at,
		})
	}
}

// sum returns the memory of all VMs.
func sum(vms []*rule.VM) (all numa.Bytes) {
	for _, v := range vms {
		all += v.Resident()
	}
	return all
}

// held returns the memory of the VMs that is reserved, and the ballooned or swapped memory of those without a limit of their own.
func held(vms []*rule.VM) (reserved, taken numa.Bytes) {
	for _, v := range vms {
		reserved += numa.Bytes(v.Guest.Needs.Reserved)
		if _, limited := v.LimitedTo(); !limited {
			taken += v.Reclaimed.Value
		}
	}
	return reserved, taken
}

// overcommitted writes the finding about a host whose running VMs have more memory than it has for VMs: no placement makes room for it.
func overcommitted(p *rule.Pass, f *finding.Finding, tight []tightNode, vms []*rule.VM, over, reserve numa.Bytes) {
	h, have := p.Host, numa.Bytes(p.Kind.Machine.ForVMs())
	f.Severity, f.Remote = finding.Medium, over
	f.Message = fmt.Sprintf("%s %s of memory on a host that has %s for VMs (ESXi keeps %s free): %s if all is touched; the largest are %s",
		words.Verb(len(vms), "running VM has", "running VMs have"), round(have+over), round(have), memory.Of(h, false).MinFree, rule.Beyond(round(over), h.TierMemory.Value), rule.Names(bySize(vms)))
	reserved, taken := held(vms)
	touched := " if they touch all of it"
	if h.TierMemory.Value > 0 {
		f.Severity = finding.Low
		f.Evidence = append(f.Evidence, finding.Of("slower memory tiers of "+h.Name, h.TierMemory, h.At))
	} else if reserved > have {
		touched = ""
		f.Message += fmt.Sprintf("; %s of it are reserved, which the host cannot hold", round(reserved))
	}
	if taken > 0 {
		f.Severity, touched = finding.Medium, ""
		f.Message += fmt.Sprintf("; %s are ballooned or swapped now", round(taken))
	}
	f.Advice = fmt.Sprintf("Move VMs with %s to other hosts%s", up(over), touched)
	f.Remote = over
	if lacks := p.Cluster.Lacks(); bound(vms) {
		f.Advice = "Give VMs less memory: a PCI device binds each of them to the host"
	} else if lacks > 0 {
		f.Advice = fmt.Sprintf("Run fewer or smaller VMs in the cluster, or add memory or hosts to it: its hosts together lack %s for the memory of the running VMs%s, so no move between them cures it", up(lacks), touched)
	} else if len(h.Nodes.Value) > 1 {
		unreserved := numa.Bytes(p.Kind.Machine.AllMemory) - reserve*numa.Bytes(len(h.Nodes.Value))
		f.Advice += fmt.Sprintf(", with %s if each node should also keep its reserve", up(have+over-unreserved))
	}
	if len(h.Nodes.Value) > 1 {
		f.Advice += "; watch N%L and NRMEM of those that must stay local under load (esxtop, memory screen)"
	}
	used(f, tight, len(vms), h.At)
}

// bySize returns the VMs, the largest memory first.
func bySize(vms []*rule.VM) []*rule.VM {
	out := slices.Clone(vms)
	slices.SortStableFunc(out, func(a, b *rule.VM) int { return cmp.Compare(b.Guest.Resident(), a.Guest.Resident()) })
	return out
}

// foreign names the VMs whose memory is on the node because their own node is full.
func foreign(n *placement.Node, vms []*rule.VM) string {
	var all numa.Bytes
	var of []*rule.VM
	for _, s := range n.Foreign {
		if !vms[s.Request].On[0].Layout.Managed {
			continue // its memory is spread over all nodes
		}
		all, of = all+s.Memory, append(of, vms[s.Request])
	}
	if all < numa.MiB {
		return ""
	}
	return fmt.Sprintf("; it also holds %s that the own node of %s has no room for", round(all), rule.Names(bySize(of)))
}

// up rounds up to a GB, or to a MB below one: so much is enough as it is printed.
func up(b numa.Bytes) numa.Bytes {
	unit := numa.GiB
	if b < unit {
		unit = numa.MiB
	}
	return (b + unit - 1) / unit * unit
}

// round rounds down to a MB, which is precise enough for reports.
func round(b numa.Bytes) numa.Bytes { return b / numa.MiB * numa.MiB }

// users returns the VMs with clients on the node, the largest memory first.
func users(n *placement.Node, vms []*rule.VM) []*rule.VM {
	var out []*rule.VM
	last := -1
	for _, c := range n.Clients {
		if c.Request != last { // clients of one VM are consecutive
			out = append(out, vms[c.Request])
		}
		last = c.Request
	}
	return bySize(out)
}
