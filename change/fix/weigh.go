package fix

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/whatif"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// rounds bounds how often changes are taken out and the rest judged again.
const rounds = 12

// weigh judges the changed fleet beside the one that the changes are made to, and takes out every change that makes
// something worse. What worse is diff says, as for a what-if. A VM that is better in all may get findings that are less
// severe than what it loses (brings).
func (m *maker) weigh(ctx context.Context) error {
	for range rounds {
		d, err := m.judge(ctx)
		if err != nil {
			return err
		}
		worse := m.harm(d)
		m.denied(worse)
		if len(worse) == 0 {
			return m.gains(ctx)
		}
		for id, why := range worse {
			if less := m.settled[id]; len(less) > 0 {
				m.edits[id], m.settled[id], m.done[id] = less[0], less[1:], why
			} else {
				m.kept[id] = why
			}
		}
	}
	for id := range m.edits { // it does not settle: nothing is safe
		if m.kept[id] == "" && m.weighed(id) {
			m.kept[id] = "every set of changes that was tried makes something worse"
		}
	}
	m.changed, m.gone, m.eased, m.less, m.cured = m.base, nil, nil, nil, nil
	m.forget()
	return nil
}

// judge judges the clusters of the changed fleet that have a change, beside the fleet that the changes are made to.
func (m *maker) judge(ctx context.Context) (*diff.Drift, error) {
	m.changed = nil // a fleet of the round before: one less in memory
	in, fleet := map[string]bool{}, m.apply()
	for i := range fleet.Hosts {
		if h := &fleet.Hosts[i]; m.edits[h.ID] != nil {
			in[cmp.Or(h.Cluster, h.ID)] = true
		}
	}
	for id := range m.edits {
		if v := m.vms[id]; v != nil {
			in[v.ClusterID()] = true
		}
	}
	changed, err := m.base.Changed(ctx, fleet, in, m.o.Rules)
	if err != nil {
		return nil, err
	}
	m.changed = changed
	return diff.Compare(ctx, m.base, m.changed, diff.Options{})
}

// weighed reports whether the edits of the VM or host are weighed now: hosts first, on their own, then VMs.
func (m *maker) weighed(id string) bool { return m.kept[id] == "" && (m.vms[id] == nil) == m.hosts }

// forget drops what the changes that are weighed now bring: VMs are weighed beside hosts that are changed already, whose changes brought it.
func (m *maker) forget() {
	maps.DeleteFunc(m.brings, func(id string, _ []string) bool { return (m.vms[id] == nil) == m.hosts })
}

// gains notes which findings of today are gone, and which less severe.
func (m *maker) gains(ctx context.Context) error {
	d, err := diff.Compare(ctx, m.today, m.changed, diff.Options{})
	if err != nil {
		return err
	}
	m.gone, m.eased, m.cured = map[string][]string{}, map[string][]string{}, map[subject]bool{}
	m.less, m.more = map[subject]finding.Severity{}, map[subject]finding.Severity{}
	for i := range d.Findings {
		switch x := &d.Findings[i]; {
		case x.B == nil:
			s := subjectOf(x.A)
			m.cured[s] = true
			if v := m.vms[s.id]; v != nil && v.Host != nil && m.edits[s.id] == nil { // its host cures it
				s.id = v.Host.ID
			}
			m.gone[s.id] = append(m.gone[s.id], x.A.Rule)
		case x.A != nil && x.B.Severity < x.A.Severity:
			s := subjectOf(x.A)
			m.eased[s.id] = append(m.eased[s.id], fmt.Sprintf("%s %s → %s", x.A.Rule, x.A.Severity, x.B.Severity))
			m.less[s] = x.B.Severity
		case x.A != nil && x.B.Severity > x.A.Severity:
			m.more[subjectOf(x.A)] = x.B.Severity
		}
	}
	return nil
}

