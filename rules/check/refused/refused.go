// Package refused finds VMs that vSphere does not power on.
package refused

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed refused.md
var page string

// Rule is N032.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Hosts: true, Refused: true, Beside: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	switch {
	case v == nil:
		older(p)
		return
	case v.Off():
		if !v.On[0].Layout.Refused.ByLatency() { // see N026
			p.Worst(func(o *rule.On) bool { return o.Layout.Refused.Any() })
			report(p, &v.On[0], "it does not power on", finding.High, p.Elsewhere()...)
		}
		unprotected(p)
		unsettable(p)
		return
	}
	if r := p.Denied(); r.Any() {
		denied(p, r)
		return
	}
	unprotected(p)
	unsettable(p)
	if on := &v.On[0]; len(v.Refused) == 0 {
		notJudged(p, on)
	}
	var on *rule.On
	var hosts []*numa.Host
	for i := range v.Refused {
		o := &v.Refused[i]
		ready := slices.DeleteFunc(slices.Clone(o.Kind.Hosts), func(h *numa.Host) bool { return !h.Ready() })
		if o.Layout.Refused.ByRelease() || len(ready) == 0 || on != nil && o.Layout.Refused != on.Layout.Refused {
			continue
		}
		if on == nil {
			on = o
		}
		hosts = append(hosts, ready...)
	}
	if on == nil {
		return
	}
	p.At(hosts...)
	report(p, on, "it does not power on on "+rule.HostNames(hosts), finding.Medium, rule.KeepOff(hosts))
}

// unprotected reports a VM with more vCPUs or memory than Fault Tolerance supports (vSphere Availability, Fault Tolerance requirements,
// limits and licensing, GUID-57929CF0: 8 vCPUs with the largest edition, 4 up to 6.5, 1 before 6.0; configuration maximums: 128 GB, 64 GB up to 6.5).
func unprotected(p *rule.Pass) {
	v, most, memory := p.VM, 8, 128*numa.GiB
	switch r := v.On[0].Kind.Machine.Release; {
	case r < numa.ESXi60:
		most, memory = 1, 64*numa.GiB
	case r < numa.ESXi67:
		most, memory = 4, 64*numa.GiB
	}
	if v.FaultTolerance.Value != numa.FTPrimary {
		return
	}
	unprotectedWith(p)
	var limits, has []string
	var less numa.Way
	var evidence []finding.Evidence
	if n := int(v.Guest.VCPUs); n > most {
		limits, has, less = []string{words.Plural(most, "vCPU")}, []string{fmt.Sprint(n)}, p.AtMostVCPUs(most, "")
		evidence = append(evidence, v.VCPUsEvidence())
	}
	if v.Memory.Value > memory {
		limits, has, evidence = append(limits, memory.String()), append(has, v.Memory.Value.String()), append(evidence, v.MemoryEvidence())
		if byHand := less.Do != "" && less.Edits == nil; !byHand {
			less.Edits = append(less.Edits, numa.EditMemory.To(int(memory/numa.MiB)))
		}
		less.Do = words.Join(" and ", less.Do, "give the VM at most "+memory.String())
	}
	if limits == nil {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Medium, Topic: "protection",
		Message:  fmt.Sprintf("Fault Tolerance is on, and protects VMs of at most %s: the VM has %s", words.List(limits), words.List(has)),
		Ways:     []numa.Way{less, numa.ByHand("leave Fault Tolerance off")},
		Evidence: append(evidence, finding.Of("Fault Tolerance", v.FaultTolerance, v.At), v.On[0].Kind.ReleaseEvidence()),
	}, &v.On[0].Layout)
}

// unprotectedWith reports features that are incompatible with Fault Tolerance: a PCI device of the host, encryption before 7.0 U2, and a
// virtual TPM before 8.0 (vSphere Availability, GUID-C1749AD4, and GUID-F5264795 of 6.7, 7.0 and 8.0).
func unprotectedWith(p *rule.Pass) {
	v := p.VM
	with := func(what, instead string, e finding.Evidence) {
		p.Report(finding.Finding{
			Severity: finding.Medium, Topic: "protection with " + what, Message: "Fault Tolerance is on, and is not supported with " + what,
			Ways:     []numa.Way{numa.ByHand(instead), numa.ByHand("leave Fault Tolerance off")},
			Evidence: []finding.Evidence{finding.Of("Fault Tolerance", v.FaultTolerance, v.At), e, v.On[0].Kind.ReleaseEvidence()},
		}, &v.On[0].Layout)
	}
	if len(v.Devices.Value) > 0 {
		with("a PCI device of the host", "take the device out of the VM", finding.Of("PCI devices of its host", numa.Fact[int]{Value: len(v.Devices.Value), Origin: v.Devices.Origin}, v.At))
	}
	before := func(r numa.Release, has numa.Fact[bool], what, name string) {
		old := slices.DeleteFunc(slices.Clone(v.On), func(o rule.On) bool { return o.Kind.Machine.Release >= r })
		if len(old) > 0 && has.Value {
			hosts := rule.HostNames(old[0].Kind.Hosts)
			with(fmt.Sprintf("%s on ESXi %s (%s)", what, old[0].Kind.Machine.Release, hosts), fmt.Sprintf("upgrade %s to ESXi %s or later", hosts, r), finding.Of(name, has, v.At))
		}
	}
	before(numa.ESXi70+2, v.Encrypted, "encryption", "encrypted")
	before(numa.ESXi80, v.TPM, "a virtual TPM", "virtual TPM")
}

