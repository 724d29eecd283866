// Package nodefull finds VMs that are bound to an overloaded node: the vCPUs and memory bound to it exceed it.
package nodefull

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
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
		if other.Stated.Running == v.Stated.Running { // those that run at the same time
			pinned(other, all)
		}
	}
	var taken map[int]int
	for i, n := range v.Host.Nodes.Value {
		mine, there := own[n.ID], all[n.ID]
		if mine == 0 || there <= len(v.Host.CPUs.Value[i]) {
			continue
		}
		if taken == nil {
			taken = besideOwn(v)
		}
		need := v.DemandOn([]int{n.ID}, 0, 0, true).Own
		for j, o := range v.Host.Nodes.Value {
			load, free := all[o.ID], len(v.Host.CPUs.Value[j])-all[o.ID]-taken[o.ID]
			room, known := v.Left(&v.Host.Nodes.Value[j])
			if mine > free || o.Empty() || known && need > room {
				continue
			}
			p.Report(finding.Finding{
				Severity: finding.Medium,
				Topic:    fmt.Sprint("vCPUs ", n.ID),
				Message:  fmt.Sprintf("%d vCPUs are pinned to the %d CPUs of node %d of %s, and %d to the %d of node %d", there, len(v.Host.CPUs.Value[i]), n.ID, v.Host.Name, load, len(v.Host.CPUs.Value[j]), o.ID),
				Advice:   p.Spelt(fmt.Sprintf("Pin %s memory to node %d", toMove(v, n.ID, there-len(v.Host.CPUs.Value[i]), free, room), o.ID), rule.Pins, rule.Binding),
				Evidence: []finding.Evidence{p.At("its vCPUs pinned there", fmt.Sprint(mine), v.Stated.PinAt(0)), p.Nodes()},
			})
			break
		}
	}
}

// memory finds ordinary pages that are bound to nodes with fewer pages: huge pages have separate pools (K016).
func memory(p *rule.StatedPass) {
	v := p.VM
	pieces := v.Stated.Pieces()
	for _, nodes := range v.Sets(0) {
		bound := v.DemandOn(nodes, 0, 0, false)
		room, known := v.RoomOn(nodes, 0)
		soft := nodes != nil && bound.Memory <= room && len(nodes) < len(v.Host.Nodes.Value)
		if soft {
			bound = v.DemandOn(nodes, 0, 0, true)
		}
		if !known || bound.Own == 0 || bound.Memory <= room || room == 0 {
			continue
		}
		judged := false // for a cell that alone is larger than the node (K004)
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
			Advice:   p.Spelt(fmt.Sprintf("Bind VMs with at least %s of it to another node, with their vCPUs", bound.Memory-room), rule.Binding, rule.Pins),
			Evidence: []finding.Evidence{p.At("memory bound to it", bound.Own.String(), v.Stated.Bound[0].At), p.Nodes()},
		}
		if soft {
			f.Severity = finding.Medium
			f.Message = fmt.Sprintf("%s of memory should come from %s of %s, where it is preferred or its vCPUs are pinned, and %s is there: %s come from other nodes", bound.Memory, rule.NodeList(nodes), v.Host.Name,
				room, bound.Memory-room)
		}
		if moved, beyond := placed(v, nodes, bound.Parts, room); nodes != nil && beyond > 0 {
			f.Advice = p.Spelt(fmt.Sprintf("Run VMs with at least %s of it on another host, and bind %s to other nodes of this, which hold no more of them", beyond, moved), rule.Binding)
			if moved == 0 {
				f.Advice = fmt.Sprintf("Run VMs with at least %s of it on another host: no other node with CPUs has room for it", beyond)
			}
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
			if node, left, ok := v.Elsewhere(nodes, bound.Memory-room); ok && nodes != nil {
				f.Advice = p.Spelt(fmt.Sprintf("Bind cells with at least %s of it to node %d, which has %s left", bound.Memory-room, node, left), rule.Binding)
			}
		}
		p.Report(f)
	}
}