// harm returns the VMs and hosts whose changes make something worse, and what, and notes what the others bring along.
func (m *maker) harm(d *diff.Drift) map[string]string {
	if m.set() {
		return m.refusals(d)
	}
	worse := m.layoutsWorse(d)
	m.forget()
	better, moved := map[string]bool{}, map[string]bool{} // VMs that are better; those that differ
	for i := range d.VMs {
		v := &d.VMs[i]
		better[v.ID], moved[v.ID] = v.Verdict == diff.Better, v.Verdict != diff.Unchanged || v.Layout
		if v.Verdict == diff.Worse {
			for id := range m.blamed(&finding.Finding{VMID: v.ID}) {
				worse[id] = cmp.Or(worse[id], fmt.Sprintf("%s would be worse: %s", v.Name, strings.Join(v.Why, ", ")))
			}
		}
	}
	told := map[string]bool{} // the most severe finding comes first
	for i := range d.Findings {
		x := &d.Findings[i]
		if !x.Worsens(finding.Low) {
			continue
		}
		text, outweighed := fmt.Sprintf("%s (%s): %s", x.B.Rule, x.B.Severity, x.B.Message), d.Outweighed(x)
		ids := m.blamed(x.B)
		others := slices.ContainsFunc(slices.Collect(maps.Keys(ids)), func(id string) bool { return better[id] })
		for id := range ids {
			switch {
			case others && !moved[id] && x.B.VMID == "" && x.B.Severity == finding.Low: // a change without effect on the host: the better ones bring it
			case outweighed || better[id] && x.B.VMID == "" && x.B.Severity == finding.Low: // of a host: that is untidy, and harms no VM
				m.brings[id] = append(m.brings[id], text)
			case !told[id]:
				worse[id], told[id] = "it would bring "+text, true
			}
		}
	}
	m.idle(d, worse)
	return worse
}

// idle adds the changes that cost the VM downtime and cure nothing that is worth it: of several findings the worst may stay.
func (m *maker) idle(d *diff.Drift, worse map[string]string) {
	worth, scope := map[string]bool{}, m.scope()
	for i := range d.Findings {
		x := &d.Findings[i]
		if x.A == nil || x.B != nil && x.B.Severity >= x.A.Severity {
			continue
		}
		for _, id := range append(slices.Clone(x.A.Costs), x.A.VMID) {
			worth[id] = worth[id] || m.vms[id] != nil && (x.A.VMID == "" || scope.Worth(x.A, m.vms[id]))
		}
	}
	for i := range d.VMs {
		if v := &d.VMs[i]; v.Layout && v.Verdict == diff.Better {
			worth[v.ID] = true
		}
	}
	for id, edits := range m.edits {
		v := m.vms[id]
		if v != nil && m.weighed(id) && !worth[id] && !m.o.Better && !m.o.Cycled && !v.Stopped() && rule.Needs(edits) != numa.NeedsNothing {
			worse[id] = cmp.Or(worse[id], "it cures nothing that is worth its downtime; --allow better takes it")
		}
	}
}

// refusals returns the VMs whose changes vSphere would refuse: what somebody asks for is done all the same where it makes something worse,
// and what it brings is noted.
func (m *maker) refusals(d *diff.Drift) map[string]string {
	refused, before := map[string]string{}, m.base.ByID()
	for id, v := range m.changed.ByID() {
		now := before[id]
		switch {
		case now == nil || m.edits[id] == nil || !m.weighed(id):
		case v.Off() && !now.Off():
			refused[id] = fmt.Sprintf("it would not power on: %s", v.On[0].Layout.Refused)
		default:
			if lost := refusedNow(now, v); lost != nil {
				refused[id] = fmt.Sprintf("%s would not power it on: %s", words.List(lost.Kind.HostNames()), lost.Layout.Refused)
			}
		}
	}
	m.forget()
	for i := range d.VMs {
		if v := &d.VMs[i]; v.Barred != "" && m.edits[v.ID] != nil {
			m.brings[v.ID] = append(m.brings[v.ID], v.Barred)
		}
	}
	for i := range d.Findings {
		x := &d.Findings[i]
		if !x.Worsens(finding.Low) {
			continue
		}
		for id := range m.blamed(x.B) {
			m.brings[id] = append(m.brings[id], fmt.Sprintf("%s (%s): %s", x.B.Rule, x.B.Severity, x.B.Message))
		}
	}
	return refused
}

