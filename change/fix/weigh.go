package fix

import (
	"fmt"
	"slices"

	"homenode/change/diff"
	"homenode/change/whatif"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// rounds bounds how often changes are taken out and the rest judged again.
const rounds = 8

// weigh judges the changed fleet, and takes out every change that makes something worse.
func (m *maker) weigh() error {
	for range rounds {
		changed := m.apply()
		m.changed = rules.Run(changed, m.o.Rules)
		d, err := diff.Compare(m.today, m.changed, diff.Options{})
		if err != nil {
			return err
		}
		m.gone, m.cured = map[string][]string{}, map[subject]bool{}
		worse := m.layoutsWorse()
		for i := range d.Findings {
			x := &d.Findings[i]
			of := x.Of()
			switch {
			case x.B == nil:
				s := subjectOf(of)
				m.gone[s.id] = append(m.gone[s.id], of.Rule)
				m.cured[s] = true
			case x.A != nil && x.B.Severity < x.A.Severity: // less severe, not cured
			case x.A == nil && of.Severity == finding.Info: // it tells, and costs nothing
			default:
				for id := range m.blamed(of) {
					worse[id] = fmt.Sprintf("it would bring %s (%s): %s", of.Rule, of.Severity, of.Message)
				}
			}
		}
		if len(worse) == 0 {
			return nil
		}
		for id, why := range worse {
			m.kept[id] = why
		}
	}
	for id := range m.edits { // it does not settle: nothing is safe
		if m.kept[id] == "" {
			m.kept[id] = "no set of changes was found that makes nothing worse"
		}
	}
	m.changed, m.gone, m.cured = m.today, nil, nil
	return nil
}

// apply returns the fleet with the edits that are left in.
func (m *maker) apply() *numa.Fleet {
	out := whatif.Unobserved(m.fleet)
	for i := range out.VMs {
		if v := &out.VMs[i]; m.kept[v.ID] == "" {
			configure(&v.Config, m.edits[v.ID])
		}
	}
	for i := range out.Hosts {
		h := &out.Hosts[i]
		if m.kept[h.ID] != "" {
			continue
		}
		for _, e := range m.edits[h.ID] {
			if !h.Options.Known() {
				h.Options.Origin = numa.Origin{Kind: numa.Derived, Where: proposed}
			}
			if h.Options.Value = h.Options.Value.Without(e.Key); e.To.Set {
				h.Options.Value = h.Options.Value.With(e.Key, e.To.Text)
			}
		}
	}
	return out
}

// layoutsWorse returns the changed VMs that some host serves worse than today, and where.
func (m *maker) layoutsWorse() map[string]string {
	worse := map[string]string{}
	for _, c := range m.changed.Clusters {
		for _, v := range c.VMs {
			if m.edits[v.ID] == nil || m.kept[v.ID] != "" {
				continue
			}
			now := m.vms[v.ID]
			for i := range v.On {
				if was := on(now, v.On[i].Kind.HostNames()[0]); was != nil && v.On[i].Layout.Compare(&was.Layout) > 0 {
					worse[v.ID] = fmt.Sprintf("on %s it would be worse: %s instead of %s", rule.List(v.On[i].Kind.HostNames()), rule.Short(&v.On[i].Layout), rule.Short(&was.Layout))
				}
			}
			if home, was := &v.On[0].Layout, &now.On[0].Layout; !m.o.Split && !m.set() && v.Home != nil && home.Compare(was) == 0 && home.PPDs.Len() > was.PPDs.Len() {
				worse[v.ID] = fmt.Sprintf("it divides the VM further where it runs (%s → %s) for hosts that it may move to: --allow-split, or keep it off these with a DRS rule", rule.Short(was), rule.Short(home))
			}
			if len(v.Refused) > len(now.Refused) {
				worse[v.ID] = fmt.Sprintf("%s would not power it on", rule.List(v.Refused[len(v.Refused)-1].Kind.HostNames()))
			}
		}
	}
	return worse
}

// on returns what the VM gets on the kind of host that this one is of.
func on(v *rule.VM, host string) *rule.On {
	for i := range v.On {
		if slices.Contains(v.On[i].Kind.HostNames(), host) {
			return &v.On[i]
		}
	}
	return nil
}

// blamed returns the changed VMs and hosts that a finding can come from.
func (m *maker) blamed(f *finding.Finding) map[string]bool {
	out := map[string]bool{}
	add := func(id string) {
		if m.edits[id] != nil && m.kept[id] == "" {
			out[id] = true
		}
	}
	add(f.VMID)
	if f.VMID == "" {
		for _, id := range append(append([]string{f.HostID}, f.AboutIDs...), f.Costs...) {
			add(id)
		}
		for id, v := range m.vms {
			if v.Host != nil && (v.Host.ID == f.HostID || slices.Contains(f.AboutIDs, v.Host.ID)) {
				add(id)
			}
		}
	}
	if len(out) == 0 { // it is of an unchanged VM beside changed ones
		for id := range m.edits {
			if v, w := m.vms[id], m.vms[f.VMID]; v != nil && w != nil && v.Cluster == w.Cluster {
				add(id)
			}
		}
	}
	return out
}
