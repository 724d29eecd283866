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

func check(p *rule.StatedPass) {
	v := p.VM
	own := v.Own()
	by := map[int][]int{} // vCPUs by CPU of the host
	for vcpu, cpu := range own {
		by[cpu] = append(by[cpu], vcpu)
	}
	var twice, emulator []int
	for cpu, vcpus := range by {
		if len(vcpus) > 1 {
			twice = append(twice, cpu)
		}
		if len(own) == v.Stated.Most() && slices.Contains(v.Stated.Emulator.Value, cpu) && len(v.Stated.Emulator.Value) == 1 {
			emulator = append(emulator, cpu)
		}
	}
	report := func(severity finding.Severity, topic string, cpus []int, what string) {
		if len(cpus) == 0 {
			return
		}
		slices.Sort(cpus)
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    topic,
			Message:  fmt.Sprintf("%s of the host: %s", cpuList(cpus), what),
			Advice:   "Give each a CPU of its own, or all of them those of the node",
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
	report(finding.High, "itself", twice, "several vCPUs of it are pinned there and nowhere else")
	report(finding.Low, "emulator", emulator, "a vCPU and the other threads of QEMU are pinned there and nowhere else")
	for _, other := range v.Beside {
		var shared []int
		for _, cpu := range other.Own() {
			if by[cpu] != nil && !slices.Contains(shared, cpu) {
				shared = append(shared, cpu)
			}
		}
		severity := finding.Medium // when both run
		if v.Stated.Running && other.Stated.Running {
			severity = finding.High
		}
		report(severity, other.Name, shared, fmt.Sprintf("vCPUs of it and of %s are pinned there and nowhere else", other.Name))
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
