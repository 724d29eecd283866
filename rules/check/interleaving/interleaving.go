// Package interleaving finds hosts that show one NUMA node for several packages.
package interleaving

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/symptom"
)

//go:embed interleaving.md
var page string

// Rule is H001.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, Check: check})

// causes are the possible causes of one visible node.
var causes = symptom.CausesOf("one-node", map[string]func(*numa.Host) symptom.Told{
	"bus": func(h *numa.Host) symptom.Told {
		// vSphere 7.0 ended the support of Westmere and all older processors.
		return symptom.Told{Proven: h.FrontSideBus(), Out: !h.FrontSideBus() && (h.CPUModel.Known() || h.Release.Value >= numa.ESXi70)}
	},
	"nested": func(h *numa.Host) symptom.Told {
		told := symptom.Told{Proven: h.Nested(), Out: !h.Nested(), Evidence: []finding.Evidence{finding.Of("model of "+h.Name, h.Model, h.At), finding.Of("vendor of "+h.Name, h.Vendor, h.At)}}
		if h.OnVSphere() {
			told.Do = "give that VM a virtual NUMA topology where it is larger than a node below it: CPU hot add off, and numa.vcpu.min not above its vCPUs; no BIOS setting does it"
		}
		return told
	},
	"source": func(h *numa.Host) symptom.Told {
		assumed := h.Nodes.Origin.Kind == numa.Assumed
		return symptom.Told{Proven: assumed && !h.FrontSideBus(), Out: !assumed}
	},
	"kernel": func(h *numa.Host) symptom.Told { return symptom.Kernel(h, "useNUMAInfo", "TRUE") },
	"interleaving": func(h *numa.Host) symptom.Told {
		if h.Dies() == 4 { // EPYC 7001 (Dell EMC, NUMA configuration for AMD EPYC (Naples) processors, 2018)
			return symptom.Told{Do: "choose memory interleaving by die or channel, not by socket, in the BIOS setup and reboot the host"}
		}
		return symptom.Told{Out: epyc(h)}
	},
	"nps0":  func(h *numa.Host) symptom.Told { return symptom.Told{Out: h.CPUModel.Known() && !epyc(h)} },
	"table": nil, "memory": nil,
})

// epyc reports whether the host is known to have EPYC processors with the setting nodes per socket: later ones than the 7001 with four
// dies.
func epyc(h *numa.Host) bool { return strings.Contains(h.CPUModel.Value, "EPYC") && h.Dies() == 1 }

func check(p *rule.Pass) {
	if !p.First() || p.Kind.Machine.Nodes != 1 {
		return
	}
	groups := map[string][]*numa.Host{} // with the same number of packages, and the same causes and fixes
	for _, h := range p.Kind.Hosts {
		if n := h.Packages.Or(1); n > 1 {
			v := causes.Judge(h)
			key := fmt.Sprint(n)
			for _, c := range v.Left {
				key += " " + c.Key + c.Do
			}
			groups[key] = append(groups[key], h)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		report(p, groups[key])
	}
}

func report(p *rule.Pass, hosts []*numa.Host) {
	h := hosts[0]
	v := causes.Judge(h)
	f := finding.Finding{
		Severity: finding.High,
		Message:  fmt.Sprintf("the host has %d packages but shows 1 NUMA node", h.Packages.Value),
		On:       p.OfHosts(hosts),
		Evidence: []finding.Evidence{finding.Of("packages", h.Packages, h.At), {Name: "NUMA nodes", Value: "1", Origin: h.Nodes.Origin.String(), At: h.At}, finding.Of("processor", h.CPUModel, h.At)},
	}
	if len(hosts) > 1 {
		f.Message = fmt.Sprintf("%s have %d packages each but show 1 NUMA node", rule.HostNames(hosts), h.Packages.Value)
	}
	v.Explain(&f)
	switch {
	case v.Only("nested"):
		f.Severity = finding.Info
		f.Message += "; whether its VM has memory on several nodes of the hypervisor below is unknown"
	case v.Proven && (v.Is("bus") || v.Is("source")):
		f.Severity = finding.Info
	case v.Is("bus"):
		f.Severity = finding.Medium // the processor is unknown: possibly not a fault
	}
	if f.Severity > finding.Info {
		p.Kind.Cure = &rule.Cure{Machine: p.Kind.Machine.Divided(int32(h.Packages.Value)), Do: "a node for each package of the host", By: p.Rule.ID}
		for _, h := range hosts {
			f.Costs = append(f.Costs, rule.VMIDs(p.Cluster.Running(h))...)
		}
	}
	p.Report(f, nil)
}
