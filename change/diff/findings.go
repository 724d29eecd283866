package diff

import (
	"slices"

	"homenode/rules/finding"
)

// A key tells which findings of both sides are the same.
type key struct{ rule, topic, vm, host, subject string }

func keyOf(f *finding.Finding, side int, vms, hosts *pairs) key {
	k := key{rule: f.Rule, topic: f.Topic}
	switch {
	case f.VMID != "":
		k.vm = vms.name(f.VMID, side)
	case f.HostID != "":
		k.host = hosts.name(f.HostID, side)
	default:
		k.subject = f.Subject()
	}
	return k
}

// findings compares the findings and returns those that differ, by the ID of their
// VM in B.
func (d *Drift) findings(vms, hosts *pairs) map[string][]Finding {
	// A rule may say several things about one VM: the most severe ones pair up. The
	// findings come sorted by severity.
	left := map[key][]*finding.Finding{}
	for i := range d.A.Findings {
		f := &d.A.Findings[i]
		k := keyOf(f, 0, vms, hosts)
		left[k] = append(left[k], f)
	}
	byVM := map[string][]Finding{}
	put := func(f Finding, vm string) {
		d.Findings = append(d.Findings, f)
		if vm != "" {
			byVM[vm] = append(byVM[vm], f)
		}
	}
	groups := newGroups(d)
	var added []*finding.Finding
	for i := range d.B.Findings {
		f := &d.B.Findings[i]
		k := keyOf(f, 1, vms, hosts)
		var was *finding.Finding
		if l := left[k]; len(l) > 0 {
			was, left[k] = l[0], l[1:]
		}
		switch {
		case was == nil && groups.inA(f):
		case was == nil && f.Moves:
			added = append(added, f)
		case was == nil || was.Severity != f.Severity:
			put(Finding{was, f}, f.VMID)
		}
	}
	moved := map[member]int{} // new on one host of a cluster, unless gone from another
	for _, f := range added {
		moved[clusterOf(f)]++
	}
	for i := range d.A.Findings {
		f := &d.A.Findings[i]
		if l := left[keyOf(f, 0, vms, hosts)]; len(l) == 0 || !slices.Contains(l, f) || groups.inB(f) {
			continue
		}
		if c := clusterOf(f); f.Moves && moved[c] > 0 {
			moved[c]--
			continue
		}
		put(Finding{f, nil}, vms.inB(f.VMID))
	}
	for _, f := range added {
		if c := clusterOf(f); moved[c] > 0 {
			moved[c]--
			put(Finding{nil, f}, "")
		}
	}
	d.costs(byVM, vms)
	return byVM
}

// costs adds to the findings that differ for a VM those about hosts that cost it something on one side alone: where the VM goes, a host may hide its nodes.
func (d *Drift) costs(byVM map[string][]Finding, vms *pairs) {
	type cost struct{ vm, rule string }
	of := func(all []finding.Finding, id func(string) string) map[cost]*finding.Finding {
		out := map[cost]*finding.Finding{}
		for i := range all {
			for _, vm := range all[i].Costs {
				out[cost{id(vm), all[i].Rule}] = &all[i]
			}
		}
		return out
	}
	was, is := of(d.A.Findings, vms.inB), of(d.B.Findings, func(id string) string { return id })
	for i := range d.A.Findings {
		f := &d.A.Findings[i]
		for _, vm := range f.Costs {
			if c := (cost{vms.inB(vm), f.Rule}); c.vm != "" && was[c] == f && is[c] == nil {
				byVM[c.vm] = append(byVM[c.vm], Finding{f, nil})
			}
		}
	}
	for i := range d.B.Findings {
		f := &d.B.Findings[i]
		for _, vm := range f.Costs {
			if c := (cost{vm, f.Rule}); is[c] == f && was[c] == nil {
				byVM[vm] = append(byVM[vm], Finding{nil, f})
			}
		}
	}
}

// groups knows the findings about several like hosts by each of these. Such a finding
// is told of the first host: when that leaves the group, or another comes before it,
// it is the same finding and no drift.
type groups struct{ a, b map[member]bool }

// A member is one host that a finding of a severity speaks of; hosts have the same
// name on both sides.
type member struct {
	rule, topic, cluster, host string
	severity                   finding.Severity
}

func newGroups(d *Drift) groups {
	of := func(all []finding.Finding) map[member]bool {
		out := map[member]bool{}
		for i := range all {
			for _, m := range members(&all[i]) {
				out[m] = true
			}
		}
		return out
	}
	return groups{of(d.A.Findings), of(d.B.Findings)}
}

func members(f *finding.Finding) []member {
	var out []member
	for _, host := range f.About {
		out = append(out, member{f.Rule, f.Topic, f.Cluster, host, f.Severity})
	}
	return out
}

// clusterOf returns what a finding that moves shares with the one on another host.
func clusterOf(f *finding.Finding) member {
	if f.Cluster == "" { // from a standalone host nothing moves by itself
		return member{f.Rule, f.Topic, "", f.Host, f.Severity}
	}
	return member{f.Rule, f.Topic, f.Cluster, "", f.Severity}
}

func (g *groups) inA(f *finding.Finding) bool { return anyIn(g.a, f) }
func (g *groups) inB(f *finding.Finding) bool { return anyIn(g.b, f) }

func anyIn(of map[member]bool, f *finding.Finding) bool {
	return slices.ContainsFunc(members(f), func(m member) bool { return of[m] })
}
