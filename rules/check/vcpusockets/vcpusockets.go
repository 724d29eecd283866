// Package vcpusockets finds VMs with one core in each socket, or with more sockets than the guest uses.
package vcpusockets

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/esxi/product"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/shape"
)

//go:embed vcpusockets.md
var page string

// Rule is K012.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

// few is the number of sockets that any software supports.
const few = 4

func check(p *rule.StatedPass) {
	s := p.VM.Stated
	if unused(p) {
		return
	}
	if s.TopologyAt == "" && s.Partial || s.VCPUs <= few || s.Sockets != s.Most() || p.Faults(shape.VCPUs, shape.Topology) != nil || shape.Fitting(s.Of(), s.Most()) == 1 {
		return
	}
	all, also := s.Most(), ""
	if s.Platform == "KubeVirt" { // it adds whole sockets
		all = s.VCPUs
	}
	to, ok := p.VM.TopologyToBe(all, all)
	per := to.PerSocket()
	switch _, undivided := p.VM.Undivided(); {
	case undivided && !ok:
	case all == s.Most() && len(s.Slots) > 0:
		also = fmt.Sprintf(", for the %d vCPUs that there can be", all)
	case per == 1: // no number of cores divides both
		to.Sockets, to.Cores, to.Threads, also = 1, all, 1, ", and no maxSockets"
	case len(s.Slots) > 0:
		also = fmt.Sprintf(", and maxSockets %d", s.Most()/per)
	}
	stated := ""
	if s.TopologyAt == "" {
		stated = ", since no topology is defined"
	}
	advice := p.Spelt(fmt.Sprintf("Define %s%s", to.Topology(), also), rule.Sockets)
	if !ok && also == "" {
		advice = "Define larger sockets, each inside a cell, once the guest sees cells"
		if p.VM.Equal() > 0 {
			advice = "Use " + p.VM.Others()
		}
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("each of the %d vCPUs is a socket of its own%s", s.VCPUs, stated),
		Advice:   advice,
		Evidence: []finding.Evidence{p.Topology(), p.Cells()},
	})
}

// unused reports vCPUs that the guest system, or the product stated by the owner, cannot use because of its number
// of sockets.
func unused(p *rule.StatedPass) (found bool) {
	v, s := p.VM, p.VM.Stated
	var sockets []int // sockets with a vCPU at present
	for _, vcpu := range s.Enabled() {
		sockets = append(sockets, vcpu/s.PerSocket())
	}
	there := len(slices.Compact(sockets))
	products := product.Running(v.Software().Value, v.GuestOS.Value)
	for i := range products {
		one := &products[i]
		_, uses := one.Usable(s.VCPUs, there, s.PerSocket())
		if uses >= s.VCPUs || one.Sockets() == 0 || there <= one.Sockets() {
			continue
		}
		found = true
		severity := finding.Medium
		if 2*uses <= s.VCPUs {
			severity = finding.High
		}
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    one.String(),
			Message:  fmt.Sprintf("%s uses at most %s, so only %d of the %d vCPUs; the guest sees %s", one, words.Plural(one.Sockets(), "socket"), uses, s.VCPUs, s.Topology()),
			Advice:   p.Spelt(fmt.Sprintf("Define at most %s with more cores each, for the same %s", words.Plural(one.Sockets(), "socket"), words.Plural(s.VCPUs, "vCPU")), rule.Sockets),
			Evidence: []finding.Evidence{finding.Of("guest system", v.GuestOS, v.At), p.Topology()},
		})
	}
	return found
}
