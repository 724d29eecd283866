// Package nosuchhost finds definitions that name nodes, CPUs, cells or vCPUs that do not exist.
package nosuchhost

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/shape"
)

//go:embed nosuchhost.md
var page string

// Rule is K013.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	report := func(severity finding.Severity, topic, message, name, value, at string) {
		p.Report(finding.Finding{Severity: severity, Topic: topic, Message: message, Advice: "Correct the definition",
			Evidence: []finding.Evidence{p.At(name, value, at)}})
	}
	said := map[string]int{} // the index of the finding that says it; others have but another place
	for _, n := range s.Strays {
		if i, ok := said[n.Text]; ok {
			p.Findings[i].Evidence = append(p.Findings[i].Evidence, p.At("definition", n.Text, n.At))
			continue
		}
		said[n.Text] = len(p.Findings)
		severity := finding.Medium
		switch {
		case n.Refused:
			severity = finding.High
		case n.Doubtful:
			severity = finding.Low
		}
		report(severity, n.At, n.Text, "definition", n.Text, n.At)
	}
	one := slices.IndexFunc(s.Bound, func(b numa.Bound) bool { return b.Nodes != nil })
	for i := range s.Bound {
		if one >= 0 && s.Bound[i].Nodes == nil && !s.Auto {
			report(finding.Medium, fmt.Sprint("unbound ", i), fmt.Sprintf("the memory of cell %d is bound to no node, and that of cell %d is", i, one), "memory of the cell", "any node", s.Cells[i].At)
			p.Findings[len(p.Findings)-1].Advice = p.Spelt("Bind the memory of each cell to a node, or that of none", rule.Binding)
		}
	}
	for _, f := range p.Faults(shape.Topology, shape.Distance) {
		report(finding.High, f, f, "topology", s.Topology(), s.TopologyAt)
	}
	if v.Host == nil || !v.Host.Nodes.Known() {
		return
	}
	if s.Platform == "Proxmox VE" && s.Reserves && s.CellsAt != "" { // without numa0 it reserves the pages of socket i on node i (PVE::QemuServer::Memory, config)
		for i := range s.Cells {
			if s.Bound[i].Nodes == nil && v.Host.Node(i) == nil {
				report(finding.High, "pages", fmt.Sprintf("hugepages of socket %d are reserved on node %d, which %s has not: Proxmox does not start the VM", i, i, v.Host.Name), "cells", v.Sizes(), s.CellsAt)
				p.Findings[len(p.Findings)-1].Advice = fmt.Sprintf("Use at most %s, or state numa0 and its hostnodes", words.Plural(len(v.Host.Nodes.Value), "socket"))
				break
			}
		}
	}
	bounds := slices.Clone(s.Bound)
	for _, m := range s.Modules {
		bounds = append(bounds, m.Bound)
	}
	for i := range bounds {
		b := &bounds[i]
		if slices.ContainsFunc(bounds[:i], func(o numa.Bound) bool { return o.At == b.At }) { // shared by several cells
			continue
		}
		absent := slices.DeleteFunc(slices.Clone(b.Nodes), func(id int) bool { return v.Host.Node(id) != nil })
		if len(absent) > 0 {
			report(finding.High, "memory "+b.At, fmt.Sprintf("memory is bound to %s, which %s has not", rule.NodeList(absent), v.Host.Name), "memory on", rule.NodeList(b.Nodes), b.At)
		}
		empty := slices.DeleteFunc(slices.Clone(b.Nodes), func(id int) bool { return !v.Host.Node(id).Empty() })
		if len(empty) > 0 {
			report(finding.High, "no memory "+b.At, fmt.Sprintf("memory is bound to %s, which on %s has none", rule.NodeList(empty), v.Host.Name), "memory on", rule.NodeList(b.Nodes), b.At)
		}
	}
	for i := range s.Helpers {
		h := &s.Helpers[i]
		if _, absent := v.Host.NodesOf(h.CPUs); absent != nil {
			report(gone(s, h.CPUs, absent), h.What, fmt.Sprintf("%s may run on CPUs %s, which %s has not", h.What, words.Ranges(absent), v.Host.Name), "CPUs of "+h.What, words.Ranges(h.CPUs), h.At)
		}
	}
	for _, severity := range []finding.Severity{finding.High, finding.Low} {
		for _, vcpu := range s.Enabled() {
			cpus := s.CPUs[vcpu]
			_, absent := v.Host.NodesOf(cpus)
			if absent == nil || gone(s, cpus, absent) != severity {
				continue
			}
			what, at := "vCPUs may run on", s.VCPUsAt
			if i := slices.IndexFunc(s.Pins, func(p numa.Pinned) bool { return p.VCPU == vcpu }); i >= 0 {
				what, at = fmt.Sprintf("vCPU %d is pinned to", vcpu), s.Pins[i].At
			}
			report(severity, "pin", fmt.Sprintf("%s CPUs %s, which %s has not", what, words.Ranges(absent), v.Host.Name), "CPUs of the vCPU", words.Ranges(cpus), at)
			return // one report is enough
		}
	}
}

// gone returns the severity for a thread that may run on CPUs of which some are absent: after CPUs went offline, a VM that runs uses the others.
func gone(s *numa.Stated, cpus, absent []int) finding.Severity {
	if s.Running && len(absent) < len(cpus) {
		return finding.Low
	}
	return finding.High
}