// placed puts cells and memory devices on nodes with so much room, and on the others with cores, the largest first, each where the least is left
// then. It returns what comes to the others, and what finds no place.
func placed(v *rule.StatedVM, nodes []int, parts []numa.Bytes, room numa.Bytes) (moved, beyond numa.Bytes) {
	left := []numa.Bytes{room}
	for i := range v.Host.Nodes.Value {
		if n := &v.Host.Nodes.Value[i]; !slices.Contains(nodes, n.ID) {
			rest, _ := v.Left(n)
			left = append(left, rest)
		}
	}
	parts = slices.Clone(parts)
	slices.Sort(parts)
	for _, part := range slices.Backward(parts) {
		best := -1
		for i, rest := range left {
			if rest >= part && (best < 0 || rest < left[best]) {
				best = i
			}
		}
		switch {
		case best < 0:
			beyond += part
			continue
		case best > 0:
			moved += part
		}
		left[best] -= part
	}
	return moved, beyond
}

// toMove names the smallest VM or cell on a node that has enough vCPUs, and at most the number of CPUs and the memory left on the other node: the
// result is the same for every VM of the node.
func toMove(v *rule.StatedVM, node, enough, left int, room numa.Bytes) string {
	type unit struct {
		vcpus    int
		vm, cell string
	}
	var best *unit
	for _, one := range append([]*rule.StatedVM{v}, v.Beside...) {
		s := one.Stated
		for i := range s.Cells {
			u := unit{s.Present(i), one.Name, fmt.Sprint("cell ", i)}
			if one != v && s.Running != v.Stated.Running || !slices.Equal(s.RunsOn(i, one.Host), []int{node}) || u.vcpus < enough || u.vcpus > left || s.PageOf(i) == 0 && s.Cells[i].Memory > room {
				continue
			}
			if len(s.Cells) == 1 {
				u.cell = ""
			}
			if best == nil || cmp.Or(u.vcpus-best.vcpus, cmp.Compare(u.vm, best.vm), cmp.Compare(u.cell, best.cell)) < 0 {
				best = &u
			}
		}
	}
	switch {
	case best == nil:
		return fmt.Sprintf("VMs with at least %s of them and bind their", words.Plural(enough, "vCPU"))
	case best.vm == v.Name && best.cell == "":
		return fmt.Sprintf("it (%s) and bind its", words.Plural(best.vcpus, "vCPU"))
	}
	of := words.Join(" of ", best.cell, best.vm)
	if best.vm == v.Name {
		of = best.cell
	}
	return fmt.Sprintf("%s (%s) and bind its", of, words.Plural(best.vcpus, "vCPU"))
}

// besideOwn counts, for each node, the CPUs that are free on cores where a vCPU has a CPU of its own: another vCPU would share its core (K010).
func besideOwn(v *rule.StatedVM) map[int]int {
	own, cores, out := map[int]bool{}, map[int]bool{}, map[int]int{}
	for _, one := range append([]*rule.StatedVM{v}, v.Beside...) {
		if one.Stated.Running != v.Stated.Running {
			continue
		}
		for _, cpu := range one.Own() {
			if core, known := v.Cores[cpu]; known {
				own[cpu], cores[core] = true, true
			}
		}
	}
	for cpu, core := range v.Cores {
		if nodes, _ := v.Host.NodesOf([]int{cpu}); cores[core] && !own[cpu] && len(nodes) == 1 {
			out[nodes[0]]++
		}
	}
	return out
}

// pinned adds the vCPUs that a VM pins to one node each.
func pinned(v *rule.StatedVM, sum map[int]int) map[int]int {
	s := v.Stated
	var cpus []int // of the previous vCPU
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

// same reports whether two lists are identical: vCPUs of one cpuset share it.
func same(a, b []int) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