// unsettable reports values of the VM's configuration that vSphere rejects.
func unsettable(p *rule.Pass) {
	v := p.VM
	for _, no := range v.Impossible() {
		f := finding.Finding{
			Severity: finding.Medium, Topic: string(no.Cure.Kind), Message: no.Text + ": vSphere refuses to set that, so it came another way, or the source is wrong",
			Ways: []numa.Way{{Edits: []numa.Edit{no.Cure}}},
		}
		switch no.Cure.Kind {
		case numa.EditCPUAffinity:
			f.Ways = []numa.Way{v.ClearAffinity()}
			f.Evidence = []finding.Evidence{v.VCPUsEvidence(), finding.Of("PCPUs of its affinity", numa.Fact[int]{Value: len(v.CPUAffinity.Value), Origin: v.CPUAffinity.Origin}, v.At)}
		case numa.EditCPUReservation:
			f.Ways[0].Do = "lower the CPU reservation to " + no.Cure.To.Text + " MHz"
			f.Ways = append(f.Ways, numa.ByHand("raise the CPU limit"))
			f.Evidence = []finding.Evidence{finding.Of("CPU reservation in MHz", v.CPUReservation, v.At), finding.Of("CPU limit in MHz", v.CPULimit, v.At)}
		default:
			f.Evidence = []finding.Evidence{finding.Of("memory reservation", v.MemoryReservation, v.At), v.MemoryEvidence()}
			if _, ok := v.LimitedTo(); ok {
				f.Evidence = append(f.Evidence, v.MemoryLimitEvidence())
			}
			most, _ := strconv.Atoi(no.Cure.To.Text)
			f.Ways[0].Do = fmt.Sprintf("lower the memory reservation to %s", numa.Bytes(most)*numa.MiB)
		}
		p.Report(f, &v.On[0].Layout)
	}
}

// older reports hosts that are older than the virtual hardware of VMs of their cluster. This is normal during upgrades of a cluster: it
// matters more if no second host is left to restart a VM or to accept it during evacuation of its own.
func older(p *rule.Pass) {
	if !p.First() {
		return
	}
	var vms, alone []*rule.VM
	var newest *rule.VM
	for _, v := range p.Cluster.VMs {
		if v.Off() || !slices.ContainsFunc(v.Refused, func(o rule.On) bool { return o.Kind == p.Kind && o.Layout.Refused.ByRelease() }) {
			continue
		}
		vms = append(vms, v)
		if takers(v) < 2 {
			alone = append(alone, v)
		}
		if newest == nil || v.Guest.Hardware > newest.Guest.Hardware {
			newest = v
		}
	}
	if vms == nil {
		return
	}
	names := rule.HostNames(p.Kind.Hosts)
	f := finding.Finding{Severity: finding.Low, Costs: rule.VMIDs(vms),
		Message: fmt.Sprintf("virtual hardware of %s is newer than the %d of ESXi %s: no vMotion takes them to %s, and they do not power on there (%s)",
			words.Plural(len(vms), "VM"), p.Kind.Machine.Release.Hardware(), p.Kind.Machine.Release, names, rule.Names(vms)),
		Evidence: []finding.Evidence{finding.Of("newest virtual hardware, of "+newest.Name, newest.Hardware, newest.At), p.Kind.ReleaseEvidence()}}
	if alone != nil {
		f.Severity, f.Costs = finding.Medium, rule.VMIDs(alone)
		f.Message += fmt.Sprintf("; no second host takes %s when its own fails or has to be emptied", rule.Names(alone))
	}
	upgrade := "upgrade " + names
	if h, ok := numa.HardwareOf(int(newest.Guest.Hardware)); ok {
		upgrade += fmt.Sprintf(" to ESXi %s or later, if the compatibility guide has its processor for it", h.Since)
		if no := p.Kind.Hosts[0].Dropped(h.Since); no != "" {
			upgrade = "replace " + names + ", for no upgrade helps: " + no
		}
	}
	f.Ways = []numa.Way{numa.ByHand(upgrade)}
	f.On = p.OfHosts(p.Kind.Hosts)
	p.Report(f, nil)
}

