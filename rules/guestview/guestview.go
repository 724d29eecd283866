// Package guestview finds guests that see another topology than predicted.
package guestview

import (
	"fmt"

	"homenode/numa"
	"homenode/rules/confront"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N031.
var Rule = &rule.Rule{
	ID:    "N031",
	Name:  "guestview",
	Title: "the guest sees another topology than predicted",
	Why: `lscpu, numactl and Coreinfo show what the guest was given at its last power-on. The prediction is for
the next power cycle with today's settings. When they differ, a change still waits for its power cycle (a
reboot is not enough), or the VM was powered on on another host, or the inventory lacks a setting.`,
	Fix: `When the prediction is what you want, power the VM off and on. When the guest's view is what you want,
find what changed: the reasons name the likeliest.`,
	Limits: `The operating system can renumber or hide processors (offline CPUs, numa=off on the kernel's command
line, processor groups of Windows). The guest's tools do not see the host: nothing follows about NUMA clients.`,
	Book: []string{"B-3", "B-13", "D-1"},
	Sources: []string{
		"VMware vSphere Resource Management, Using Virtual NUMA",
		"Denneman, NUMA Deep Dive Part 5, ESXi VMkernel NUMA constructs, 2016, https://frankdenneman.nl/2016/08/22/numa-deep-dive-part-5-esxi-vmkernel-numa-constructs/",
	},
	Severity: finding.Medium,
	VMs:      true,
	Check:    check,
}

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
		Advice:   "Nothing known explains it: compare the settings of the VM with the guest's view before changing either",
	}
	if len(s.Reasons) > 0 {
		f.Advice = rule.Likely(s)
	}
	p.Report(f, &s.Layout)
}
