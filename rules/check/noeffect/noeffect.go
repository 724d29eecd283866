// Package noeffect finds settings that have no effect.
package noeffect

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed noeffect.md
var page string

// Rule is N019.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Hosts: true, Check: check})

func check(p *rule.Pass) {
	if p.VM == nil {
		checkHost(p)
		return
	}
	v := p.VM
	for _, s := range settings {
		value, ok := v.Settings.Value.Lookup(s.key)
		if !ok || strings.TrimSpace(value) == "" {
			continue
		}
		var why string
		idle := !slices.ContainsFunc(v.On, func(o rule.On) bool {
			reason := s.idle(p, &o)
			if why == "" {
				why = reason
			}
			return reason == ""
		})
		if idle {
			report(p, s.key, value, why)
		}
	}
	if threads := v.VirtualThreads; threads.Value > 1 && v.Hardware.Known() && v.Hardware.Value < 20 {
		p.Report(finding.Finding{
			Severity: finding.Low,
			Topic:    "virtual hyper-threading",
			Message:  fmt.Sprintf("%d vCPUs of a virtual core have no effect: virtual hyper-threading needs virtual hardware 20, the VM has %d (B-21)", threads.Value, v.Hardware.Value),
			Ways:     []numa.Way{numa.ByHand("upgrade the virtual hardware to 20 or later on ESXi 8.0"), numa.ByHand("show the guest one thread of each core")},
			Evidence: []finding.Evidence{finding.Of("vCPUs of a virtual core", threads, v.At), finding.Of("virtual hardware", v.Hardware, v.At)},
		}, nil)
	}
	for _, s := range v.Settings.Value {
		if known := misspelt(s.Key); known != "" {
			p.Report(finding.Finding{
				Severity: finding.Low,
				Topic:    s.Key,
				Message:  fmt.Sprintf("%s is no setting that is known; %s is spelt alike", s.Key, known),
				Ways:     []numa.Way{numa.ByHand("set " + known + " instead"), {Do: "remove " + s.Key, Edits: []numa.Edit{numa.Unassign(s.Key)}}},
				Evidence: []finding.Evidence{v.SettingEvidence(s.Key)},
			}, nil)
		}
	}
}

// report adds the finding about one setting of the VM.
func report(p *rule.Pass, key, value, why string) {
	v, on := p.VM, &p.VM.On[0]
	f := finding.Finding{
		Severity: finding.Info,
		Topic:    key,
		Message:  fmt.Sprintf("%s = %s has no effect: %s", key, value, why),
		Ways:     []numa.Way{{Do: "remove " + key, Edits: []numa.Edit{numa.Unassign(key)}, Auto: true}},
		Evidence: []finding.Evidence{v.SettingEvidence(key), v.VCPUsEvidence(), on.Kind.ReleaseEvidence(), on.Kind.NodesEvidence()},
	}
	switch key {
	case allowHotAdd:
		f.Ways = append(f.Ways, numa.ByHand("give it the resources that it needs"))
		f.Evidence = append(f.Evidence, finding.Of("CPU hot add", v.CPUHotAdd, v.At), finding.Of("virtual hardware", v.Hardware, v.At))
		if on.Layout.Why == vnuma.ByHotAdd && on.Layout.Wide() { // the guest does not see NUMA, although somebody intended it
			f.Severity = finding.Low
		}
	case "cpuid.maxVCPUs":
		f.Evidence = append(f.Evidence, finding.Of("CPU hot add", v.CPUHotAdd, v.At))
	default:
		if on.Layout.Why == vnuma.ByHotAdd {
			f.Evidence = append(f.Evidence, finding.Of("CPU hot add", v.CPUHotAdd, v.At))
		}
	}
	p.Report(f, &on.Layout)
}

// An Option is a host option that not every release has.
type Option struct {
	Key   string
	Since numa.Release // first release with it; 0 if older than the lists, which begin with 6.0 U3
	Gone  numa.Release // first release without it; 0 for none
}

// Options lists the host options that not every release has (C-18).
var Options = []Option{
	{"Numa.AutoMemAffinity", 0, numa.ESXi65},
	{"Numa.DeviceAffinity", numa.ESXi90, 0},
	{"Numa.FollowCoresPerSocket", numa.ESXi65, 0},
	{"Numa.LatencyProbePeriod", numa.ESXi67, 0},
	{"Numa.MaxProximityDomains", 0, numa.ESXi65},
	{"Numa.PPDStats", 0, numa.ESXi65},
	{"Numa.UsePPDLocalityInfo", 0, numa.ESXi65},
}

// checkHost checks the hosts of a kind together, because they run the same release.
func checkHost(p *rule.Pass) {
	if !p.First() {
		return
	}
	for _, o := range Options {
		why, r := "", p.Kind.Machine.Release
		switch {
		case r < o.Since:
			why = fmt.Sprintf("it exists from %s on", o.Since)
		case o.Gone != 0 && r >= o.Gone:
			why = fmt.Sprintf("it is gone since %s", o.Gone)
		default:
			continue
		}
		var hosts []*numa.Host
		for _, h := range p.Kind.Hosts {
			if _, ok := h.Options.Value.Lookup(o.Key); ok {
				hosts = append(hosts, h)
			}
		}
		if hosts == nil {
			continue
		}
		on, h := p.OfHosts(hosts), hosts[0]
		p.Report(finding.Finding{
			Severity: finding.Info,
			On:       on,
			Topic:    o.Key,
			Message:  fmt.Sprintf("%s is set on %s and has no effect on ESXi %s: %s", o.Key, rule.HostNames(hosts), r, why),
			Advice:   "Take it out of the configuration or the profile of the hosts",
			Evidence: []finding.Evidence{rule.OptionEvidence(h, o.Key), finding.Of("ESXi release of "+h.Name, h.Release, h.At)},
		}, nil)
	}
}