// denied adds the changes that reserve more than the hosts have left beside the other VMs and the changes before: vSphere refuses them.
func (m *maker) denied(worse map[string]string) {
	before := m.base.ByID()
	for _, c := range m.changed.Clusters {
		for v, r := range rule.Admit(c.VMs, func(v *rule.VM) bool { return m.edits[v.ID] == nil || !m.weighed(v.ID) }) {
			now := before[v.ID]
			if now == nil || v.Guest.Needs.Reserved > now.Guest.Needs.Reserved || v.Guest.Needs.MHz > now.Guest.Needs.MHz {
				worse[v.ID] = fmt.Sprintf("vSphere would refuse it: %s", r)
			}
		}
	}
}

// apply returns the fleet with the edits that are left in: those of hosts, and once these are weighed those of VMs.
func (m *maker) apply() *numa.Fleet {
	out := whatif.Unobserved(m.fleet)
	for i := range out.VMs {
		if v := &out.VMs[i]; m.kept[v.ID] == "" && !m.hosts {
			configure(&v.Config, m.edits[v.ID])
		}
	}
	for i := range out.Hosts {
		h := &out.Hosts[i]
		if m.kept[h.ID] == "" {
			setOptions(h, m.edits[h.ID])
		}
	}
	return out
}

// setOptions makes the edits of a host.
func setOptions(h *numa.Host, edits []numa.Edit) {
	for _, e := range edits {
		if !h.Options.Known() {
			h.Options.Origin = numa.Origin{Kind: numa.Derived, Where: proposed}
		}
		if h.Options.Value = h.Options.Value.Without(e.Key); e.To.Set {
			h.Options.Value = h.Options.Value.With(e.Key, e.To.Text)
		}
	}
}

// layoutsWorse returns the changes with which some host serves a VM worse than without, and where.
func (m *maker) layoutsWorse(d *diff.Drift) map[string]string {
	worse := map[string]string{}
	before := m.base.ByID()
	for v := range m.changed.EachVM() {
		now := before[v.ID]
		m.movedWorse(worse, now, v)
		if now == nil || !m.hosts && (m.edits[v.ID] == nil || m.kept[v.ID] != "") {
			continue
		}
		bad := func(format string, args ...any) {
			for id := range m.blamed(&finding.Finding{VMID: v.ID}) {
				worse[id] = fmt.Sprintf(format, args...)
			}
		}
		if !v.Stopped() && rule.Needs(m.edits[v.ID]) != numa.NeedsNothing {
			if again := m.changed.ClusterOf(v).Again(v); again.Any() {
				bad("once it is off it would not power on again: %s; cure that first", again)
				continue
			}
		}
		for i := range v.On {
			o := &v.On[i]
			was := now.OnHost(o.Kind.Hosts[0].ID)
			switch {
			case was == nil || was.Layout.Refused.Any() || o.Closed:
			case o.Layout.Compare(&was.Layout) > 0:
				bad("on %s %s would be worse: %s; now %s", words.List(o.Kind.HostNames()), v.Name, rule.Spoken(&o.Layout), rule.Spoken(&was.Layout))
			case i > 0 && !m.o.Split && !m.set() && !o.Small && o.Layout.PPDs.Len() > was.Layout.PPDs.Len() && was.Layout.Compare(&o.Layout) == 0 && was.Layout.Gains(&now.On[0].Layout):
				if room := m.changed.ClusterOf(v).RoomFor(v, o); len(room) > 0 {
					has := map[bool]string{true: "has", false: "have"}[len(room) == 1]
					bad("it divides the VM on %s too (%s instead of %d), which %s room for it as it is: move it there, or --allow split", rule.HostNames(room), words.Plural(o.Layout.PPDs.Len(), "client"), was.Layout.PPDs.Len(), has)
				}
			}
		}
		if home, was := &v.On[0].Layout, &now.On[0].Layout; !m.o.Split && !m.set() && v.Home != nil && len(v.On) > 1 && home.Compare(was) == 0 && home.PPDs.Len() > was.PPDs.Len() && !curedAtHome(d, v.ID) {
			bad("it divides the VM further where it runs (%s instead of %d) for hosts that it may move to: --allow split, or keep it off these %s", words.Plural(home.PPDs.Len(), "client"), was.PPDs.Len(), rule.ByDRS)
		}
		if lost := refusedNow(now, v); lost != nil {
			bad("%s would not power it on", words.List(lost.Kind.HostNames()))
		}
	}
	return worse
}

