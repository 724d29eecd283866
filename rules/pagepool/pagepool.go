// Package pagepool finds VMs whose huge pages are not reserved where their memory is to be.
package pagepool

import (
	_ "embed"
	"fmt"
	"slices"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed pagepool.md
var page string

// Rule is K016.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	if s.Page == 0 || v.Host == nil || !v.Host.Pools.Known() {
		return
	}
	report := func(severity finding.Severity, topic string, needs numa.Bytes, of, where string, has int, at, advice string) {
		n := int((needs + s.Page - 1) / s.Page)
		if n <= has {
			return
		}
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    topic,
			Message:  fmt.Sprintf("%s takes %d pages of %s from %s, and %d are reserved there", of, n, s.Page, where, has),
			Advice:   advice,
			Evidence: []finding.Evidence{p.At("memory", needs.String(), at), {Name: "pages of " + v.Host.Name, Value: fmt.Sprint(has), Origin: v.Host.Pools.Origin.String(), At: v.Host.At}},
		})
	}
	var all numa.Bytes
	for i := range s.Cells {
		all += s.Cells[i].Memory
	}
	if has := pages(v.Host, nil, s.Page); int((all+s.Page-1)/s.Page) > has {
		report(finding.High, "all", all, "the VM", v.Host.Name, has, s.MemoryAt, "Reserve as many pages, on the nodes of its cells")
		return
	}
	for i := range s.Cells {
		nodes := s.HomeOf(i, v.Host)
		if nodes == nil || len(nodes) == len(v.Host.Nodes.Value) {
			continue
		}
		severity := finding.Medium // the others come from other nodes
		if i < len(s.Bound) && s.Bound[i].Hard() {
			severity = finding.High
		}
		var needs numa.Bytes // of all cells there
		for j := range s.Cells {
			if slices.Equal(s.HomeOf(j, v.Host), nodes) {
				needs += s.Cells[j].Memory
			}
		}
		report(severity, fmt.Sprint("cell ", i), needs, fmt.Sprint("cell ", i), rule.NodeList(nodes), pages(v.Host, nodes, s.Page), s.Cells[i].At, "Reserve the pages on these nodes")
	}
}

// pages returns how many pages of a size nodes have reserved; nil nodes are all.
func pages(h *numa.Host, nodes []int, size numa.Bytes) (n int) {
	for i, pools := range h.Pools.Value {
		for _, pool := range pools {
			if pool.Size == size && (nodes == nil || slices.Contains(nodes, h.Nodes.Value[i].ID)) {
				n += pool.Count
			}
		}
	}
	return n
}
