// Package latency finds latency-sensitive VMs without the reservations they need.
package latency

import (
	_ "embed"
	"fmt"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed latency.md
var page string

// Rule is N026. It also reports VMs that do not power on because of missing reservations.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Refused: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on := &v.On[0]
	m := &on.Kind.Machine
	if !v.Guest.Needs.Exclusive {
		starved(p, m)
		return
	}
	if v.Off() && !on.Layout.Refused.ByLatency() {
		return
	}
	level, key := v.Latency()
	f := finding.Finding{Severity: finding.Medium, Evidence: []finding.Evidence{finding.Of(key, level, v.At), v.VCPUsEvidence()}}
	if v.Guest.LacksThreads(m) {
		f.Assumes = vnuma.AssumedVirtualHT.Texts()
	}
	var lacks, does []string
	var whole numa.Way // all missing reservations
	asked := false     // whether the frequency of the host is needed
	for _, lack := range vnuma.Lacks(&v.Guest, m) {
		if lack.Any() {
			asked = asked || lack.ByCPU()
			lacks = append(lacks, lack.Lack())
			way := lack.Ways()[0]
			if fast := fastest(v); lack.ByCPU() && m.CoreMHz > 0 && fast.Machine.CoreMHz > m.CoreMHz { // its hosts that are open need more
				if more := vnuma.Lacks(&v.Guest, &fast.Machine)[2]; more.Any() {
					way = more.Ways()[0]
					way.Do += fmt.Sprintf(", as on %s", rule.HostNames(fast.Hosts))
				}
			}
			does, whole.Edits = append(does, way.Do), append(whole.Edits, way.Edits...)
		}
	}
	if lacks == nil && p.Denied().Any() { // it uses no core: N032
		return
	}
	if lacks == nil {
		if v.Runs() || !vnuma.TakesAllCPU(&v.Guest, m) {
			leaves(p, m, f)
		} else if v.Guest.ExclusiveCores(m) >= int(m.AllCores) { // else N032
			allCores(p, m, f)
		}
		return
	}
	evident(v, m, on.Kind.Hosts[0], asked && m.CoreMHz > 0, &f)
	name := "High"
	if v.Guest.Threads(m) > 1 {
		name = "High with Hyper-threading"
	}
	what := "vCPUs get no PCPUs of their own"
	if v.Off() {
		if f.Severity, what = finding.High, "it does not power on"; v.Runs() {
			what = rule.NotAgain
		}
	}
	f.Message = "latency sensitivity is " + name + " but " + strings.Join(lacks, " and ") + ": " + what
	if whole.Do = strings.Join(does, " and "); len(whole.Edits) < len(does) { // a part is manual
		whole.Edits = nil
	}
	f.Ways = []numa.Way{whole, vnuma.Normal}
	p.Report(f, nil)
}

// evident adds the facts that show a lack of reservations. byCPU means that the lack depends on the frequency of the host's cores.
func evident(v *rule.VM, m *vnuma.Machine, host *numa.Host, byCPU bool, f *finding.Finding) {
	if v.Unreserved() > 0 {
		f.Evidence = append(f.Evidence, finding.Of("memory reservation", v.MemoryReservation, v.At), v.MemoryEvidence())
	}
	if v.CPUReservation.Known() {
		f.Evidence = append(f.Evidence, finding.Of("CPU reservation in MHz", v.CPUReservation, v.At))
	}
	if byCPU {
		f.Evidence = append(f.Evidence, finding.Of("core frequency of "+host.Name+" in MHz", host.Frequency(), host.At))
		if !host.CoreMHz.Known() {
			f.Assumes = append(f.Assumes, "the frequency of the cores is taken from the name of the processor (B-21)")
		}
	}
	if byCPU && v.Guest.Threads(m) > 1 {
		f.Evidence = append(f.Evidence, finding.Of("vCPUs of a virtual core", vnuma.VirtualThreads(v.VM), v.At))
	}
}

// allCores reports a VM whose vCPUs use every core of the host: ESXi itself needs some CPU too, so the reservation may not be
// available (B-30). The amount that it needs is not published.
func allCores(p *rule.Pass, m *vnuma.Machine, f finding.Finding) {
	if m.Model() < numa.ESXi67 {
		return
	}
	f.Severity = finding.Low
	f.Message = fmt.Sprintf("latency sensitivity High takes all %d cores of the host, and ESXi itself needs some: whether it powers on is not certain", m.AllCores)
	f.Ways = []numa.Way{p.AtMostVCPUs(int(p.VM.Guest.VCPUs)*(int(m.AllCores)-1)/int(m.AllCores), ", which leaves a core of the host to ESXi"), vnuma.Normal}
	f.Assumes = append(f.Assumes, "what ESXi keeps of the CPU is not published (B-30)")
	f.Evidence = append(f.Evidence, p.VM.On[0].Kind.NodesEvidence())
	p.Report(f, nil)
}

