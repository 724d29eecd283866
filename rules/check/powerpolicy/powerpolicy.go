// Package powerpolicy finds hosts with large VMs and a power-saving policy.
package powerpolicy

import (
	_ "embed"
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed powerpolicy.md
var page string

// Rule is H006.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, Check: check})

// severities of the policies; others, and unknown ones, are not assessed. Balanced is the
// default and intended to cost little: low. Custom may be anything: info.
var severities = map[string]finding.Severity{
	"balanced":  finding.Low,
	"low power": finding.Medium,
	"custom":    finding.Info,
}

func check(p *rule.Pass) {
	if !p.First() {
		return
	}
	var policies []string // in the order of the hosts
	hosts := map[string][]*numa.Host{}
	large := map[string][]*rule.VM{}
	for _, h := range p.Kind.Hosts {
		policy := strings.ToLower(h.PowerPolicy.Value)
		if _, judged := severities[policy]; !judged || !h.PowerPolicy.Known() || h.Nested() {
			continue
		}
		vms := largest(p.Cluster.Running(h), int32(p.Threshold("largeVM")))
		if len(vms) == 0 {
			continue
		}
		if hosts[policy] == nil {
			policies = append(policies, policy)
		}
		hosts[policy], large[policy] = append(hosts[policy], h), append(large[policy], vms...)
	}
	for _, policy := range policies {
		report(p, hosts[policy], large[policy], severities[policy])
	}
}

func report(p *rule.Pass, hosts []*numa.Host, vms []*rule.VM, severity finding.Severity) {
	on := p.OfHosts(hosts)
	h := hosts[0]
	big := vms[0]
	for _, v := range vms {
		if v.Guest.VCPUs > big.Guest.VCPUs {
			big = v
		}
	}
	f := finding.Finding{
		Severity: severity,
		On:       on,
		Message: fmt.Sprintf("the power policy of %s is %s, and %s of more than %d vCPUs run there: %s; the largest has %d",
			rule.HostNames(hosts), h.PowerPolicy.Value, words.Plural(len(vms), "VM"), int(p.Threshold("largeVM")), rule.Names(vms), big.Guest.VCPUs),
		Advice: "Choose High Performance, and OS control in the BIOS setup",
		Evidence: []finding.Evidence{
			finding.Of("power policy of "+h.Name, h.PowerPolicy, h.At),
			finding.Of("vCPUs of "+big.Name, big.VCPUs, big.At),
		},
	}
	if len(vms) == 1 {
		f.Message = fmt.Sprintf("the power policy of %s is %s, and %s with %d vCPUs runs there", rule.HostNames(hosts), h.PowerPolicy.Value, big.Name, big.Guest.VCPUs)
	}
	if severity == finding.Info {
		f.Advice = "Compare the custom policy with High Performance"
	}
	p.Report(f, nil)
}

// largest returns the VMs with more than most vCPUs.
func largest(vms []*rule.VM, most int32) []*rule.VM {
	var out []*rule.VM
	for _, v := range vms {
		if v.Guest.VCPUs > most {
			out = append(out, v)
		}
	}
	return out
}
