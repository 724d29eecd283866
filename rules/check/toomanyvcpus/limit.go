package toomanyvcpus

import (
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// limited reports a CPU limit below the vCPUs × the frequency of the cores: it throttles them while cores are idle.
func limited(p *rule.Pass) {
	v := p.VM
	limit := v.CPULimit.Value
	if !v.CPULimit.Known() || limit <= 0 {
		return
	}
	on, others, ok := p.Worst(func(o *rule.On) bool { return limit*100 < wanted(v, o)*sure })
	if !ok {
		unknown(p)
		return
	}
	m, cores, want, host := &on.Kind.Machine, busy(v, on), wanted(v, on), on.Kind.Hosts[0]
	part := float64(limit) / float64(want)
	f := finding.Finding{
		Severity: finding.Low, Topic: "limit",
		Message: fmt.Sprintf("the CPU limit of %d MHz is below what %s on %s of %d MHz, %d MHz%s: with all of them busy the VM gets %s of that, and waits for the rest while cores are idle (%%MLMTD of esxtop, part of %%RDY)",
			limit, words.Verb(int(v.Guest.VCPUs), "vCPU uses", "vCPUs use"), words.Plural(cores, "core"), m.CoreMHz, want, p.Where(others), words.Percent(part)),
		Ways:     []numa.Way{numa.ByHand(fmt.Sprintf("remove the CPU limit, or raise it to %d MHz", want))},
		Besides:  "Shares and reservations divide CPU where it is scarce, and let no VM wait beside idle cores",
		Evidence: []finding.Evidence{finding.Of("CPU limit in MHz", v.CPULimit, v.At), v.VCPUsEvidence(), finding.Of("core frequency of "+host.Name+" in MHz", host.Frequency(), host.At)},
	}
	if part < p.Threshold("seriousLimit") {
		f.Severity = finding.Medium
	}
	if n := limit / int(m.CoreMHz) * int(v.Guest.Threads(m)); n > 0 {
		f.Ways = append(f.Ways, p.AtMostVCPUs(n, ""))
	}
	p.Report(f, nil)
}

// held reports a memory limit below the memory.
func held(p *rule.Pass) {
	v := p.VM
	limit, ok := v.LimitedTo()
	if !ok {
		return
	}
	f := finding.Finding{
		Severity: finding.Medium, Topic: "memory limit",
		Message: fmt.Sprintf("the memory limit of %s is below the memory of %s: once the guest uses more, ESXi balloons, compresses or swaps the rest, up to %s, whatever the host has free",
			limit, v.Memory.Value, v.Memory.Value-limit),
		Ways: []numa.Way{numa.ByHand("remove the memory limit"),
			{Do: fmt.Sprintf("set the memory to at most %s", limit.Whole()), Edits: []numa.Edit{numa.EditMemory.To(int(limit.Whole() / numa.MiB))}}},
		Besides:  "Removing the limit needs no downtime",
		Evidence: []finding.Evidence{v.MemoryLimitEvidence(), v.MemoryEvidence()},
	}
	if v.Reclaimed.Value > 0 {
		f.Severity = finding.High
		f.Message += fmt.Sprintf("; %s are ballooned or swapped now", v.Reclaimed.Value)
		f.Evidence = append(f.Evidence, finding.Of("ballooned and swapped memory", v.Reclaimed, v.At))
	}
	p.Report(f, nil)
}

// sure is the share, in percent, of the frequency that counts as the whole: cores of 2.1 GHz report 2095 MHz.
const sure = 99

// busy returns the maximum number of cores that the vCPUs keep busy on such a host: two threads of a virtual core share a core (B-21), and those
// of a client stay on the cores of its home node, of which there are fewer with preferHT.
func busy(v *rule.VM, o *rule.On) int {
	m := &o.Kind.Machine
	cores := int(m.AllCores)
	if homes := o.Layout.HomeNodes; homes > 0 {
		cores = min(cores, homes*int(m.Cores))
	}
	return min(v.Guest.ExclusiveCores(m), cores)
}

// wanted returns the MHz of these cores, nominal as limits are; 0 if the frequency is unknown.
func wanted(v *rule.VM, o *rule.On) int { return busy(v, o) * int(o.Kind.Machine.CoreMHz) }

// unknown reports that it is unknown whether the limit throttles the VM, because the frequency of its host is unknown.
func unknown(p *rule.Pass) {
	v := p.VM
	if v.FrequencyKnown() {
		return
	}
	host := v.On[0].Kind.Hosts[0]
	p.Report(finding.Finding{
		Severity: finding.Info, Topic: "limit",
		Message:  fmt.Sprintf("the VM has a CPU limit of %d MHz for %s, and the frequency of its host is unknown: whether it holds them back is not judged", v.CPULimit.Value, words.Plural(int(v.Guest.VCPUs), "vCPU")),
		Evidence: []finding.Evidence{finding.Of("CPU limit in MHz", v.CPULimit, v.At), v.VCPUsEvidence(), finding.Of("core frequency of "+host.Name+" in MHz", host.Frequency(), host.At)},
	}, nil)
}