// leaves reports the number of cores that VMs of latency sensitivity High leave to the other VMs of the host: if these have more vCPUs
// they wait sooner, and if none is left for a long time.
func leaves(p *rule.Pass, m *vnuma.Machine, f finding.Finding) {
	v := p.VM
	if v.Host == nil || m.Model() < numa.ESXi67 {
		return
	}
	taken, vcpus, runs, known := beside(p, m)
	taken += v.Guest.ExclusiveCores(m)
	left := max(0, int(m.AllCores)-taken)
	switch {
	case !runs && taken > int(m.AllCores): // it does not power on, which headroom reports
		return
	case vcpus > 0 && left == 0:
		f.Severity = finding.Medium
	case vcpus > left, left == 0:
		f.Severity = finding.Low
	case 2*left < int(m.AllCores):
		f.Severity = finding.Info
	default:
		return
	}
	f.Message = fmt.Sprintf("latency sensitivity High takes %d of the %d cores of %s for itself: %s left for other VMs and ESXi", taken, m.AllCores, v.Host.Name, words.Verb(left, "is", "are"))
	if !runs {
		f.Severity, f.Message = min(f.Severity, finding.Low), "once it runs, "+f.Message
	}
	if vcpus > left {
		f.Message += fmt.Sprintf(", whose %d vCPUs wait for them", vcpus)
	}
	if left == 0 && (vcpus == 0 || !known) {
		uncertain(&f)
	}
	if vcpus > left {
		f.Ways = []numa.Way{numa.ByHand("move other VMs to another host"), vnuma.Normal}
	}
	f.Evidence = append(f.Evidence, p.Kind.NodesEvidence(), finding.Evidence{Name: "vCPUs of the other VMs of " + v.Host.Name, Value: fmt.Sprint(vcpus), Origin: "derived: those that run"})
	p.Report(f, nil)
}

// uncertain says that the VMs of latency sensitivity High that take all cores, and are not known to run, may not all power on.
func uncertain(f *finding.Finding) {
	f.Message += ", and ESXi needs some: whether all of these VMs power on is not certain"
	f.Assumes = append(f.Assumes, "what ESXi keeps of the CPU is not published (B-30)")
}

// fastest returns the kind of hosts with the highest clock of those on which the VM can run.
func fastest(v *rule.VM) *rule.Kind {
	fast := v.On[0].Kind
	for _, o := range v.Open() {
		if o.Kind.Machine.CoreMHz > fast.Machine.CoreMHz {
			fast = o.Kind
		}
	}
	return fast
}

// beside returns the cores that the other running VMs of latency sensitivity High of the VM's host take, the vCPUs of the rest of them, whether
// the VM itself runs there, and whether those are known to run: others may not power on.
func beside(p *rule.Pass, m *vnuma.Machine) (taken, vcpus int, runs, known bool) {
	known = true
	for _, o := range p.Cluster.Running(p.VM.Host) {
		switch {
		case o.ID == p.VM.ID:
			runs = true
		case o.Guest.Needs.Exclusive:
			taken += o.Guest.ExclusiveCores(m)
			known = known && o.Runs()
		default:
			vcpus += int(o.Guest.VCPUs)
		}
	}
	return taken, vcpus, runs, known
}

// mostSharing is the number of vCPUs for each core that others leave from which a VM is starved: below a quarter of a core for each, a VM with
// vCPUs that are busy most of the time is several times slower. A judgement; no source has a number.
const mostSharing = 4

// starved reports a VM whose vCPUs share too few cores with those of other VMs, because VMs of latency sensitivity High take the rest.
func starved(p *rule.Pass, m *vnuma.Machine) {
	v := p.VM
	if v.Host == nil || v.Home == nil || m.Model() < numa.ESXi67 {
		return
	}
	taken, vcpus, runs, known := beside(p, m)
	left := max(0, int(m.AllCores)-taken)
	if !runs || taken == 0 || int(v.Guest.VCPUs)+vcpus < mostSharing*left {
		return
	}
	f := finding.Finding{
		Severity: finding.Medium, Topic: rule.Beside,
		Message: fmt.Sprintf("VMs of latency sensitivity High take %d of the %d cores of %s for themselves: its %d vCPUs share the %d that are left%s", taken, m.AllCores, v.Host.Name,
			v.Guest.VCPUs, left, others(vcpus)),
		Ways:     []numa.Way{numa.ByHand("move it, or those VMs, to another host"), numa.ByHand("set latency sensitivity of those VMs to Normal")},
		Evidence: []finding.Evidence{v.VCPUsEvidence(), p.Kind.NodesEvidence()},
	}
	switch {
	case left == 0 && known:
		f.Severity = finding.High
	case left == 0:
		uncertain(&f)
	}
	p.Report(f, nil)
}

func others(vcpus int) string {
	if vcpus == 0 {
		return ""
	}
	return fmt.Sprintf(" with %d of other VMs", vcpus)
}
