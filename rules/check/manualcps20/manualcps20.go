// Package manualcps20 finds VMs for which ESXi 8.0 could choose the sockets and does not.
package manualcps20

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed manualcps20.md
var page string

// Rule is N021.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Placed: true, Check: check})

// small is the maximum number of vCPUs of a VM without vNUMA by default (B-3): the sockets of
// such VMs are mostly intended, and there are many such VMs.
const small = 8

func check(p *rule.Pass) {
	v := p.VM
	if !v.AutoCoresPerSocket.Known() || v.Guest.AutoCPS || v.Guest.Hardware < 20 || v.Guest.Affinity {
		return
	}
	auto := plan.Edit{Shape: plan.Shape{Auto: true}}.Apply(v.Guest)
	on := &v.On[0]
	m := &on.Kind.Machine
	if m.Model() < numa.ESXi80 || v.Guest.ManualNodes(m) > 0 {
		return
	}
	would := vnuma.Predict(&auto, m, &vnuma.Case{Choices: p.Choices})
	if would.SameGuest(&on.Layout) || would.Assumes&vnuma.AssumedAutoUneven != 0 || otherRule(&on.Layout, &would) || !p.Plan().Edit.Shape.Auto {
		return
	}
	f := finding.Finding{
		Severity: finding.Info,
		Message: fmt.Sprintf("cores per socket are %d by hand: the guest sees %s for %s, assigned at power on it would see %s",
			v.Guest.CoresPerSocket, words.Plural(on.Layout.VSockets.Len(), "socket"), rule.GuestNodes(&on.Layout, "NUMA node"), sockets(&would)),
		Evidence: []finding.Evidence{
			v.CPSEvidence(), finding.Of("cores per socket assigned at power on", v.AutoCoresPerSocket, v.At),
			finding.Of("virtual hardware", v.Hardware, v.At), v.VCPUsEvidence(), on.Kind.ReleaseEvidence(),
		},
	}
	switch {
	case on.Layout.GuestSeesNUMA():
		f.Severity = finding.Low
	case v.Guest.VCPUs <= small:
		return
	}
	f.Ways, f.Notice = p.PlanWays()
	p.Report(f, &would)
}

// otherRule reports whether the cost of the same cores per socket is reported by another rule:
// uneven clients (N008), a socket over several clients (N009), hot add (N001).
func otherRule(l, auto *vnuma.Layout) bool {
	return l.Wide() && (l.Why == vnuma.ByHotAdd || l.CoresPerSocket > l.Capacity || !l.PPDs.Even() && auto.PPDs.Even())
}

func sockets(l *vnuma.Layout) string {
	s := words.Plural(l.VSockets.Len(), "socket") + " of " + words.Plural(l.CoresPerSocket, "core")
	if l.GuestSeesNUMA() {
		s += ", one a node"
	}
	return s
}
