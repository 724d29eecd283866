// Package pagepool finds VMs whose huge pages are not reserved on the nodes of their memory.
package pagepool

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
		var standard numa.Bytes // page size of the other VMs without a stated size
		if sizes := v.Host.HugeSizes(); len(sizes) == 1 {
			standard = sizes[0]
		}
		for _, f := range short(p, standard) {
			if s.Reserves { // one pool per contiguous piece of memory
				f.Severity, f.Message = finding.Low, f.Message+": Proxmox reserves them at the start of the VM, which fails when the memory of the host is in pieces"
			}
			p.Report(f)
		}
	default:
		judged, sizes := [][]finding.Finding(nil), v.Host.HugeSizes()
		for _, size := range sizes {
			if found := short(p, size); found != nil {
				judged = append(judged, found)
			}
		}
		for i, found := range judged {
			for _, f := range found {
				switch {
				case len(judged) < len(sizes): // depends on the kernel parameter default_hugepagesz
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

// sizeOf returns the page size of a piece of memory, 0 for ordinary pages; standard is the default size.
func sizeOf(p *numa.Piece, standard numa.Bytes) numa.Bytes {
	if p.Page == numa.DefaultPage {
		return standard
	}
	return p.Page
}

// short finds missing pages; standard is the size of pages whose size is not stated, 0 for unknown.
func short(p *rule.StatedPass, standard numa.Bytes) (out []finding.Finding) {
	v, s := p.VM, p.VM.Stated
	pieces := s.Pieces()
	var seen []numa.Bytes
	for i := range pieces {
		size := sizeOf(&pieces[i], standard)
		if size == 0 || slices.Contains(seen, size) {
			continue
		}
		seen = append(seen, size)
		if v.Host.Lacks(size) {
			out = append(out, *absent(p, &pieces[i], size))
			continue
		}
		if s.Reserves && size < numa.GiB {
			continue
		}
		if f, alone := missing(p, nil, size, standard, "the VM", s.MemoryAt); f != nil && free(v, size, standard) {
			f.Topic, f.Advice = "all", cmp.Or(f.Advice, "Reserve as many pages, on the nodes of its cells")
			out = append(out, *f)
			if alone {
				continue
			}
		}
		for j := i; j < len(pieces); j++ {
			one := &pieces[j]
			nodes := s.Home(one, v.Host)
			cell := one.Cell == j && j < len(s.Cells)
			if sizeOf(one, standard) != size || nodes == nil || len(nodes) == len(v.Host.Nodes.Value) ||
				!cell && sizeOf(&pieces[one.Cell], standard) == size && slices.Equal(nodes, s.HomeOf(one.Cell, v.Host)) { // together with its cell
				continue
			}
			if f, _ := missing(p, nodes, size, standard, one.What, one.At); f != nil {
				f.Topic, f.Advice = one.What, cmp.Or(f.Advice, "Reserve the pages on these nodes")
				if !cell {
					f.Topic = one.At
				}
				if !one.Bound.Hard() { // otherwise the missing pages come from other nodes
					f.Severity = finding.Medium
				}
				out = append(out, *f)
			}
		}
	}
	return out
}

// absent reports that the host has no pages of a size, which depends on the processor and on the ordinary pages of its kernel.
func absent(p *rule.StatedPass, piece *numa.Piece, size numa.Bytes) *finding.Finding {
	h := p.VM.Host
	text := func(sizes []numa.Bytes) string { return strings.Join(words.Texts(sizes, numa.Bytes.String), ", ") }
	sizes := h.HugeSizes()
	whole := slices.DeleteFunc(slices.Clone(sizes), func(size numa.Bytes) bool {
		return slices.ContainsFunc(p.VM.Stated.Pieces(), func(o numa.Piece) bool { return o.Page > 0 && o.Memory%size != 0 })
	})
	advice := "Use a page size that the host supports, and make the memory of each cell a multiple of it"
	if len(whole) > 0 {
		advice = "Use a page size that the host supports: " + text(whole)
	}
	return &finding.Finding{
		Severity: finding.High,
		Topic:    "size " + size.String(),
		Message:  fmt.Sprintf("%s requires huge pages of %s, which %s does not support (supported: %s)", piece.What, size, h.Name, text(sizes)),
		Advice:   advice,
		Evidence: []finding.Evidence{p.At("pages", size.String(), piece.At), {Name: "huge pages of " + h.Name, Value: text(sizes), Origin: h.Pools.Origin.String(), At: h.At}},
	}
}

// free reports whether some pages of a size may come from any node.
func free(v *rule.StatedVM, size, standard numa.Bytes) bool {
	return slices.ContainsFunc(v.Stated.Pieces(), func(p numa.Piece) bool {
		return sizeOf(&p, standard) == size && !(p.Bound.Hard() && len(p.Bound.Nodes) < len(v.Host.Nodes.Value))
	})
}

// missing reports that nodes have fewer pages of a size than required by the VM alone, or together with the other running VMs; nodes
// nil means the whole host. It returns nil if there are enough.
func missing(p *rule.StatedPass, nodes []int, size, standard numa.Bytes, of, at string) (f *finding.Finding, alone bool) {
	v, s := p.VM, p.VM.Stated
	bound := v.DemandOn(nodes, size, standard, false)
	var pinned numa.Bytes // on these nodes only because of pins
	where, takes := v.Host.Name, of+" takes"
	if nodes != nil {
		where = rule.NodeList(nodes)
		for _, one := range s.Pieces() {
			if sizeOf(&one, standard) == size && !one.Bound.Hard() && slices.Equal(s.Home(&one, v.Host), nodes) {
				pinned += one.Memory
			}
		}
	}
	has := pages(v.Host, nodes, size)
	count := func(b numa.Bytes) int { return int((b + size - 1) / size) }
	severity := finding.High
	all := v.DemandOn(nodes, size, standard, true)
	if nodes != nil && count(bound.Memory+pinned) <= has && count(all.Memory) > has { // some of it may come from other nodes
		bound, pinned, severity = all, 0, finding.Medium
	}
	want := bound.Own + pinned
	if alone = count(want) > has; !alone {
		others := slices.DeleteFunc(bound.Names, func(name string) bool { return name == v.Name })
		if want = bound.Memory + pinned; s.Reserves || count(want) <= has || len(others) == 0 {
			return nil, false
		}
		takes = fmt.Sprintf("%s and %s take", of, words.Few(others))
	}
	advice := ""
	if most, known := v.RoomOn(nodes, size); known && numa.Bytes(count(max(want, all.Memory)))*size > most { // no node has as many pages
		advice = fmt.Sprintf("Take memory of them from other nodes, or run them on another host: %s has %s", where, most)
	}
	return &finding.Finding{
		Severity: severity,
		Advice:   advice,
		Message:  fmt.Sprintf("%s %d pages of %s from %s, and %d are reserved there", takes, count(want), size, where, has),
		Evidence: []finding.Evidence{p.At("memory", want.String(), at), {Name: "pages of " + v.Host.Name, Value: fmt.Sprint(has), Origin: v.Host.Pools.Origin.String(), At: v.Host.At}},
	}, alone
}

// pages returns the number of reserved pages of a size on nodes; nil means all nodes.
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
