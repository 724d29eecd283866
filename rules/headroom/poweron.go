package headroom

import (
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// mostEvidence is the number of powered-off VMs whose memory is evidence.
const mostEvidence = 3

// powerOn warns of powered-off VMs for which their host has no room in addition to the running ones. vSphere powers them on nevertheless,
// because admission checks only reservations (B-30), and reclaims memory from all VMs. There is no cost before that. A host with too little
// memory for the running VMs is another finding. A VM whose reservation is not available in addition to the running VMs does not power on.
// On a host that the running VMs overcommit already, all of them share one finding.
func powerOn(p *rule.Pass, running []*rule.VM) {
	have, taken := numa.Bytes(p.Kind.Machine.ForVMs()), sum(running)
	reserved := vnuma.Reserved{}
	for _, v := range running {
		reserved.Add(&v.Guest.Needs)
	}
	var crowd []*rule.VM
	for _, v := range p.Cluster.VMs {
		if v.Host != p.Host || v.Power.Value != numa.PoweredOff || v.Off() {
			continue
		}
		switch denied, need := vnuma.Beside(&v.Guest.Needs, reserved, &p.Kind.Machine), v.Resident(); {
		case denied.Any():
			f := noRoom(p, v)
			f.Severity, f.Topic = finding.Low, rule.PowerOnOf(v)
			f.Message = fmt.Sprintf("%s is powered off, and does not power on beside %s of %s: %s", v.Name, words.Plural(len(running), "running VM"), p.Host.Name, denied)
			if f.Ways == nil {
				f.Ways = []numa.Way{numa.ByHand(fmt.Sprintf("before you power on %s, move VMs with reservations off %s, or reserve less", v.Name, p.Host.Name))}
			}
			f.Evidence = append(f.Evidence, finding.Of("memory reservation", v.MemoryReservation, v.At), finding.Of("CPU reservation in MHz", v.CPUReservation, v.At))
			p.Report(f, nil)
		case need <= have && taken > have:
			crowd = append(crowd, v)
		case need <= have && taken+need > have:
			reclaims(p, rule.PowerOnOf(v), running, v)
		}
	}
	if crowd != nil {
		reclaims(p, rule.PowerOn, running, crowd...)
	}
}

// reclaims reports powered-off VMs for whose memory the host has no room in addition to the running ones.
func reclaims(p *rule.Pass, topic string, running []*rule.VM, off ...*rule.VM) {
	have, taken, need := numa.Bytes(p.Kind.Machine.ForVMs()), sum(running), sum(off)
	f, are, which := noRoom(p, off...), "is", off[0].Name
	if len(off) > 1 {
		are, which = "are", fmt.Sprintf("these %d VMs", len(off))
	}
	f.Topic = topic
	f.Message = fmt.Sprintf("%s %s powered off, and the %s %s of the %s that %s has for VMs: with the %s of %s, %s if all memory is used",
		rule.Names(off), are, words.Verb(len(running), "running VM has", "running VMs have"), round(taken), round(have), p.Host.Name, round(need), which, rule.Beyond(round(taken+need-have), p.Host.TierMemory.Value))
	if f.Ways == nil {
		f.Ways = []numa.Way{numa.ByHand(fmt.Sprintf("before you power on %s, move other VMs off %s, or reduce the memory of its VMs", which, p.Host.Name))}
	}
	p.Report(f, nil)
}

// noRoom begins a finding about powered-off VMs for which their host has no room. Its way is a host that has room, if it is about one VM.
func noRoom(p *rule.Pass, off ...*rule.VM) (f finding.Finding) {
	var hosts []string
	for _, v := range off {
		e := v.MemoryEvidence()
		if f.Costs = append(f.Costs, v.ID); len(off) > 1 {
			e.Name += " of " + v.Name
		}
		if len(f.Evidence) < mostEvidence {
			f.Evidence = append(f.Evidence, e)
		}
		for i := range v.On {
			hosts = append(hosts, words.Texts(p.Cluster.RoomFor(v, &v.On[i]), func(h *numa.Host) string { return h.Name })...)
		}
	}
	if len(off) == 1 && hosts != nil {
		f.Ways = []numa.Way{numa.ByHand(fmt.Sprintf("power on %s on %s, which has enough memory", off[0].Name, words.First(1, hosts)))}
	}
	f.Evidence = append(f.Evidence, finding.Of("memory of "+p.Host.Name, p.Host.Memory, p.Host.At), p.NodesEvidence())
	return f
}
