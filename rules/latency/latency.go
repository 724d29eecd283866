// Package latency finds latency-sensitive VMs without the reservations they need.
package latency

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed latency.md
var page string

// Rule is N026.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	level, key := levelOf(v.VM)
	if !strings.EqualFold(level.Value, "high") {
		return
	}
	f := finding.Finding{
		Severity: finding.Medium,
		Evidence: []finding.Evidence{finding.Of(key, level, v.At), v.VCPUsEvidence()},
	}
	var lacks, advice []string
	if reserved, lack := memoryLack(v.VM); lack {
		text := "no memory is reserved"
		if reserved > 0 {
			text = fmt.Sprintf("only %s of %s memory are reserved", reserved, v.Memory.Value)
		}
		lacks, advice = append(lacks, text), append(advice, "reserve all guest memory")
		f.Evidence = append(f.Evidence, finding.Of("memory reservation", v.MemoryReservation, v.At), v.MemoryEvidence())
	}
	if v.CPUReservation.Known() {
		need, from := cpuNeed(v)
		text, what := cpuLack(v.CPUReservation.Value, need, virtualThreads(v).Value, p.Threshold("enough"))
		if text != "" {
			lacks, advice = append(lacks, text), append(advice, what)
		}
		f.Evidence = append(f.Evidence, finding.Of("CPU reservation in MHz", v.CPUReservation, v.At))
		if text != "" && need > 0 {
			f.Evidence = append(f.Evidence, from)
			if threads := virtualThreads(v); threads.Value > 1 {
				f.Evidence = append(f.Evidence, finding.Of("vCPUs of a virtual core", threads, v.At))
			}
			if !v.Host.CoreMHz.Known() {
				f.Assumes = append(f.Assumes, "the frequency of the cores is taken from the name of the processor (B-21)")
			}
		}
	}
	if lacks == nil {
		return
	}
	name := "High"
	if virtualThreads(v).Value > 1 {
		name = "High with Hyper-threading"
	}
	what := "vCPUs get no PCPUs of their own"
	if modelOf(v) >= numa.ESXi67 {
		f.Severity, what = finding.High, "it does not power on"
	}
	f.Message = "latency sensitivity is " + name + " but " + strings.Join(lacks, " and ") + ": " + what
	text := strings.Join(advice, " and ")
	f.Advice = strings.ToUpper(text[:1]) + text[1:] + ", or set latency sensitivity to Normal"
	p.Report(f, nil)
}

// levelOf returns the latency sensitivity and its name: the setting counts where the
// source does not state the level.
func levelOf(v *numa.VM) (level numa.Fact[string], name string) {
	if v.LatencySensitivity.Known() {
		return v.LatencySensitivity, "latency sensitivity"
	}
	const key = "sched.cpu.latencySensitivity"
	if s, ok := v.Settings.Value.Lookup(key); ok {
		return numa.Fact[string]{Value: s, Origin: v.Settings.Origin}, key
	}
	return numa.Fact[string]{}, key
}

// modelOf returns the release whose rules apply on the host of v; 0 when it is unknown.
func modelOf(v *rule.VM) numa.Release {
	if v.Host == nil {
		return 0
	}
	model, _, _ := numa.ModelOf(v.Host.Release.Value)
	return model
}

// cpuLack says what is missing of the full CPU reservation, both in MHz, and what to
// do. A need of 0 is unknown; threads are the vCPUs of a virtual core.
func cpuLack(has, need, threads int, enough float64) (text, advice string) {
	switch {
	case has == 0 && need == 0 && threads > 1:
		return "no CPU is reserved", fmt.Sprintf("reserve CPU of (vCPUs / %d) × core frequency", threads)
	case has == 0 && need == 0:
		return "no CPU is reserved", "reserve CPU of vCPUs × core frequency"
	case has == 0:
		return fmt.Sprintf("no CPU is reserved, %d MHz are needed", need), fmt.Sprintf("reserve %d MHz CPU", need)
	case need > 0 && float64(has) < enough*float64(need):
		return fmt.Sprintf("only %d of %d MHz CPU are reserved", has, need), fmt.Sprintf("reserve %d MHz CPU", need)
	}
	return "", ""
}

// memoryLack reports memory that is known not to be fully reserved.
func memoryLack(v *numa.VM) (reserved numa.Bytes, lack bool) {
	if v.MemoryReservationLocked.Or(false) || !v.MemoryReservation.Known() || !v.Memory.Known() {
		return 0, false
	}
	return v.MemoryReservation.Value, v.MemoryReservation.Value < v.Memory.Value
}

// frequency is the nominal frequency in a processor's brand string; newer ones have
// none.
var frequency = regexp.MustCompile(`@\s*(\d{1,2}\.\d\d)GHz`)

// coreMHz returns the frequency of the host's cores: as it was read, else from the name
// of the processor. It is unknown when neither says.
func coreMHz(h *numa.Host) numa.Fact[int] {
	if h.CoreMHz.Known() {
		return h.CoreMHz
	}
	m := frequency.FindStringSubmatch(h.CPUModel.Value)
	if m == nil {
		return numa.Fact[int]{}
	}
	ghz, _ := strconv.ParseFloat(m[1], 64) // digits
	return numa.DerivedFrom(int(ghz*1000+0.5), "name of the processor: "+h.CPUModel.Value)
}

// cpuNeed returns the full CPU reservation in MHz: vCPUs × frequency, divided by the
// threads of a virtual core; 0 when the frequency is unknown.
func cpuNeed(v *rule.VM) (mhz int, frequency finding.Evidence) {
	if v.Host == nil {
		return 0, frequency
	}
	f := coreMHz(v.Host)
	return int(v.Guest.VCPUs) * f.Value / virtualThreads(v).Value, finding.Of("core frequency of "+v.Host.Name+" in MHz", f, v.Host.At)
}

// virtualThreads returns the vCPUs of a virtual core: 2 with the level “High with
// Hyper-threading” of 8.0, which is High and virtual hyper-threading.
func virtualThreads(v *rule.VM) numa.Fact[int] {
	threads := vnuma.VirtualThreads(v.VM)
	if model := modelOf(v); threads.Value > 1 && model != 0 && model < numa.ESXi80 {
		return numa.AssumedFor(1, "virtual hyper-threading needs ESXi 8.0")
	}
	return threads
}
