// Package observedlayout finds VMs with another topology on their host than predicted.
package observedlayout

import (
	"cmp"
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed observedlayout.md
var page string

// Rule is N030.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check})

func check(p *rule.Pass) {
	seen := p.VM.LastSeen(func(o numa.Observer) bool { return !o.InGuest() })
	for _, s := range seen {
		if !s.Agrees() {
			differs(p, s)
			return
		}
	}
	for _, s := range seen {
		if pending(p, s) {
			return
		}
	}
}

func differs(p *rule.Pass, s *confront.Result) {
	text, evidence := rule.Differences(s)
	f := finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("%s at %s: %s", s.Observation.By, s.Observation.At, text),
		Evidence: append(evidence, p.VM.VCPUsEvidence()),
	}
	hidden := hides(p.VM, &f, s.Observation, &s.Layout)
	if other := rule.OtherSettings(s); other != "" {
		f.Message += ". It ran with other settings: " + other
	}
	if len(s.Reasons) > 0 {
		if !hidden {
			f.Severity = finding.Low
		}
		f.Advice = rule.Likely(s)
	} else if on, host := seenOn(p, s); s.Observation.NoHome() && on != nil && s.Layout.Managed {
		v := rule.NoHomeCauses.Judge(&rule.Homeless{Release: host.Release.Value, Layout: &s.Layout, Host: host})
		v.Explain(&f)
	} else {
		v := rule.OtherCauses.Judge(s)
		v.Explain(&f)
	}
	outdate(p, s.Observation, &f)
	p.Report(f, &s.Layout)
}

// outdate lowers a finding about an observation that is older than a power-on or vMotion.
func outdate(p *rule.Pass, o *numa.Observation, f *finding.Finding) {
	if since := p.VM.Since(o); since != "" {
		f.Severity, f.Causes = finding.Low, nil
		f.Message = fmt.Sprintf("as of %s: %s. It was %s, so this may be over", o.Time, f.Message, since)
		f.Advice = "Collect its vmware.log again, or check the host and the guest"
	}
}

// hides raises a finding about a VM that may run and was seen with several clients while its guest sees one node, and reports whether it did. l is the
// layout that the guest could have.
func hides(v *rule.VM, f *finding.Finding, o *numa.Observation, l *vnuma.Layout) bool {
	count := func(stated numa.Fact[int], of numa.Fact[[]int]) int {
		if stated.Known() {
			return stated.Value
		}
		groups := map[int]bool{}
		for _, g := range of.Value {
			groups[g] = true
		}
		return len(groups)
	}
	clients := count(o.PPDCount, o.PPDs)
	wide := l.GuestSeesNUMA() && l.HomeNodes > 1 // else one client would do
	if v.Stopped() || v.Since(o) != "" || count(o.VPDCount, o.VPDs) != 1 || clients < 2 || !wide && l.PPDs.Len() > 1 {
		return false
	}
	f.Severity = finding.High
	f.Message += fmt.Sprintf(". Its guest sees 1 node and runs as %d clients, so that it takes remote memory for local", clients)
	return true
}

// seenOn returns the host of the observation, and the prediction for it; nil if it is not known.
func seenOn(p *rule.Pass, s *confront.Result) (*rule.On, *numa.Host) {
	name := cmp.Or(s.Observation.Host, s.Host)
	for i := range p.VM.On {
		for _, h := range p.VM.On[i].Kind.Hosts {
			if numa.SameHost(h.Name, name) {
				return &p.VM.On[i], h
			}
		}
	}
	return nil, nil
}

// pending reports a VM that runs as logged and predicted, with settings that differ from the inventory: its next
// power cycle changes the topology of the guest.
func pending(p *rule.Pass, s *confront.Result) bool {
	next := &p.VM.On[0].Layout
	if len(s.Other) == 0 || next.SameGuest(&s.Layout) && next.PPDs.Equal(s.Layout.PPDs) {
		return false
	}
	runs := fmt.Sprintf("the next power cycle makes %s of the guest's %s (vCPUs per node)", next.VPDs, s.Layout.VPDs)
	if next.SameGuest(&s.Layout) {
		runs = fmt.Sprintf("the next power cycle makes %s of the clients %s", next.PPDs, s.Layout.PPDs)
	}
	f := finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("%s at %s agrees with the prediction, but for other settings: %s; %s",
			s.Observation.By, s.Observation.At, rule.OtherSettings(s), runs),
		Evidence: []finding.Evidence{p.VM.VCPUsEvidence()},
		Advice:   "If the change is meant, power the VM off and on; if not, set it back before the next power cycle",
		Notice:   rule.Notice(&s.Layout, next),
	}
	hides(p.VM, &f, s.Observation, next)
	outdate(p, s.Observation, &f)
	p.Report(f, next)
	return true
}
