// Package threadborder finds VMs whose threads of one core are not those of one core of the host.
package threadborder

import (
	_ "embed"
	"fmt"
	"slices"

	"homenode/internal/words"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed threadborder.md
var page string

// Rule is K015.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	own := v.Own()
	threads := max(1, s.Threads)
	on := map[int][]int{} // CPUs with vCPUs, by core of the host
	split, whole := 0, 0  // cores of the guest
	first := -1           // vCPU of a core that is split
	for core := range s.Most() / threads {
		of := -1
		for vcpu := core * threads; vcpu < (core+1)*threads; vcpu++ {
			cpu, pinned := own[vcpu]
			host, known := v.Cores[cpu]
			if !pinned || !known {
				of = -1
				break
			}
			if !slices.Contains(on[host], cpu) { // one of its own: K010
				on[host] = append(on[host], cpu)
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
	shared := 0 // cores of the host with vCPUs on several of their threads
	for _, cpus := range on {
		if len(cpus) > 1 {
			shared++
		}
	}
	var message, advice string
	switch {
	case split > 0:
		message = fmt.Sprintf("the guest takes vCPUs %d and %d for threads of one core, and they are pinned to two cores of %s; %d of its %d cores are so", first, first+1, v.Host.Name, split, whole)
		advice = "Pin the threads of a core to the threads of one core of the host, or state threads='1'"
	case threads == 1 && shared > 0:
		message = fmt.Sprintf("the guest takes each vCPU for a core, and on %s of %s two and more of them are pinned to threads of one", words.Plural(shared, "core"), v.Host.Name)
		advice = "State threads='2' in the topology, or pin each vCPU to a core of its own"
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
