// Package socketborder finds VMs with a socket that spans two cells.
package socketborder

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/shape"
)

//go:embed socketborder.md
var page string

// Rule is K008.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	faults := p.Faults(shape.Sockets)
	if p.VM.Flat() || faults == nil {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  strings.Join(faults, "; "),
		Advice:   advice(p.VM.Stated),
		Evidence: []finding.Evidence{p.Topology(), p.Cells()},
	})
}

// good reports whether a layout has no socket in several cells.
func good(s *numa.Shape) bool {
	return !slices.ContainsFunc(shape.Check(s, true), func(f shape.Fault) bool { return f.Check == shape.Sockets })
}

// advice returns the change after which no socket spans two cells: sockets that fit the cells, or cells that end where sockets do.
func advice(s *numa.Stated) string {
	n, cells := len(s.CPUs), len(s.Cells)
	for _, c := range s.Cells {
		if len(c.CPUs) == 0 {
			cells--
		}
	}
	per := n / cells
	sockets := s.Shape
	if sockets.Sockets, sockets.Dies, sockets.Cores = cells, 1, per/s.Threads; sockets.Most() == n && good(&sockets) {
		if s.Dieless {
			return "State a socket for each cell"
		}
		return "State a socket, or a die, for each cell"
	}
	if n%cells != 0 || per%s.Threads != 0 {
		more := cells * s.Threads
		return fmt.Sprintf("Use a number of vCPUs that is a multiple of %d, with as many in each cell, and a socket for each cell", more)
	}
	var lists []string
	equal := s.Shape
	equal.Cells = slices.Clone(s.Cells)
	for i, first := 0, 0; i < len(equal.Cells); i++ {
		if len(s.Cells[i].CPUs) == 0 {
			continue
		}
		equal.Cells[i].CPUs = nil
		for v := first; v < first+per; v++ {
			equal.Cells[i].CPUs = append(equal.Cells[i].CPUs, v)
		}
		lists = append(lists, fmt.Sprintf("%s in cell %d", words.Numbered("vCPU", equal.Cells[i].CPUs), i))
		first += per
	}
	advice := "List " + words.List(lists)
	if !good(&equal) {
		advice += ", and state a socket for each cell"
	}
	if s.Pins != nil {
		advice += "; pin the vCPUs of each cell to its node"
	}
	return advice
}
