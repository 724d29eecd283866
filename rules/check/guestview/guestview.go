// Package guestview finds guests that see another topology than predicted.
package guestview

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/esxi/product"
	"example.org/homenode/internal/outside"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed guestview.md
var page string

// Rule is N031.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check})

func check(p *rule.Pass) {
	for _, s := range p.VM.LastSeen(numa.Observer.InGuest) {
		if !s.Agrees() {
			differs(p, s)
			return
		}
	}
}

func differs(p *rule.Pass, s *confront.Result) {
	text, evidence := rule.Differences(s)
	f := finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("%s at %s: in the guest %s for the next power cycle", s.Observation.By, s.Observation.At, text),
		Evidence: append(evidence, p.VM.VCPUsEvidence(), p.VM.CPSEvidence()),
	}
	if len(s.Reasons) > 0 {
		f.Advice = rule.Likely(s)
	} else {
		v := rule.OtherCauses.Judge(s)
		v.Explain(&f)
	}
	if sql := slices.ContainsFunc(p.VM.Products(), func(o product.Product) bool { return o.Fact() == "sqlserver" }); nodes(s) > s.Layout.VPDs.Len() && (sql || p.VM.MayRunSQL()) {
		fact := outside.Of("softnuma")
		f.Notice = "Nodes that SQL Server lists (sys.dm_os_nodes) are its own soft-NUMA: MAXDOP goes by them. " + fact.Cite(p.Today)
	}
	p.Report(f, &s.Layout)
}

// nodes returns how many nodes the guest shows.
func nodes(s *confront.Result) int {
	seen := map[int]bool{}
	for _, n := range s.Observation.VPDs.Value {
		seen[n] = true
	}
	return max(len(seen), s.Observation.VPDCount.Value)
}
