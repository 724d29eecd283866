// Package knownfault finds hosts that may have a scheduler fault which VMware or Broadcom describes for
// their release.
package knownfault

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed knownfault.md
var page string

// Rule is H005.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, Check: check, Brings: brings})

func check(p *rule.Pass) {
	if !p.First() || p.Kind.Machine.Nodes < 2 {
		return
	}
	for i := range faults {
		f := &faults[i]
		if !f.in(p.Kind) {
			continue
		}
		hosts, what := meet(p, f)
		if hosts != nil {
			report(p, f, hosts, what)
		}
	}
}

// in reports whether the release of the hosts has the fault.
func (f *fault) in(k *rule.Kind) bool {
	r := k.Machine.Release
	return r >= f.first && r < max(f.upTo, f.unsure)
}

// brings reports the faults of a cluster that the VM would cause with a change, and does not cause now.
func brings(p *rule.Pass) {
	causes := func(f *fault, k *rule.Kind, v *rule.VM) (hit, bool) {
		return f.holds(&rule.Pass{Kind: k, Cluster: &rule.Cluster{Hosts: p.Cluster.Hosts, VMs: []*rule.VM{v}}}, k.Hosts[0])
	}
	now := slices.IndexFunc(p.Cluster.VMs, func(v *rule.VM) bool { return v.ID == p.VM.ID })
	for i := range faults {
		f := &faults[i]
		for _, k := range p.Cluster.Kinds {
			if !f.cluster || k.Machine.Nodes < 2 || !f.in(k) || now < 0 {
				continue
			}
			what, then := causes(f, k, p.VM)
			if _, before := causes(f, k, p.Cluster.VMs[now]); before || !then {
				continue
			}
			severity := f.severity
			if what.away {
				severity = min(severity, finding.Medium)
			}
			p.Report(finding.Finding{Severity: severity, Topic: f.kb, Message: fmt.Sprintf("KB %s on %s: %s", f.kb, rule.HostNames(k.Hosts), f.text)}, nil)
			break
		}
	}
}

// meet returns the hosts of the kind that the fault can affect, and the affected part.
func meet(p *rule.Pass, f *fault) (hosts []*numa.Host, what hit) {
	all := p.Kind.Hosts
	if f.cluster {
		if what, ok := f.holds(p, all[0]); ok {
			return all, what
		}
		return nil, what
	}
	for _, h := range all {
		if found, ok := f.holds(p, h); ok {
			hosts = append(hosts, h)
			what.option, what.vms = found.option, append(what.vms, found.vms...)
			what.vcpus = max(what.vcpus, found.vcpus)
		}
	}
	return hosts, what
}

func report(p *rule.Pass, fault *fault, hosts []*numa.Host, what hit) {
	on := p.OfHosts(hosts)
	h := hosts[0]
	f := finding.Finding{
		Severity: fault.severity,
		On:       on,
		Topic:    fault.kb,
		Message:  fmt.Sprintf("KB %s on %s (%s): %s", fault.kb, rule.HostNames(hosts), h.Release.Value, fault.text),
		Evidence: []finding.Evidence{finding.Of("ESXi release of "+h.Name, h.Release, h.At), finding.Of("build of "+h.Name, h.Build, h.At), p.NodesEvidence()},
	}
	way := numa.ByHand(words.Lower(fault.fix))
	if o := fault.option; o.Key != "" {
		way.Edits, way.Auto = []numa.Edit{{Kind: numa.EditHostOption, Key: o.Key, To: numa.Is(o.Value)}}, !fault.watch
	}
	f.Ways = []numa.Way{way}
	if what.vcpus > 0 {
		f.Message += fmt.Sprintf(" (up to %d vCPUs on a host, %d cores in a node)", what.vcpus, p.Kind.Machine.Cores)
		f.Evidence = append(f.Evidence, finding.Evidence{Name: "most vCPUs on a host", Value: fmt.Sprint(what.vcpus), Origin: "derived: powered-on VMs"})
	}
	if len(what.vms) > 0 {
		f.Concerns = rule.VMIDs(what.vms)
		f.Message += fmt.Sprintf("; concerns %s", rule.Names(what.vms))
		for _, v := range what.vms[:min(len(what.vms), mostEvidence)] {
			f.Evidence = append(f.Evidence, evidence(fault, v))
		}
	}
	if fault.gathers {
		seen(p, &f, hosts)
	}
	if what.away {
		f.Severity = min(f.Severity, finding.Medium)
	}
	if what.option != "" {
		f.Evidence = append(f.Evidence, rule.OptionEvidence(h, what.option))
		if !h.Options.Known() {
			f.Assumes = append(f.Assumes, "the advanced options of the host are unknown: defaults are taken (C-18)")
		}
	}
	if h.Release.Value >= fault.upTo {
		f.Severity = finding.Info
		f.Assumes = append(f.Assumes, fmt.Sprintf("which release has the fix of KB %s is not published: %s may have it", fault.kb, h.Release.Value))
	} else if !h.Build.Known() && fault.upTo.Base() == h.Release.Value.Base() && h.Release.Value.Update() == 0 {
		f.Assumes = append(f.Assumes, fmt.Sprintf("the build is unknown: %s without updates is taken", h.Release.Value))
	}
	p.Report(f, nil)
}

// seen reports whether observed home nodes show the fault, on the first host where they do. A fault that
// they do not show now may still occur at the next power-on or vMotion: the severity does not change.
func seen(p *rule.Pass, f *finding.Finding, hosts []*numa.Host) {
	first := ""
	for _, h := range hosts {
		text, hit, known := struck(p, h)
		switch {
		case hit:
			f.Message += "; its home nodes look like it: " + text
			return
		case known && first == "":
			first = text
		}
	}
	if first != "" {
		f.Message += "; its home nodes do not look like it now: " + first
	}
}

// mostEvidence is the maximum number of VMs in the evidence.
const mostEvidence = 3

// evidence returns the reason why the fault affects the VM.
func evidence(f *fault, v *rule.VM) finding.Evidence {
	var e finding.Evidence
	switch {
	case f.kb == "430776":
		level, name := v.Latency()
		return finding.Of(name+" of "+v.Name, level, v.At)
	case f.kb == "2147958" && v.Guest.SizeEachTime:
		e = v.SettingEvidence("numa.autosize.once")
	case f.kb == "2147958":
		e = v.CPSEvidence()
	default:
		e = v.VCPUsEvidence()
	}
	e.Name += " of " + v.Name
	return e
}
