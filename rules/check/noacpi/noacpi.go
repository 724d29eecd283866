// Package noacpi finds VMs whose guests do not see distances.
package noacpi

import (
	_ "embed"
	"fmt"

	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed noacpi.md
var page string

// Rule is K006.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	if len(s.Cells) < 2 || !s.ACPI.Known() || s.ACPI.Value {
		return
	}
	what := "it has no <acpi/>: its guest is told no distances of its %d cells"
	if s.Distance != nil {
		what = "it has no <acpi/>: its guest is not told the distances that are stated of its %d cells"
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf(what, len(s.Cells)),
		Advice:   "Add <acpi/> to <features>",
		Evidence: []finding.Evidence{finding.Of("ACPI", s.ACPI, v.At), p.Cells()},
	})
}
