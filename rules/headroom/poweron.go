package headroom

import (
	"fmt"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// powerOn warns of VMs that are powered off and have no room on their host beside those that run: vSphere powers them on all the same, since it
// admits by what is reserved (B-30), and takes the memory from all. It costs nothing before that. A host that has too little for those that run
// is another finding.
func powerOn(p *rule.Pass, running []*rule.VM) {
	have, taken := numa.Bytes(p.Kind.Machine.AllMemory), sum(running)
	if taken > have {
		return
	}
	for _, v := range p.Cluster.VMs {
		need := v.Memory.Value
		if v.Host != p.Host || v.Power.Value != numa.PoweredOff || v.Off() || need > have || taken+need <= have {
			continue
		}
		f := finding.Finding{
			Severity: finding.Info, Topic: "power-on of " + v.Name, Costs: []string{v.ID},
			Message: fmt.Sprintf("%s is powered off, and %s of %s have %s of its %s: with the %s of %s, %s if all memory is used",
				v.Name, words.Plural(len(running), "running VM"), p.Host.Name, round(taken), round(have), need, v.Name, rule.Beyond(round(taken+need-have), p.Host.TierMemory.Value)),
			Ways:     []numa.Way{numa.ByHand(fmt.Sprintf("before you power on %s, move other VMs off %s, or reduce the memory of its VMs", v.Name, p.Host.Name))},
			Evidence: []finding.Evidence{v.MemoryEvidence(), finding.Of("memory of "+p.Host.Name, p.Host.Memory, p.Host.At), p.NodesEvidence()},
		}
		if hosts := roomFor(p, v); hosts != nil {
			f.Ways = []numa.Way{numa.ByHand(fmt.Sprintf("power on %s on %s, which has enough memory", v.Name, words.First(1, hosts)))}
		}
		p.Report(f, nil)
	}
}

// roomFor returns the names of the other hosts of the cluster that take the VM and have the memory for it.
func roomFor(p *rule.Pass, v *rule.VM) (names []string) {
	for _, h := range p.Cluster.Hosts {
		on := v.OnHost(h.ID)
		if h == p.Host || on == nil || on.Layout.Refused.Any() || !h.Ready() || v.TiedTo() != nil {
			continue
		}
		if m := &on.Kind.Machine; m.MemoryKnown() && sum(p.Cluster.Running(h))+v.Memory.Value <= numa.Bytes(m.AllMemory) {
			names = append(names, h.Name)
		}
	}
	return names
}
