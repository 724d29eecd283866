package fleet

import (
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// TellingHost returns the host with the most findings of high severity, the first among equals.
func TellingHost(r *rules.Result, hosts []*numa.Host) *numa.Host {
	high := map[string]int{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == finding.High {
			high[f.HostID]++
		}
	}
	best := hosts[0]
	for _, h := range hosts {
		if high[h.ID] > high[best.ID] {
			best = h
		}
	}
	return best
}

// FaultyHost returns a host with the VM's fault, preferably its own.
func FaultyHost(v *rule.VM) *numa.Host {
	on := &v.On[0]
	for i := range v.On {
		l := &v.On[i].Layout
		_, spans := l.Spanning()
		if spans || l.Memory.Away() > 0 || l.HidesNUMA() {
			on = &v.On[i]
			break
		}
	}
	if on.Kind == v.Home {
		return v.Host
	}
	return on.Kind.Hosts[0]
}

// An Urgent VM has a finding of high severity.
type Urgent struct {
	*rule.VM
	Finding *finding.Finding // the first of that severity
}

// UrgentVMs returns the VMs with findings of high severity without duplicates, in the order of
// the findings.
func UrgentVMs(r *rules.Result) []Urgent {
	vms := map[string]*rule.VM{}
	for v := range r.EachVM() {
		vms[v.ID] = v
	}
	var out []Urgent
	for i := range r.Findings {
		f := &r.Findings[i]
		if v := vms[f.VMID]; f.Severity == finding.High && v != nil {
			out = append(out, Urgent{v, f})
			delete(vms, v.ID)
		}
	}
	return out
}
