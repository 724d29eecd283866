// Package unscheduled finds hosts of several nodes whose NUMA scheduler is off.
package unscheduled

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/symptom"
)

//go:embed unscheduled.md
var page string

// Rule is H008.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, Check: check})

func check(p *rule.Pass) {
	if p.Kind == nil || p.Kind.Machine.Schedules() {
		return
	}
	m, h, vms := &p.Kind.Machine, p.Host, p.Cluster.Running(p.Host)
	f := finding.Finding{Severity: finding.Low, Costs: rule.VMIDs(vms), Evidence: []finding.Evidence{p.NodesEvidence()}}
	var why, do []string
	var way numa.Way
	set := func(key, to string) {
		way.Edits = append(way.Edits, numa.Edit{Kind: numa.EditHostOption, Key: key, To: numa.Is(to)})
		do = append(do, key+" = "+to)
		if _, ok := h.Options.Value.Lookup(key); ok {
			f.Evidence = append(f.Evidence, rule.OptionEvidence(h, key))
		}
	}
	few, fewOfNode := m.FewCores()
	caches := fewOfNode && h.CacheNodes() && !symptom.Kernel(h, "fakeNUMAnodes", "0").Proven
	if few || fewOfNode {
		why = append(why, fmt.Sprintf("%s of %s, fewer than it asks for", words.Plural(int(m.Nodes), "node"), words.Plural(int(m.Cores), "core")))
		f.When = "Where NUMA scheduling is wanted on so few cores"
	}
	if caches { // also reported by H003
		f.When, way.Do = "", "disable L3 cache (CCX) as NUMA in the BIOS setup: it turns each L3 cache into a node"
	}
	if few && !caches {
		set("Numa.RebalanceCoresTotal", strconv.Itoa(int(m.AllCores)))
	}
	if fewOfNode && !caches {
		set("Numa.RebalanceCoresNode", strconv.Itoa(int(m.Cores)))
	}
	if m.Unscheduled {
		why = append(why, "Numa.RebalanceEnable = 0")
		set("Numa.RebalanceEnable", "1")
	}
	switch {
	case few || fewOfNode:
	case vms == nil:
		f.Severity = finding.Medium
	default:
		f.Severity = finding.High
	}
	f.Message = fmt.Sprintf("the NUMA scheduler is off (%s): VMs have no home node there, and their memory comes from any of %d nodes",
		strings.Join(why, "; "), m.Nodes)
	if vms != nil {
		f.Message += fmt.Sprintf("; %s: %s", words.Verb(len(vms), "VM runs so", "VMs run so"), rule.Names(vms))
	}
	if do != nil {
		way.Do = words.Join("; ", way.Do, "set "+words.List(do))
	}
	way.Auto = m.Unscheduled && !few && !fewOfNode
	f.Ways = []numa.Way{way}
	p.Report(f, nil)
}
