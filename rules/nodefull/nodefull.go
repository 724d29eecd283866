// Package nodefull finds VMs that are bound to a node which all that is bound to it overloads.
package nodefull

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed nodefull.md
var page string

// Rule is K017.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	if v.Host == nil || !v.Host.Nodes.Known() {
		return
	}
	memory(p)
	own := pinned(v, map[int]int{})
	if len(own) == 0 {
		return
	}
	all := pinned(v, map[int]int{})
	for _, other := range v.Beside {
		if other.Stated.Running == v.Stated.Running { // those that run at one time
			pinned(other, all)
		}
	}
	for i, n := range v.Host.Nodes.Value {
		mine, there := own[n.ID], all[n.ID]
		it := "it"
		if cell := cellOn(v, n.ID); cell >= 0 {
			it = fmt.Sprint("cell ", cell)
		}
		if mine == 0 || there <= len(v.Host.CPUs.Value[i]) {
			continue
		}
		for j, o := range v.Host.Nodes.Value {
			load := all[o.ID]
			if load+mine > len(v.Host.CPUs.Value[j]) {
				continue
			}
			p.Report(finding.Finding{
				Severity: finding.Medium,
				Topic:    fmt.Sprint("vCPUs ", n.ID),
				Message:  fmt.Sprintf("%d vCPUs are pinned to the %d CPUs of node %d of %s, and %d to the %d of node %d", there, len(v.Host.CPUs.Value[i]), n.ID, v.Host.Name, load, len(v.Host.CPUs.Value[j]), o.ID),
				Advice:   p.Spelt(fmt.Sprintf("Pin %s and bind its memory to node %d", it, o.ID), rule.Pins, rule.Binding),
				Evidence: []finding.Evidence{p.At("its vCPUs pinned there", fmt.Sprint(mine), v.Stated.PinAt(0)), p.Nodes()},
			})
			break
		}
	}
}

// memory finds ordinary pages that are bound to nodes which do not have as many: huge pages have pools of their own (K016).
func memory(p *rule.StatedPass) {
	v := p.VM
	pieces := v.Stated.Pieces()
	for _, nodes := range v.Sets(0) {
		bound := v.DemandOn(nodes, 0, 0)
		room, known := v.RoomOn(nodes, 0)
		if !known || bound.Own == 0 || bound.Memory <= room || room == 0 {
			continue
		}
		judged := false // of a cell that is larger than the node alone (K004)
		for i := range pieces {
			own, most, _ := v.MemoryOf(&pieces[i])
			judged = judged || v.Sized() && own > most && most > 0 && slices.Equal(v.Stated.Home(&pieces[i], v.Host), nodes) && len(nodes) == 1
		}
		if judged {
			continue
		}
		f := finding.Finding{
			Severity: finding.High,
			Topic:    fmt.Sprint("memory ", words.Ranges(nodes)),
			Message:  fmt.Sprintf("%s of memory is bound to %s of %s, which has %s", bound.Memory, rule.NodeList(nodes), v.Host.Name, room),
			Advice:   p.Spelt("Bind some of them to another node, with their vCPUs", rule.Binding, rule.Pins),
			Evidence: []finding.Evidence{p.At("memory bound to it", bound.Own.String(), v.Stated.Bound[0].At), p.Nodes()},
		}
		if nodes == nil {
			f.Topic, f.Message = "memory", fmt.Sprintf("%s of memory is taken at the start and kept, and %s has %s", bound.Memory, v.Host.Name, room)
			f.Advice = "Run some of them on another host, or reserve fewer huge pages"
			f.Evidence[0] = p.At("memory taken", bound.Own.String(), v.Stated.MemoryAt)
		}
		if all, _ := v.RoomOn(nodes, numa.DefaultPage); all > room {
			f.Message += fmt.Sprintf(" beside %s of huge pages", all-room)
		}
		f.Message += ": that of " + words.Few(bound.Names)
		if len(bound.Names) == 1 {
			f.Advice = cmp.Or(v.BeyondHost(), p.Spelt("Give it less memory, or more nodes that have it", rule.Binding))
		}
		p.Report(f)
	}
}

// cellOn returns the cell of several whose vCPUs or memory are on a node alone; -1 for none, and for a VM of one cell.
func cellOn(v *rule.StatedVM, node int) int {
	for i := range v.Stated.Cells {
		if len(v.Stated.Cells) > 1 && slices.Equal(v.Stated.HomeOf(i, v.Host), []int{node}) {
			return i
		}
	}
	return -1
}

// pinned adds the vCPUs that a VM has pinned to one node each.
func pinned(v *rule.StatedVM, sum map[int]int) map[int]int {
	s := v.Stated
	var cpus []int // of the vCPU before
	var nodes []int
	for _, vcpu := range s.Enabled() {
		if s.CPUs[vcpu] == nil {
			continue
		}
		if nodes == nil || !same(cpus, s.CPUs[vcpu]) {
			cpus = s.CPUs[vcpu]
			nodes, _ = v.Host.NodesOf(cpus)
		}
		if len(nodes) == 1 {
			sum[nodes[0]]++
		}
	}
	return sum
}

// same reports whether two lists are one: vCPUs of one cpuset share it.
func same(a, b []int) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