// takers counts the hosts that power the VM on and are available now.
func takers(v *rule.VM) (n int) {
	for i := range v.On {
		for _, h := range v.On[i].Kind.Hosts {
			if h.Ready() {
				n++
			}
		}
	}
	return n
}

// notJudged reports unknown facts that affect the power-on.
func notJudged(p *rule.Pass, on *rule.On) {
	v, l := p.VM, &on.Layout
	if v.Runs() {
		return // its host powered it on
	}
	f := finding.Finding{Severity: finding.Info}
	switch {
	case l.Assumes&vnuma.AssumedReserved != 0 && !v.ReservationKnown():
		f.Message = "whether it powers on is not judged: a PCI device of its host needs all memory reserved, and what is reserved is not stated"
		f.Evidence = []finding.Evidence{finding.Of("memory reservation", v.MemoryReservation, v.At), v.MemoryEvidence(), finding.Of("PCI devices of its host", numa.Fact[int]{Value: len(v.Devices.Value), Origin: v.Devices.Origin}, v.At)}
	case l.Assumes&vnuma.AssumedIOMMU != 0:
		f.Message = fmt.Sprintf("whether it powers on is not judged: %d vCPUs need the virtual IOMMU and EFI firmware, and not both are stated", v.Guest.VCPUs)
		f.Evidence = []finding.Evidence{v.VCPUsEvidence(), finding.Of("firmware", v.Firmware, v.At), finding.Of("virtual IOMMU", v.IOMMU, v.At)}
	case v.Guest.Needs.Unclocked(&on.Kind.Machine):
		f.Message = fmt.Sprintf("whether it powers on is not judged: %d MHz of CPU are reserved, and the frequency of its host is unknown", v.CPUReservation.Value)
		f.Evidence = []finding.Evidence{finding.Of("CPU reservation in MHz", v.CPUReservation, v.At), finding.Of("core frequency of "+on.Kind.Hosts[0].Name+" in MHz", on.Kind.Hosts[0].Frequency(), on.Kind.Hosts[0].At)}
	case vnuma.TakesAllCPU(&v.Guest, &on.Kind.Machine) && !v.Guest.Needs.Exclusive:
		f.Severity = finding.Low
		f.Message = fmt.Sprintf("%d MHz of reserved CPU leave ESXi less than a core of the host, and it needs some: whether it powers on is not certain", v.CPUReservation.Value)
		f.Assumes = append(f.Assumes, "what ESXi keeps of the CPU is not published (B-30)")
		m := &on.Kind.Machine
		f.Ways = []numa.Way{{Do: fmt.Sprintf("reserve at most %d MHz CPU, which leaves a core of the host to ESXi", (m.AllCores-1)*m.CoreMHz),
			Edits: []numa.Edit{numa.EditCPUReservation.To(int((m.AllCores - 1) * m.CoreMHz))}}}
		f.Evidence = []finding.Evidence{finding.Of("CPU reservation in MHz", v.CPUReservation, v.At), finding.Of("core frequency of "+on.Kind.Hosts[0].Name+" in MHz", on.Kind.Hosts[0].Frequency(), on.Kind.Hosts[0].At), on.Kind.NodesEvidence()}
	default:
		return
	}
	p.Report(f, l)
}

// evidence returns the facts for a refusal.
func evidence(v *rule.VM, on *rule.On, r vnuma.Refusal) []finding.Evidence {
	host := on.Kind.Hosts[0]
	reserved := finding.Of("memory reservation", v.MemoryReservation, v.At)
	if r.Rule() == "B-30" && v.MemoryReservationLocked.Value {
		reserved = finding.Of("all memory is reserved", v.MemoryReservationLocked, v.At)
	}
	switch {
	case r.ByCPU():
		return []finding.Evidence{finding.Of("CPU reservation in MHz", v.CPUReservation, v.At), finding.Of("core frequency of "+host.Name+" in MHz", host.Frequency(), host.At), on.Kind.NodesEvidence()}
	case r.Rule() == "B-32":
		return []finding.Evidence{v.VCPUsEvidence(), finding.Of("firmware", v.Firmware, v.At), finding.Of("virtual IOMMU", v.IOMMU, v.At), on.Kind.ReleaseEvidence()}
	case r.NeedsEFI():
		return []finding.Evidence{v.MemoryEvidence(), finding.Of("firmware", v.Firmware, v.At)}
	case r.Rule() == "B-30" || r.Rule() == "B-31":
		return []finding.Evidence{reserved, v.MemoryEvidence(), on.Kind.NodesEvidence(), on.Kind.ReleaseEvidence()}
	case r.ByRelease():
		return []finding.Evidence{finding.Of("virtual hardware", v.Hardware, v.At), on.Kind.ReleaseEvidence()}
	}
	return []finding.Evidence{v.VCPUsEvidence(), v.CPSEvidence(), finding.Of("virtual hardware", v.Hardware, v.At), on.Kind.NodesEvidence(), on.Kind.ReleaseEvidence()}
}

