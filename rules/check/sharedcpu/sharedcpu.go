// Package sharedcpu finds VMs whose dedicated CPUs are shared.
package sharedcpu

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
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
	if vcpus, n := fewer(v); n > 0 && len(twice) == 0 {
		advice := "Let them run on at least as many CPUs of the host"
		if v.Host != nil && v.Host.Threads.Known() && vcpus > v.Host.Threads.Value {
			advice = cmp.Or(v.BeyondCores(), advice)
		}
		p.Report(finding.Finding{
			Severity: finding.High,
			Topic:    "fewer",
			Message:  fmt.Sprintf("%d of its %s may run on %s of the host and no others", vcpus, words.Plural(v.Stated.VCPUs, "vCPU"), words.Plural(n, "CPU")),
			Advice:   advice,
			Evidence: []finding.Evidence{p.At("CPUs of these vCPUs", fmt.Sprint(n), v.Stated.PinAt(0))},
		})
	}
	report(finding.High, "itself", twice, "several vCPUs of it are pinned there and nowhere else", ofOwn)
	for i := range v.Stated.Helpers {
		h := &v.Stated.Helpers[i]
		if len(h.CPUs) > 0 && !slices.ContainsFunc(h.CPUs, func(cpu int) bool { return by[cpu] == nil }) {
			severity := finding.Low
			switch {
			case v.Stated.RealTime: // they get the CPU when the vCPU sleeps, which it may never do
				severity = finding.High
			case h.IO: // it polls, and all I/O of its devices waits while the vCPU runs
				severity = finding.Medium
			}
			report(severity, h.What, slices.Clone(h.CPUs), fmt.Sprintf("%s may run there and nowhere else, where vCPUs are pinned", h.What), "Give them CPUs that no vCPU has to itself")
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

// fewer returns the number of vCPUs that may run only on a smaller number of host CPUs, and that number, for the set of CPUs with the largest
// excess; 0 for none.
func fewer(v *rule.StatedVM) (vcpus, cpus int) {
	s := v.Stated
	there := make([][]int, len(s.CPUs)) // the CPUs of each vCPU that the host has
	for i, cpus := range s.CPUs {
		if there[i] = cpus; v.Host != nil && v.Host.Nodes.Known() && cpus != nil {
			_, absent := v.Host.NodesOf(cpus)
			there[i] = slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return slices.Contains(absent, cpu) })
		}
	}
	if v.Host != nil && v.Host.Threads.Known() && s.VCPUs > v.Host.Threads.Value {
		vcpus, cpus = s.VCPUs, v.Host.Threads.Value
	}
	var tried [][]int
	enabled := s.Enabled()
	for _, first := range enabled {
		set := there[first]
		if len(set) == 0 || slices.ContainsFunc(tried, func(o []int) bool { return slices.Equal(o, set) }) {
			continue
		}
		tried = append(tried, set)
		in := make(map[int]bool, len(set))
		for _, cpu := range set {
			in[cpu] = true
		}
		n := 0
		for _, vcpu := range enabled {
			if list := there[vcpu]; len(list) > 0 && !slices.ContainsFunc(list, func(cpu int) bool { return !in[cpu] }) {
				n++
			}
		}
		if n-len(in) > vcpus-cpus {
			vcpus, cpus = n, len(in)
		}
	}
	return vcpus, cpus
}

func cpuList(cpus []int) string {
	if len(cpus) == 1 {
		return fmt.Sprint("CPU ", cpus[0])
	}
	return "CPUs " + words.Ranges(cpus)
}