// movedWorse adds the changes of a VM with which it is worse than without after a vMotion, which no power cycle follows.
func (m *maker) movedWorse(worse map[string]string, now, v *rule.VM) {
	if now == nil || m.set() || v.Home == nil || m.edits[v.ID] == nil || !m.weighed(v.ID) {
		return
	}
	for i := 1; i < len(v.On); i++ {
		o := &v.On[i]
		was := now.OnHost(o.Kind.Hosts[0].ID)
		if was == nil || was.Layout.Refused.Any() || o.Closed || o.Small {
			continue
		}
		before, after := now.Moved(was.Kind, m.o.Rules.Choices), v.Moved(o.Kind, m.o.Rules.Choices)
		if after.Compare(&before) > 0 {
			worse[v.ID] = fmt.Sprintf("after a vMotion to %s %s would be worse: %s; now %s", words.List(o.Kind.HostNames()), v.Name, rule.Spoken(&after), rule.Spoken(&before))
		}
	}
}

// curedAtHome reports whether the VM loses harm that it has on its own host.
func curedAtHome(d *diff.Drift, id string) bool {
	return slices.ContainsFunc(d.Findings, func(f diff.Finding) bool {
		return f.B == nil && f.A.VMID == id && f.A.Severity >= finding.Medium && !f.A.Elsewhere()
	})
}

// refusedNow returns the first kind of host that took the VM as it was and does not take it as it is; nil for none.
func refusedNow(was, is *rule.VM) *rule.On {
	for i := range is.Refused {
		if o := was.OnHost(is.Refused[i].Kind.Hosts[0].ID); o != nil && !o.Layout.Refused.Any() {
			return &is.Refused[i]
		}
	}
	return nil
}

// blamed returns the VMs or hosts whose changes, weighed now, a finding can come from.
func (m *maker) blamed(f *finding.Finding) map[string]bool {
	out := map[string]bool{}
	add := func(ids ...string) {
		for _, id := range ids {
			if m.edits[id] != nil && m.weighed(id) {
				out[id] = true
			}
		}
	}
	switch {
	case f.VMID != "":
		add(f.VMID)
	case f.Concerns != nil:
		add(f.Concerns...)
	default:
		add(slices.Concat(f.AboutIDs, f.Costs)...)
		for id, v := range m.vms {
			if v.Host != nil && (v.Host.ID == f.HostID || slices.Contains(f.AboutIDs, v.Host.ID)) {
				add(id)
			}
		}
	}
	add(f.HostID)
	if len(out) > 0 {
		return out
	}
	// It is of an unchanged VM or host beside changed ones.
	cluster := func(id string) string {
		if v := m.vms[id]; v != nil {
			return v.ClusterID()
		}
		for i := range m.fleet.Hosts {
			if h := &m.fleet.Hosts[i]; h.ID == id {
				return cmp.Or(h.Cluster, h.ID)
			}
		}
		return ""
	}
	for id := range m.edits {
		if cluster(id) == cluster(cmp.Or(f.VMID, f.HostID)) {
			add(id)
		}
	}
	return out
}
