// Package cellsize finds cells that are larger than their host node.
package cellsize

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
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
	if !v.Sized() { // see K011
		return
	}
	s, pieces := v.Stated, v.Stated.Pieces()
	for i := range s.Cells {
		room, cell := v.RoomOf(i), fmt.Sprint("cell ", i)
		memory, most, at := v.MemoryOf(&pieces[i])
		var over []string
		severity := finding.Low
		if n := s.Present(i); n > room.Cores && room.Cores > 0 {
			over = append(over, fmt.Sprintf("%s on %d cores", words.Plural(n, "vCPU"), room.Cores))
			switch {
			case !room.Within && n > room.Threads: // on several nodes, which the guest sees as one
				severity = finding.High
			case !room.Within || n > room.Threads:
				severity = finding.Medium
			}
		}
		if memory > most && most > 0 {
			over = append(over, fmt.Sprintf("%s in %s", memory, most))
			severity = finding.High
		}
		if over == nil {
			continue
		}
		what, cells := cell, p.Cells()
		if v.Flat() {
			what, cells = "the VM", p.At("memory", s.Shape.Memory.String(), s.MemoryAt)
		}
		advice := p.Spelt("Divide the VM into more cells", rule.Cells)
		node, left, other := v.Elsewhere(v.Stated.HomeOf(i, v.Host), memory-most)
		whole, free, fits := v.Elsewhere(v.Stated.HomeOf(i, v.Host), memory)
		if beyond := cmp.Or(v.BeyondHost(), v.BeyondCores()); beyond != "" {
			advice = beyond
		} else if memory > most && most > 0 && fits && len(s.Cells) == 1 && room.Within && s.Present(i) <= room.Cores {
			advice = p.Spelt(fmt.Sprintf("Put it on node %d, its vCPUs and its memory: it has %s left", whole, free), rule.Pins, rule.Binding)
		} else if memory > most && most > 0 && other && len(s.Cells) > 1 && v.Stated.HomeOf(i, v.Host) != nil {
			advice = p.Spelt(fmt.Sprintf("Move at least %s of it to a cell on node %d, which has %s left", memory-most, node, left), rule.Binding)
		} else if severity == finding.Medium && !room.Within {
			advice += ", or pin the cell inside a node, whose cores its vCPUs then share"
		}
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    cell,
			Message:  fmt.Sprintf("%s is larger than %s of %s: %s", what, at, v.Host.Name, strings.Join(over, ", ")),
			Advice:   advice,
			Evidence: []finding.Evidence{cells, p.At("memory of the cell", memory.String(), s.Cells[i].At), p.Nodes()},
		})
	}
	modules(p, pieces[len(s.Cells):])
}

// modules finds memory modules that are larger than the node for their memory, not counting the rest of their cell.
func modules(p *rule.StatedPass, pieces []numa.Piece) {
	v := p.VM
	for i := range pieces {
		one := &pieces[i]
		_, room, at := v.MemoryOf(one)
		if one.Memory <= room || room == 0 || slices.Equal(v.Stated.HomeOf(one.Cell, v.Host), v.Stated.Home(one, v.Host)) {
			continue
		}
		p.Report(finding.Finding{
			Severity: finding.High,
			Topic:    one.At,
			Message:  fmt.Sprintf("%s is larger than %s of %s: %s in %s", one.What, at, v.Host.Name, one.Memory, room),
			Advice:   p.Spelt("Divide it into several, on nodes that hold them", rule.Binding),
			Evidence: []finding.Evidence{p.At("memory module", one.Memory.String(), one.At), p.Nodes()},
		})
	}
}
