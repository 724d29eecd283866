package affinity

import (
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// missing reports PCPUs and nodes in the affinities that some host lacks.
func missing(p *rule.Pass, pcpus, memory []int) {
	v := p.VM
	lacks := func(h *numa.Host) string {
		var parts []string
		if cpus := rule.LackingPCPUs(h, pcpus); len(cpus) > 0 {
			parts = append(parts, list("PCPU", cpus)+" of the CPU affinity")
		}
		if nodes := rule.LackingNodes(h, memory); len(nodes) > 0 {
			parts = append(parts, list("node", nodes)+" of the memory affinity")
		}
		return strings.Join(parts, " and ")
	}
	on, text := p.Lacking(lacks)
	if on == nil {
		return
	}
	host := on.Kind.Hosts[0]
	f := finding.Finding{
		Severity: finding.Medium, Topic: "missing", Message: text, Ways: []numa.Way{v.ClearAffinity()},
		Evidence: append(evidence(v.VM, pcpus, memory), on.Kind.NodesEvidence(), finding.Of("hyper-threading of "+host.Name, host.HyperThreading, host.At)),
	}
	if on.Kind == v.Home || v.Home == nil {
		f.Message += ". The affinity was set for another host, or the source is wrong; whether the VM powers on with it, and where it then runs, is not published"
	} else {
		f.Severity = finding.Low
		f.Message += ". After vMotion there the affinity may no longer apply; whether the VM powers on there is not published"
		f.Ways = append(f.Ways, numa.ByHand("keep the VM "+rule.ByDRS+" on hosts that have them"))
	}
	p.Report(f, nil)
}
