// Package sharedcpu finds VMs whose exclusive CPUs are not exclusive.
package sharedcpu

import (
	_ "embed"
	"fmt"
	"slices"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed sharedcpu.md
var page string

// Rule is K010.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

const ofOwn = "Give each a CPU of its own, or all of them those of the node"

func check(p *rule.StatedPass) {
	v := p.VM
	own := v.Own()
	by := map[int][]int{} // vCPUs by CPU of the host
	for vcpu, cpu := range own {
		by[cpu] = append(by[cpu], vcpu)
	}
	var twice []int
	for cpu, vcpus := range by {
		if len(vcpus) > 1 {
			twice = append(twice, cpu)
		}
	}
	report := func(severity finding.Severity, topic string, cpus []int, what, advice string) {
		if len(cpus) == 0 {
			return
		}
		slices.Sort(cpus)
		cpus = slices.Compact(cpus)
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    topic,
			Message:  fmt.Sprintf("%s of the host: %s", cpuList(cpus), what),
			Advice:   advice,
			Evidence: []finding.Evidence{p.At("vCPUs with a CPU of their own", fmt.Sprint(len(own)), v.Stated.Pins[0].At)},
		})
	}
	if n := fewer(v.Stated); n > 0 && len(twice) == 0 {
		p.Report(finding.Finding{
			Severity: finding.High,
			Topic:    "fewer",
			Message:  fmt.Sprintf("its %s may run on %s of the host", rule.Plural(v.Stated.VCPUs, "vCPU"), rule.Plural(n, "CPU")),
			Advice:   "Let them run on as many CPUs, or on all of a node",
			Evidence: []finding.Evidence{p.At("CPUs of the vCPUs", fmt.Sprint(n), v.Stated.PinAt(0))},
		})
	}
	report(finding.High, "itself", twice, "several vCPUs of it are pinned there and nowhere else", ofOwn)
	for i := range v.Stated.Helpers {
		h := &v.Stated.Helpers[i]
		if len(h.CPUs) == 1 && by[h.CPUs[0]] != nil {
			report(finding.Low, h.What, h.CPUs, fmt.Sprintf("a vCPU and %s are pinned there and nowhere else", h.What), ofOwn)
		}
	}
	for _, other := range v.Beside {
		var shared, beside []int
		for _, cpu := range other.Own() {
			switch core, known := v.Cores[cpu]; {
			case by[cpu] != nil:
				shared = append(shared, cpu)
			case known && slices.ContainsFunc(v.Host.CoreCPUs.Value[core], func(o int) bool { return by[o] != nil }):
				beside = append(beside, v.Host.CoreCPUs.Value[core]...)
			}
		}
		severity, low := finding.Medium, finding.Info // when both run
		if v.Stated.Running && other.Stated.Running {
			severity, low = finding.High, finding.Low
		}
		report(severity, other.Name, shared, fmt.Sprintf("vCPUs of it and of %s are pinned there and nowhere else", other.Name), ofOwn)
		report(low, other.Name+" threads", beside, fmt.Sprintf("vCPUs of it and of %s are pinned to threads of one core", other.Name), "Give each a core of its own, or all of them those of the node")
	}
}

// fewer returns on how many CPUs of the host the vCPUs may run, where these are fewer; else 0.
func fewer(s *numa.Stated) int {
	var all []int
	for v := range s.VCPUs {
		if v >= len(s.CPUs) || s.CPUs[v] == nil { // on all
			return 0
		}
		all = append(all, s.CPUs[v]...)
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n < s.VCPUs {
		return n
	}
	return 0
}

func cpuList(cpus []int) string {
	if len(cpus) == 1 {
		return fmt.Sprint("CPU ", cpus[0])
	}
	return "CPUs " + words.Ranges(cpus)
}
