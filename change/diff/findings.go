package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A key identifies the same finding on both sides.
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

// findings compares the findings and returns those that differ, by the ID of the VM in B.
func (d *Drift) findings(vms, hosts *pairs, inA, inB map[string]*rule.VM) map[string][]Finding {
	// A rule may have several findings about one VM: the most severe ones are paired. The findings are sorted by severity.
	left := map[key][]*finding.Finding{}
	for i := range d.A.Findings {
		f := &d.A.Findings[i]
		k := keyOf(f, 0, vms, hosts)
		left[k] = append(left[k], f)
	}
	byVM := map[string][]Finding{}
	put := func(f Finding, vm string) {
		if a, b := inA[vms.a[vm]], inB[vm]; f.A == nil && a != nil && b != nil {
			f.Hid = a.Hid(f.B, &b.Guest)
		}
		d.Findings = append(d.Findings, f)
		if vm != "" {
			byVM[vm] = append(byVM[vm], f)
		}
	}
	groups, was, is := newGroups(d), costsOf(d.A.Findings, vms.inB), costsOf(d.B.Findings, func(id string) string { return id })
	had, hosted := maps.Clone(was), maps.Clone(was)
	// A finding about a host is the same as one about the VM if no other host accepts the VM.
	told := func(f *finding.Finding, vm string, by, not map[cost]*finding.Finding) bool {
		c := cost{vm, f.Rule}
		return f.VMID != "" && f.Topic == "" && by[c] != nil && not[c] == nil && sameHosts(inA[vms.a[vm]], inB[vm], hosts)
	}
	for i := range d.B.Findings {
		f := &d.B.Findings[i]
		k := keyOf(f, 1, vms, hosts)
		var before *finding.Finding
		if l := left[k]; len(l) > 0 {
			before, left[k] = l[0], l[1:]
		}
		switch {
		case before == nil && (groups.inA(f) || told(f, f.VMID, hosted, is) && hosted[cost{f.VMID, f.Rule}].Severity >= f.Severity):
			delete(was, cost{f.VMID, f.Rule})
			delete(hosted, cost{f.VMID, f.Rule}) // it replaces one
		case before == nil || before.Severity != f.Severity || lacksMore(before, f) || lacksMore(f, before):
			put(Finding{A: before, B: f}, f.VMID)
		case before.Message != f.Message && f.VMID != "" && d.B.Rule(f.Rule).Beside && !d.B.Rule(f.Rule).Refused: // no layout shows it
			d.restated[f.VMID] = append(d.restated[f.VMID], fmt.Sprintf("%s still %s: %s", f.Rule, f.Severity, f.Message))
		}
	}
	stopped := func(ids ...string) bool { // whether no host is left that powers these VMs on
		return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !stops(inA[id], inB[vms.inB(id)]) })
	}
	for i := range d.A.Findings {
		f := &d.A.Findings[i]
		if l := left[keyOf(f, 0, vms, hosts)]; len(l) == 0 || !slices.Contains(l, f) || groups.inB(f) {
			continue
		}
		if vm := vms.inB(f.VMID); told(f, vm, is, had) {
			delete(is, cost{vm, f.Rule})
		} else {
			put(Finding{A: f, Stopped: stopped(concerned(f)...)}, vm)
		}
	}
	d.costs(byVM, was, is)
	return byVM
}

// lacksMore reports whether a host lacks more memory for its VMs in b than in a, by a GB at least.
func lacksMore(a, b *finding.Finding) bool { return b.VMID == "" && b.Remote >= a.Remote+numa.GiB }

// concerned returns the IDs of the VMs that a finding is about or affects.
func concerned(f *finding.Finding) []string {
	if f.VMID != "" {
		return []string{f.VMID}
	}
	return f.Costs
}

// stops reports whether a host powers the VM on in A and no host does in B.
func stops(a, b *rule.VM) bool {
	before, after := PlaceOf(a), PlaceOf(b)
	return before.startable() && !after.startable()
}

// sameHosts reports whether the same hosts accept the VM in A and B.
func sameHosts(a, b *rule.VM, hosts *pairs) bool {
	of := func(v *rule.VM, id func(string) string) map[string]bool {
		out := map[string]bool{}
		for i := range v.On {
			for _, h := range v.On[i].Kind.Hosts {
				out[id(h.ID)] = !v.On[i].Layout.Refused.Any()
			}
		}
		return out
	}
	return a != nil && b != nil && maps.Equal(of(a, hosts.inB), of(b, func(id string) string { return id }))
}

// A cost names a VM of B that a finding about hosts affects, and the rule.
type cost struct{ vm, rule string }

// costsOf returns the findings about hosts by the VMs that they affect.
func costsOf(all []finding.Finding, id func(string) string) map[cost]*finding.Finding {
	out := map[cost]*finding.Finding{}
	for i := range all {
		for _, vm := range all[i].Costs {
			if c := (cost{id(vm), all[i].Rule}); c.vm != "" {
				out[c] = &all[i]
			}
		}
	}
	return out
}

// costs adds the findings about hosts that affect a VM on one side only: the VM's new host may hide its nodes.
func (d *Drift) costs(byVM map[string][]Finding, was, is map[cost]*finding.Finding) {
	add := func(in, other map[cost]*finding.Finding, both func(f *finding.Finding) Finding) {
		of := slices.SortedFunc(maps.Keys(in), func(a, b cost) int { return cmp.Or(cmp.Compare(a.vm, b.vm), cmp.Compare(a.rule, b.rule)) })
		for _, c := range of {
			if other[c] == nil {
				byVM[c.vm] = append(byVM[c.vm], both(in[c]))
			}
		}
	}
	add(was, is, func(f *finding.Finding) Finding { return Finding{A: f} })
	fresh := map[*finding.Finding]bool{}
	for i := range d.Findings {
		fresh[d.Findings[i].B] = true
	}
	add(is, was, func(f *finding.Finding) Finding { return Finding{B: f, entered: !fresh[f]} })
}

// groups contains the findings about several similar hosts, by each of these hosts. Such a finding names the first host: if that host
// leaves the group, or another one precedes it, it is the same finding and not drift.
type groups struct{ a, b map[member]bool }

// A member is one host of a finding of a severity; hosts have the same name on both sides.
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

func (g *groups) inA(f *finding.Finding) bool { return anyIn(g.a, f) }
func (g *groups) inB(f *finding.Finding) bool { return anyIn(g.b, f) }

func anyIn(of map[member]bool, f *finding.Finding) bool {
	return slices.ContainsFunc(members(f), func(m member) bool { return of[m] })
}
