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
	switch {
	case v.Host == nil || !v.Host.Pools.Known():
	case !s.DefaultPage:
		for _, f := range short(p, s.PageOf) {
			if s.Reserves { // as many as there are contiguous pieces of memory
				f.Severity, f.Message = finding.Low, f.Message+": Proxmox reserves them at the start of the VM, which fails when the memory of the host is in pieces"
			}
			p.Report(f)
		}
	default:
		judged, sizes := [][]finding.Finding(nil), v.Host.HugeSizes()
		for _, size := range sizes {
			if found := short(p, func(int) numa.Bytes { return size }); found != nil {
				judged = append(judged, found)
			}
		}
		for i, found := range judged {
			for _, f := range found {
				switch {
				case len(judged) < len(sizes): // the kernel's parameter default_hugepagesz says which
					f.Severity, f.Topic = finding.Low, fmt.Sprint(f.Topic, " of size ", i)
					f.Message += ", if that is the default size of the host"
					fallthrough
				case i == 0:
					p.Report(f)
				}
			}
		}
	}
}

// short finds the pages that are missing where each cell has pages of a size, 0 for ordinary ones.
func short(p *rule.StatedPass, page func(cell int) numa.Bytes) (out []finding.Finding) {
	v, s := p.VM, p.VM.Stated
	var seen []numa.Bytes
	for i := range s.Cells {
		size := page(i)
		if size == 0 || s.Reserves && size < numa.GiB || slices.Contains(seen, size) {
			continue
		}
		seen = append(seen, size)
		// needs are those of the cells at home on the same nodes; of all cells for nil.
		needs := func(nodes []int) (sum numa.Bytes) {
			for j := range s.Cells {
				if page(j) == size && (nodes == nil || slices.Equal(s.HomeOf(j, v.Host), nodes)) {
					sum += s.Cells[j].Memory
				}
			}
			return sum
		}
		add := func(severity finding.Severity, topic, of, where, at, advice string, nodes []int) bool {
			want, has := needs(nodes), pages(v.Host, nodes, size)
			n := int((want + size - 1) / size)
			if n > has {
				out = append(out, finding.Finding{
					Severity: severity,
					Topic:    topic,
					Message:  fmt.Sprintf("%s takes %d pages of %s from %s, and %d are reserved there", of, n, size, where, has),
					Advice:   advice,
					Evidence: []finding.Evidence{p.At("memory", want.String(), at), {Name: "pages of " + v.Host.Name, Value: fmt.Sprint(has), Origin: v.Host.Pools.Origin.String(), At: v.Host.At}},
				})
			}
			return n > has
		}
		free := false // to take pages of any node
		for j := range s.Cells {
			free = free || page(j) == size && !(s.Bound[j].Hard() && len(s.Bound[j].Nodes) < len(v.Host.Nodes.Value))
		}
		if free && add(finding.High, "all", "the VM", v.Host.Name, s.MemoryAt, "Reserve as many pages, on the nodes of its cells", nil) {
			continue
		}
		for j := i; j < len(s.Cells); j++ {
			nodes := s.HomeOf(j, v.Host)
			if page(j) != size || nodes == nil || len(nodes) == len(v.Host.Nodes.Value) {
				continue
			}
			severity := finding.Medium // the others come from other nodes
			if s.Bound[j].Hard() {
				severity = finding.High
			}
			add(severity, fmt.Sprint("cell ", j), fmt.Sprint("cell ", j), rule.NodeList(nodes), s.Cells[j].At, "Reserve the pages on these nodes", nodes)
		}
	}
	return out
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
