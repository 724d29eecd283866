package headroom

import (
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// powerOn warns of powered-off VMs for which their host has no room in addition to the running ones. vSphere powers them on nevertheless,
// because admission checks only reservations (B-30), and reclaims memory from all VMs. There is no cost before that. A host with too little
// memory for the running VMs is another finding. A VM whose reservation is not available in addition to the running VMs does not power on.
func powerOn(p *rule.Pass, running []*rule.VM) {
	have, taken := numa.Bytes(p.Kind.Machine.ForVMs()), sum(running)
	reserved := vnuma.Reserved{}
	for _, v := range running {
		reserved.Add(&v.Guest.Needs)
	}
	for _, v := range p.Cluster.VMs {
		if v.Host != p.Host || v.Power.Value != numa.PoweredOff || v.Off() {
			continue
		}
		need := v.Resident()
		room := fmt.Sprintf("move other VMs off %s, or reduce the memory of its VMs", p.Host.Name)
		if p.Cluster.Lacks() > 0 {
			room = "run fewer or smaller VMs in the cluster, or add memory or hosts to it: its hosts together lack memory for those that run"
		}
		f := finding.Finding{
			Topic: rule.PowerOnOf(v), Costs: []string{v.ID},
			Ways:     []numa.Way{numa.ByHand(fmt.Sprintf("before you power on %s, %s", v.Name, room))},
			Evidence: []finding.Evidence{v.MemoryEvidence(), finding.Of("memory of "+p.Host.Name, p.Host.Memory, p.Host.At), p.NodesEvidence()},
		}
		switch denied := vnuma.Beside(&v.Guest.Needs, reserved, &p.Kind.Machine); {
		case denied.Any():
			f.Severity = finding.Low
			f.Message = fmt.Sprintf("%s is powered off, and does not power on beside %s of %s: %s", v.Name, words.Plural(len(running), "running VM"), p.Host.Name, denied)
			f.Ways = []numa.Way{numa.ByHand(fmt.Sprintf("before you power on %s, move VMs with reservations off %s, or reserve less", v.Name, p.Host.Name))}
			f.Evidence = append(f.Evidence, finding.Of("memory reservation", v.MemoryReservation, v.At), finding.Of("CPU reservation in MHz", v.CPUReservation, v.At))
		case need <= have && taken+need > have:
			f.Message = fmt.Sprintf("%s is powered off, and the %s %s of the %s that %s has for VMs: with the %s of %s, %s if all memory is used",
				v.Name, words.Verb(len(running), "running VM has", "running VMs have"), round(taken), round(have), p.Host.Name, need, v.Name, rule.Beyond(round(taken+need-have), p.Host.TierMemory.Value))
		default:
			continue
		}
		var hosts []*numa.Host
		for i := range v.On {
			hosts = append(hosts, p.Cluster.RoomFor(v, &v.On[i])...)
		}
		if hosts != nil {
			names := words.Texts(hosts, func(h *numa.Host) string { return h.Name })
			f.Ways = []numa.Way{numa.ByHand(fmt.Sprintf("power on %s on %s, which has enough memory", v.Name, words.First(1, names)))}
		}
		p.Report(f, nil)
	}
}
