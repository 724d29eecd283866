// Package sca finds hosts whose scheduler does not use hyper-threads to prevent side channels.
package sca

import (
	_ "embed"
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed sca.md
var page string

// Rule is H004.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, Check: check})

func check(p *rule.Pass) {
	if !p.First() || p.Kind.Machine.AllThreads <= p.Kind.Machine.AllCores {
		return // without active hyper-threading there is no difference
	}
	var hosts [numa.SCAv2 + 1][]*numa.Host
	for _, h := range p.Kind.Hosts {
		m := numa.MitigationOf(h)
		hosts[m] = append(hosts[m], h)
	}
	if len(hosts[numa.SCAv1]) > 0 {
		first(p, hosts[numa.SCAv1])
	}
	if len(hosts[numa.SCAv2]) > 0 {
		second(p, hosts[numa.SCAv2])
	}
}

// first reports version 1.
func first(p *rule.Pass, hosts []*numa.Host) {
	on := p.OfHosts(hosts)
	m := &p.Kind.Machine
	f := finding.Finding{
		Severity: finding.Low,
		On:       on,
		Message:  fmt.Sprintf("the side-channel aware scheduler, version 1, uses one thread a core on %s: %d of %d PCPUs of a host", rule.HostNames(hosts), m.AllCores, m.AllThreads),
		When:     "Where guests may trust their own processes",
		Ways: []numa.Way{{Do: "set hyperthreadingMitigationIntraVM = FALSE (version 2) and reboot the host",
			Edits: []numa.Edit{{Kind: numa.EditHostOption, Key: "VMkernel.Boot." + numa.MitigationIntraVMOption, To: numa.Is("FALSE")}}}},
	}
	if m.Release < numa.ESXi67U2 {
		f.Ways = []numa.Way{numa.ByHand("upgrade to 6.7 U2 or later and choose version 2 (hyperthreadingMitigationIntraVM = FALSE)")}
	}
	most, vcpus := hosts[0], 0
	var hit []*rule.VM // by preferHT
	for _, h := range hosts {
		n := 0
		for _, v := range p.Cluster.Running(h) {
			n += int(v.Guest.VCPUs)
			if l := &v.On[0].Layout; (v.Guest.PreferHT || m.PreferHT) && l.PPDs.Max() > int(m.Cores) {
				hit = append(hit, v)
			}
		}
		if n > vcpus {
			most, vcpus = h, n
		}
	}
	if vcpus > int(m.AllCores) {
		f.Severity = finding.Medium
		f.Evidence = append(f.Evidence, finding.Evidence{Name: "vCPUs on " + most.Name, Value: fmt.Sprint(vcpus), Origin: "derived: its powered-on VMs"})
		f.Message += fmt.Sprintf("; %s runs %d vCPUs", rule.HostNames([]*numa.Host{most}), vcpus)
	}
	if len(hit) > 0 {
		f.Severity = finding.Medium
		f.Message += fmt.Sprintf("; preferHT puts more vCPUs of %s on a node than its %d cores", rule.Names(hit), m.Cores)
		f.Besides = "Remove preferHT from " + rule.Names(hit)
	}
	report(p, f, hosts[0])
}

// second reports version 2.
func second(p *rule.Pass, hosts []*numa.Host) {
	on := p.OfHosts(hosts)
	odd, all := 0, 0
	for _, h := range hosts {
		for _, v := range p.Cluster.Running(h) {
			all++
			odd += int(v.Guest.VCPUs) % 2
		}
	}
	f := finding.Finding{
		Severity: finding.Info,
		On:       on,
		Message:  fmt.Sprintf("the side-channel aware scheduler, version 2, shares a core only between vCPUs of one VM on %s", rule.HostNames(hosts)),
		Advice:   "Give VMs even vCPU counts there",
	}
	if odd > 0 {
		f.Message += fmt.Sprintf("; %d of %s have an odd vCPU count and leave a thread idle", odd, words.Plural(all, "VM"))
	} else {
		f.Advice = ""
	}
	report(p, f, hosts[0])
}

func report(p *rule.Pass, f finding.Finding, h *numa.Host) {
	for _, name := range []string{numa.MitigationOption, numa.MitigationIntraVMOption, numa.MitigationForceOption} {
		if key, _, ok := h.BootOption(name); ok {
			f.Evidence = append(f.Evidence, rule.OptionEvidence(h, key))
		}
	}
	f.Evidence = append(f.Evidence, finding.Of("cores of "+h.Name, h.Cores, h.At), finding.Of("PCPUs of "+h.Name, h.Threads, h.At), finding.Of("processor of "+h.Name, h.CPUModel, h.At))
	if _, set, _ := h.BootOption(numa.MitigationForceOption); !h.HasL1TF() && !set {
		f.Assumes = []string{"whether the processor is affected, so that the option acts, is unknown: it is taken to act (E-2)"}
	}
	p.Report(f, nil)
}
