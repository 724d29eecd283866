// Package interleaving finds hosts that show one NUMA node for several packages.
package interleaving

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed interleaving.md
var page string

// Rule is H001.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, Check: check})

func check(p *rule.Pass) {
	if !p.First() || p.Kind.Machine.Nodes != 1 {
		return
	}
	physical, nested := map[int][]*numa.Host{}, map[int][]*numa.Host{} // by packages
	for _, h := range p.Kind.Hosts {
		switch n := h.Packages.Or(1); {
		case n < 2:
		case h.Nested():
			nested[n] = append(nested[n], h)
		default:
			physical[n] = append(physical[n], h)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(physical)) {
		f := finding.Finding{
			Severity: finding.High,
			Message:  fmt.Sprintf("the host has %d packages but shows 1 NUMA node: node interleaving is on", n),
			Advice:   "Switch node interleaving off in the BIOS setup and reboot the host",
		}
		if len(physical[n]) > 1 {
			f.Message = fmt.Sprintf("%s have %d packages each but show 1 NUMA node: node interleaving is on", rule.HostNames(physical[n]), n)
			f.Advice += ", one after the other"
		}
		for _, h := range physical[n] {
			f.Costs = append(f.Costs, rule.VMIDs(p.Cluster.Running(h))...)
		}
		report(p, physical[n], f)
	}
	for _, n := range slices.Sorted(maps.Keys(nested)) {
		h := nested[n][0]
		report(p, nested[n], finding.Finding{
			Severity: finding.Info,
			Message: fmt.Sprintf("%s: 1 NUMA node for %d virtual sockets; a nested host has what its own VM gets; whether that VM has its memory on several nodes of the hypervisor below is unknown",
				rule.HostNames(nested[n]), n),
			Advice:   "Where the VM of a nested host is larger than a node below it, give that VM a virtual NUMA topology: CPU hot add off, and numa.vcpu.min not above its vCPUs; no BIOS setting does it",
			Evidence: []finding.Evidence{finding.Of("model of "+h.Name, h.Model, h.At), finding.Of("vendor of "+h.Name, h.Vendor, h.At)},
		})
	}
}

func report(p *rule.Pass, hosts []*numa.Host, f finding.Finding) {
	h := hosts[0]
	f.On = p.OfHosts(hosts)
	f.Evidence = append(f.Evidence, finding.Of("packages", h.Packages, h.At),
		finding.Evidence{Name: "NUMA nodes", Value: "1", Origin: h.Nodes.Origin.String(), At: h.At})
	p.Report(f, nil)
}
