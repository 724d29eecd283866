// Package nodefull finds VMs that are bound to a node which all that is bound to it overloads.
package nodefull

import (
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

// A bound is what is bound to a node and nowhere else.
type bound struct {
	vcpus  int
	memory numa.Bytes
	names  []string // of VMs whose memory is
}

func check(p *rule.StatedPass) {
	v := p.VM
	if v.Host == nil || !v.Host.Nodes.Known() {
		return
	}
	own := of(v, map[int]*bound{})
	if len(own) == 0 {
		return
	}
	all := of(v, map[int]*bound{})
	for _, other := range v.Beside {
		if other.Stated.Running == v.Stated.Running { // those that run at one time
			of(other, all)
		}
	}
	for i, n := range v.Host.Nodes.Value {
		mine, there := own[n.ID], all[n.ID]
		if mine == nil {
			continue
		}
		if mine.memory > 0 && mine.memory <= n.Memory.Value && there.memory > n.Memory.Value && n.Memory.Known() {
			p.Report(finding.Finding{
				Severity: finding.High,
				Topic:    fmt.Sprint("memory ", n.ID),
				Message:  fmt.Sprintf("%s of memory is bound to node %d of %s, which has %s: that of %s", there.memory, n.ID, v.Host.Name, n.Memory.Value, words.Few(there.names)),
				Advice:   "Bind some of them to another node, with their vCPUs",
				Evidence: []finding.Evidence{p.At("memory bound to it", mine.memory.String(), v.Stated.Bound[0].At), p.Nodes()},
			})
		}
		it := "it"
		if cell := cellOn(v, n.ID); cell >= 0 {
			it = fmt.Sprint("cell ", cell)
		}
		if mine.vcpus == 0 || there.vcpus <= len(v.Host.CPUs.Value[i]) {
			continue
		}
		for j, o := range v.Host.Nodes.Value {
			var load int
			if b := all[o.ID]; b != nil {
				load = b.vcpus
			}
			if load+mine.vcpus > len(v.Host.CPUs.Value[j]) {
				continue
			}
			p.Report(finding.Finding{
				Severity: finding.Medium,
				Topic:    fmt.Sprint("vCPUs ", n.ID),
				Message:  fmt.Sprintf("%d vCPUs are pinned to the %d CPUs of node %d of %s, and %d to the %d of node %d", there.vcpus, len(v.Host.CPUs.Value[i]), n.ID, v.Host.Name, load, len(v.Host.CPUs.Value[j]), o.ID),
				Advice:   fmt.Sprintf("Pin %s and bind its memory to node %d", it, o.ID),
				Evidence: []finding.Evidence{p.At("its vCPUs pinned there", fmt.Sprint(mine.vcpus), v.Stated.PinAt(0)), p.Nodes()},
			})
			break
		}
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

// of adds what a VM has bound to one node each.
func of(v *rule.StatedVM, sum map[int]*bound) map[int]*bound {
	at := func(node int) *bound {
		if sum[node] == nil {
			sum[node] = &bound{}
		}
		return sum[node]
	}
	s := v.Stated
	var cpus []int // of the vCPU before
	var nodes []int
	for vcpu := range s.VCPUs {
		if vcpu >= len(s.CPUs) || s.CPUs[vcpu] == nil {
			continue
		}
		if nodes == nil || !same(cpus, s.CPUs[vcpu]) {
			cpus = s.CPUs[vcpu]
			nodes, _ = v.Host.NodesOf(cpus)
		}
		if len(nodes) == 1 {
			at(nodes[0]).vcpus++
		}
	}
	for i := range s.Cells {
		if i < len(s.Bound) && s.Bound[i].Hard() && len(s.Bound[i].Nodes) == 1 {
			b := at(s.Bound[i].Nodes[0])
			b.memory += s.Cells[i].Memory
			if len(b.names) == 0 || b.names[len(b.names)-1] != v.Name {
				b.names = append(b.names, v.Name)
			}
		}
	}
	return sum
}

// same reports whether two lists are one: vCPUs of one cpuset share it.
func same(a, b []int) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
