// Package unequalmemory finds hosts whose NUMA nodes differ in memory.
package unequalmemory

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/symptom"
)

//go:embed unequalmemory.md
var page string

// Rule is H002.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, Check: check})

func check(p *rule.Pass) {
	h := p.Host
	var least, most *numa.Node
	for i := range h.Nodes.Value {
		n := &h.Nodes.Value[i]
		if n.Cores == 0 || !n.Memory.Known() {
			continue
		}
		if least == nil || n.Memory.Value < least.Memory.Value {
			least = n
		}
		if most == nil || n.Memory.Value > most.Memory.Value {
			most = n
		}
	}
	if least == nil || !vnuma.Unlike(int64(least.Memory.Value), int64(most.Memory.Value)) {
		return
	}
	message := fmt.Sprintf("node %d has %s and node %d has %s: VMs above %s fit only the larger nodes",
		most.ID, most.Memory.Value, least.ID, least.Memory.Value, least.Memory.Value)
	if least.Memory.Value == 0 {
		message = fmt.Sprintf("node %d has no memory and node %d has %s: all memory of node %d's cores is remote",
			least.ID, most.ID, most.Memory.Value, least.ID)
	}
	f := finding.Finding{
		Severity: finding.Medium,
		Message:  message,
		Evidence: []finding.Evidence{
			finding.Of(fmt.Sprintf("memory of node %d", most.ID), most.Memory, h.At),
			finding.Of(fmt.Sprintf("memory of node %d", least.ID), least.Memory, h.At),
		},
	}
	v := causes.Judge(h)
	v.Explain(&f)
	p.Report(f, nil)
}

// causes are the possible causes of nodes with unequal memory.
var causes = symptom.CausesOf("unequal-memory", map[string]func(*numa.Host) symptom.Told{
	"nested": func(h *numa.Host) symptom.Told { return symptom.Told{Proven: h.Nested(), Out: !h.Nested()} },
	"alone":  func(h *numa.Host) symptom.Told { return symptom.Told{Out: !bare(h)} },
	"slots":  nil, "module": nil, "mode": nil,
})

// bare reports whether a node with cores has no memory at all.
func bare(h *numa.Host) bool {
	return slices.ContainsFunc(h.Nodes.Value, func(n numa.Node) bool { return n.Cores > 0 && n.Memory.Known() && n.Memory.Value == 0 })
}
