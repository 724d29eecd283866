// Package guestother finds guests that show another layout than their definition.
package guestother

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed guestother.md
var page string

// Rule is K014.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	for i := range slices.Backward(v.Observed) {
		o := &v.Observed[i]
		if !o.By.InGuest() {
			continue
		}
		for _, c := range rule.CompareStated(v.Stated, o) {
			if c.Agrees {
				continue
			}
			p.Report(finding.Finding{
				Severity: finding.Medium,
				Topic:    c.Name,
				Message:  fmt.Sprintf("%s shows other %s than its definition states: %s, not %s", o.By, c.Name, c.Observed, c.Predicted),
				Advice:   "Power off and on: a reboot is not enough",
				Evidence: []finding.Evidence{{Name: c.Name, Value: c.Observed, Origin: "read: " + string(o.By), At: o.At}, p.Topology(), p.Cells()},
			})
		}
		return // older observations were before it
	}
}
