// Package cellsize finds cells that are larger than the node that carries them.
package cellsize

import (
	_ "embed"
	"fmt"
	"strings"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed cellsize.md
var page string

// Rule is K004.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	if v.Host == nil || !v.Host.Nodes.Known() {
		return
	}
	s := v.Stated
	for i := range s.Cells {
		c := &s.Cells[i]
		room := v.RoomOf(i)
		if v.Flat() && (s.Partial || !room.Within) {
			return // K011 judges it
		}
		var over []string
		severity := finding.Low
		if n := s.Present(i); n > room.Cores && room.Cores > 0 {
			over = append(over, fmt.Sprintf("%s on %d cores", rule.Plural(n, "vCPU"), room.Cores))
			switch {
			case !room.Within: // on several nodes, which the guest takes for one
				severity = finding.High
			case n > room.Threads:
				severity = finding.Medium
			}
		}
		if c.Memory > room.Memory && room.Memory > 0 {
			over = append(over, fmt.Sprintf("%s in %s", c.Memory, room.Memory))
			severity = finding.High
		}
		if over == nil {
			continue
		}
		what, cells := fmt.Sprint("cell ", i), p.Cells()
		if v.Flat() {
			what, cells = "the VM", p.At("memory", s.Shape.Memory.String(), s.MemoryAt)
		}
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    fmt.Sprint("cell ", i),
			Message:  fmt.Sprintf("%s is larger than %s of %s: %s", what, room.At, v.Host.Name, strings.Join(over, ", ")),
			Advice:   "Divide the VM into more cells",
			Evidence: []finding.Evidence{cells, p.At("memory of the cell", c.Memory.String(), c.At), p.Nodes()},
		})
	}
}
