// Package threadborder finds VMs in which the threads of one guest core do not run on one core of
// the host.
package threadborder

import (
	_ "embed"
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed threadborder.md
var page string

// Rule is K015.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Stated: check})

// cores counts the cores of the guest whose threads are pinned: those on several cores of the host, and all. first is the first vCPU of a split one.
func cores(v *rule.StatedVM, threads int) (split, whole, first int) {
	own := v.Own()
	first = -1
	for core := range v.Stated.Most() / threads {
		of := -1
		for vcpu := core * threads; vcpu < (core+1)*threads; vcpu++ {
			cpu, pinned := own[vcpu]
			host, known := v.Cores[cpu]
			if !pinned || !known {
				of = -1
				break
			}
			if of >= 0 && host != of {
				split++
				if first < 0 {
					first = core * threads
				}
				break
			}
			of = host
		}
		if of >= 0 {
			whole++
		}
	}
	return split, whole, first
}

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	own := v.Own()
	threads := max(1, s.Threads)
	split, whole, first := cores(v, threads)
	paired, shared, pair := v.Paired()
	to, even := v.TopologyToBe(s.Most(), s.PerSocket())
	if s.PerSocket() == 1 { // K012 reports the same
		to, even = v.TopologyToBe(s.Most(), s.Most())
	}
	var message, advice string
	switch {
	case split > 0:
		message = fmt.Sprintf("the guest takes vCPUs %d and %d for threads of one core, and they are pinned to two cores of %s; %d of its %d cores are so", first, first+1, v.Host.Name, split, whole)
		advice = "Pin the threads of a core to the threads of one core of the host"
		if shared == 0 {
			advice += ", or state threads='1'"
		}
	case threads == 1 && shared > 0:
		message = fmt.Sprintf("the guest takes each vCPU for a core, and on %s of %s two and more of them are pinned to threads of one", words.Plural(shared, "core"), v.Host.Name)
		switch {
		case paired && even && to.Threads > 1:
			advice = "State " + to.Topology() + ", or pin each vCPU to a core of its own"
		case paired:
			advice = "Pin each vCPU to a core of its own"
		default:
			advice = fmt.Sprintf("Pin each vCPU to a core of its own, or neighbours (0 and 1, 2 and 3 …) to the threads of a core, where now such as vCPUs %d and %d are", pair[0], pair[1])
		}
	default:
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message:  message,
		Advice:   advice,
		Evidence: []finding.Evidence{p.Topology(), p.At("vCPUs with a CPU of their own", fmt.Sprint(len(own)), s.Pins[0].At), p.Nodes()},
	})
}