// report reports a refusal. place are the ways to run the VM on other hosts.
func report(p *rule.Pass, on *rule.On, what string, severity finding.Severity, place ...numa.Way) {
	v, r := p.VM, on.Layout.Refused
	if v.Runs() {
		what = strings.Replace(what, "it does not power on", rule.NotAgain, 1)
	}
	f := finding.Finding{Severity: severity, Message: r.String() + ": " + what, Ways: ways(p, on), Evidence: evidence(v, on, r)}
	if plan := p.Plan(); severity == finding.High && plan.Better && plan.Before[0].Refused.Any() {
		best := numa.Way{Do: strings.Join(plan.Edit.Steps(&v.Guest, &on.Kind.Machine), ", "), Edits: v.Edits(&plan.Edit), Auto: true}
		f.Ways = append([]numa.Way{best}, slices.DeleteFunc(f.Ways, func(w numa.Way) bool { // the best combination of settings is enough
			return !slices.ContainsFunc(w.Edits, func(e numa.Edit) bool { return e.Kind == numa.EditVCPUs || e.Kind == numa.EditMemory })
		})...)
	}
	f.Ways = append(place, f.Ways...)
	p.Report(f, &on.Layout)
}

// ways returns the ways to power the VM on on hosts of on, with suitable vCPU counts.
func ways(p *rule.Pass, on *rule.On) []numa.Way {
	ways := on.Layout.Refused.Ways()
	for i := range ways {
		e := ways[i].Edits
		if len(e) != 1 {
			continue
		}
		most, _ := strconv.Atoi(e[0].To.Text)
		switch e[0].Kind {
		case numa.EditVCPUs:
			ways[i] = p.AtMostVCPUs(most, "")
			if first := ways[i].Edits; first != nil && first[0].To.Text != e[0].To.Text {
				ways[i].Do += fmt.Sprintf("; it powers on with up to %d", most)
			}
		case numa.EditMemoryReservation:
			if p.VM.MemoryReservationLocked.Value {
				ways[i].Do = "no longer reserve all guest memory, and " + ways[i].Do
				ways[i].Edits = append([]numa.Edit{{Kind: numa.EditReserveAll, To: numa.Is("false")}}, e...)
			}
		case numa.EditMemory: // its home nodes may have less
			taken := p.VM.Guest
			taken.Admitted = true
			l := vnuma.Predict(&taken, &on.Kind.Machine, &vnuma.Case{Choices: p.Choices})
			fits := p.AtMostMemory(on, max(1, l.HomeNodes), taken.AllowedNodes)
			if n, _ := strconv.Atoi(fits.Edits[0].To.Text); n > 0 && n < most {
				fits.Do += fmt.Sprintf("; %s are enough to power on", numa.Bytes(most)*numa.MiB)
				ways[i] = fits
			}
		}
	}
	return ways
}

// denied reports a VM whose reservation is not available in addition to the other VMs of its host.
func denied(p *rule.Pass, r vnuma.Refusal) {
	v, on := p.VM, &rule.On{Kind: p.VM.On[0].Kind, Layout: p.VM.On[0].Layout}
	on.Layout.Refused = r
	ways := ways(p, on)
	var others []*numa.Host
	for i := range v.Open() {
		others = append(others, p.Cluster.RoomFor(v, &v.On[i])...)
	}
	if others != nil {
		ways = append(ways, numa.ByHand("power it on on "+strings.Replace(rule.HostNames(others), " and ", " or ", 1)))
	} else {
		ways = append(ways, numa.ByHand("move or switch off other VMs of the host"))
	}
	p.Report(finding.Finding{
		Severity: finding.High, Message: fmt.Sprintf("%s on %s: it does not power on beside them", r, v.Host.Name), Ways: ways,
		Evidence: evidence(v, on, r),
	}, &on.Layout)
	last := &p.Findings[len(p.Findings)-1]
	last.Assumes = append(last.Assumes, "VMs power on in the order of the inventory; minFree is not reserved, what else ESXi keeps is not published (B-30)")
}
