package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// changes returns the changes that are left in, hosts first, the VMs by cluster and name.
func (m *maker) changes() []Change {
	out := []Change{}
	for i := range m.fleet.Hosts {
		h := &m.fleet.Hosts[i]
		if m.edits[h.ID] == nil || m.kept[h.ID] != "" {
			continue
		}
		c := Change{Host: &Target{Name: h.Name, ID: h.ID, Named: h.Named, Cluster: m.cluster(h.Cluster)}, Findings: m.rulesOf(h.ID), Edits: m.edits[h.ID], Brings: m.brings[h.ID], Downtime: "none"}
		c.Lost = c.lost()
		out = append(out, c)
	}
	hosts := len(out)
	for v := range m.changed.EachVM() {
		if m.edits[v.ID] != nil && m.kept[v.ID] == "" {
			out = append(out, m.change(m.vms[v.ID], v))
		}
	}
	slices.SortStableFunc(out[hosts:], func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.VM.Cluster, b.VM.Cluster), cmp.Compare(a.VM.Name, b.VM.Name), cmp.Compare(a.VM.ID, b.VM.ID))
	})
	return out
}

// rulesOf returns the rules whose findings about the VM or host go away, each once.
func (m *maker) rulesOf(id string) []string {
	list := slices.Clone(m.gone[id])
	slices.Sort(list)
	return append([]string{}, slices.Compact(list)...)
}

func (m *maker) cluster(id string) string {
	for i := range m.fleet.Clusters {
		if m.fleet.Clusters[i].ID == id {
			return m.fleet.Clusters[i].Name
		}
	}
	return ""
}

// change returns what is done to the VM, that is v today and next afterwards.
func (m *maker) change(v, next *rule.VM) Change {
	runs := v.Power.Or(numa.PoweredOn) == numa.PoweredOn && !v.Stopped()
	c := Change{
		VM:    &Target{Name: v.Name, ID: v.ID, Named: v.Named, UUID: v.UUID, Cluster: m.cluster(v.Cluster), Folder: v.Folder, Runs: runs},
		Basis: basisOf(&v.Config), Stored: storedIn(&v.Config), StoredUnknown: !v.Settings.Known(), Findings: m.rulesOf(v.ID), Edits: m.edits[v.ID], Better: m.better[v.ID], Eases: m.eased[v.ID], Brings: m.brings[v.ID],
	}
	if v.Host != nil {
		c.VM.Host, c.VM.Cluster = v.Host.Name, cmp.Or(m.cluster(v.Host.Cluster), c.VM.Cluster)
	}
	c.Layout = m.effects(v, next)
	c.Expects = expects(c.Layout)
	c.Downtime = downtime(&c, v)
	if was := v.OnHost(next.On[0].Kind.Hosts[0].ID); was != nil {
		c.Assumes = next.Assumed(&next.On[0].Layout)
		text, size := words.Join("; ", rule.Notice(&was.Layout, &next.On[0].Layout), next.ForProducts(&was.Layout, &next.On[0].Layout)), rule.Resized(&v.Config, &next.Config)
		if text != "" && (text != rule.NoNotice || size == "") {
			c.Notices = append(c.Notices, text)
		}
		if size != "" {
			c.Notices = append(c.Notices, size)
		}
	}
	c.Notices = append(c.Notices, m.noRoom[v.ID]...)
	if text := v.KeyNotice(); text != "" && c.Needs() != numa.NeedsNothing {
		c.Notices = append(c.Notices, text)
	}
	for _, e := range c.Edits {
		if e.Kind == numa.EditCPUAffinity && v.Cluster != "" {
			c.Notices = append(c.Notices, "CPU affinity is not to be set in a cluster with DRS: where that is on, move the VM off the cluster for the change")
		}
	}
	c.Lost = c.lost()
	if c.losesStored() {
		c.Lost = append(c.Lost, storedStays)
	}
	return c
}

// effects returns the layouts of the VM on every kind of host at a power-on, and those after a vMotion that differ from these and change.
func (m *maker) effects(v, next *rule.VM) (out []Effect) {
	var moved []Effect
	for i := range next.On {
		o := &next.On[i]
		was := v.OnHost(o.Kind.Hosts[0].ID)
		if was == nil || !v.Off() && was.Layout.Refused.Any() {
			continue
		}
		e := Effect{Hosts: o.Kind.HostNames(), Now: layoutOf(&was.Layout), After: layoutOf(&o.Layout)}
		out = append(out, e)
		if v.Home == nil || i == 0 || v.Stopped() {
			continue
		}
		a, b := v.Moved(was.Kind, m.o.Rules.Choices), next.Moved(o.Kind, m.o.Rules.Choices)
		there := Effect{Hosts: e.Hosts, Now: layoutOf(&a), After: layoutOf(&b), Moved: true}
		if there.After.Text != e.After.Text && there.After.Text != there.Now.Text {
			moved = append(moved, there)
		}
	}
	return append(out, moved...)
}

// storedStays says that a rollback does not restore the stored size.
const storedStays = "the stored size (numa.autosize.*) is unknown: a rollback leaves the one that ESXi wrote meanwhile"

// losesStored reports whether ESXi may replace a stored size that is unknown, so that a rollback cannot write it back.
func (c *Change) losesStored() bool { return c.StoredUnknown && c.Needs() != numa.NeedsNothing }

// downtimes are the texts about the downtime of a VM that runs, by what its edits need; of a power cycle the second where the guest reboots for it.
var downtimes = map[numa.Needs][]string{
	numa.NeedsNothing: {"none"},
	numa.NeedsOff:     {"power off, change, power on"},
	numa.NeedsCycle:   {"a power cycle", "a reboot of the guest: vmx.reboot.PowerCycle = TRUE makes it a power cycle"},
}

// downtime says what of the VM stands still, and for what.
func downtime(c *Change, v *rule.VM) string {
	needs := c.Needs()
	switch {
	case needs != numa.NeedsNothing && v.Stopped():
		return v.NoDowntime()
	case needs == numa.NeedsCycle && v.Guest.PowerCycleReboot:
		return downtimes[needs][1]
	}
	return downtimes[needs][0]
}

// The measures that an edit is judged by.
const (
	MeasureFarShare = "farShare"     // of its memory, on another node than the vCPU that uses it
	MeasureVNodes   = "virtualNodes" // that the guest sees
	MeasureClients  = "clients"      // NUMA clients
)

// expects returns the first of the measures that the layout on the VM's own hosts changes; nil for none.
func expects(l []Effect) *Expects {
	if len(l) == 0 {
		return nil
	}
	now, after := &l[0].Now, &l[0].After
	for _, x := range []Expects{
		{MeasureFarShare, now.FarShare, after.FarShare},
		{MeasureVNodes, float64(len(now.VPDs)), float64(len(after.VPDs))},
		{MeasureClients, float64(len(now.PPDs)), float64(len(after.PPDs))},
	} {
		if x.From != x.To {
			return &x
		}
	}
	return nil
}

// left returns the shown findings that stay, each with the reason.
func (m *maker) left(ctx context.Context, whole *rules.Result) ([]Left, error) {
	out := []Left{}
	tries := tries{}
	named := map[string]bool{}
	for i := range m.shown.Findings {
		f := &m.shown.Findings[i]
		id := cmp.Or(f.VMID, f.HostID)
		if m.cured[subjectOf(f)] || m.set() && (m.edits[id] == nil || m.kept[id] != "") { // a plan of requested settings is about what it changes
			continue
		}
		named[id] = true
		for _, about := range f.AboutIDs {
			named[about] = true
		}
		why, err := m.flagged(ctx, whole, tries, f, id)
		if err != nil {
			return nil, err
		}
		l := Left{VM: f.VM, ID: id, Rule: f.Rule, Severity: max(f.Severity, m.more[subjectOf(f)]).String(), Why: why}
		if f.VM == "" {
			l.Host = f.Host
		}
		out = append(out, l)
	}
	for id, why := range m.kept {
		if !named[id] && m.set() {
			l := Left{ID: id, Why: why}
			for i := range m.fleet.VMs {
				if m.fleet.VMs[i].ID == id {
					l.VM = m.fleet.VMs[i].Name
				}
			}
			for i := range m.fleet.Hosts {
				if m.fleet.Hosts[i].ID == id {
					l.Host = m.fleet.Hosts[i].Name
				}
			}
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, compareLeft)
	return out, nil
}

// why says why a finding stays.
func (m *maker) why(f *finding.Finding, id string) string {
	seen := func() bool { // nothing predicts it: it was seen
		return !slices.ContainsFunc(m.today.Findings, func(t finding.Finding) bool { return subjectOf(&t) == subjectOf(f) })
	}
	switch p := m.plans[id]; {
	case m.isLess(f):
		return fmt.Sprintf("with the change it is %s: %s", m.less[subjectOf(f)], words.Lower(f.Advice))
	case m.set():
		return "its cure was not asked for: " + words.Lower(cmp.Or(f.Advice, "Nothing has to change"))
	case m.kept[id] != "" && (f.Planned() || f.Cure() != nil):
		return m.kept[id]
	case m.done[id] != "" && f.Planned():
		return m.done[id]
	case m.cheap[subjectOf(f)] && f.Severity >= finding.Medium:
		return "a setting of its host makes the VM wide, and is the cure without downtime of each VM; --allow better takes this one: " + words.Lower(f.Advice)
	case m.cheap[subjectOf(f)]:
		return "it costs less than the downtime of its cure; --allow better takes it: " + words.Lower(f.Advice)
	case f.Advice == "":
		return "nothing has to change"
	case f.VMID == "" && f.Cure() != nil && !m.o.Host:
		return "options of hosts are changed with --allow host only: " + words.Lower(f.Advice)
	case f.VMID == "":
		return "change the host by hand: " + words.Lower(f.Advice)
	case p != nil && f.Planned() && len(p.Edits) == 0:
		return "nothing has to change; --allow better makes it tidier: " + strings.Join(p.Better, ", ")
	case seen():
		return "it was observed, and no setting is known to cause it: " + words.Lower(f.Advice)
	case m.edits[id] != nil && f.Planned():
		return "it stays after the change: " + words.Lower(f.Advice)
	}
	return "decide this by hand: " + words.Lower(f.Advice)
}

// isLess reports whether a finding is less severe after the change.
func (m *maker) isLess(f *finding.Finding) bool {
	_, is := m.less[subjectOf(f)]
	return is
}

// together reports whether two VMs serve one purpose, as the patterns say.
func together(a, b *Target, apart []string) bool {
	return slices.ContainsFunc(apart, func(text string) bool {
		g := glob.Compile([]string{text}, "")
		return g.Match(a.Name) && g.Match(b.Name)
	})
}

// batch gives every change its batch: hosts one by one, then cluster by cluster at most AtOnce VMs, never two of one
// pattern of Apart, nor two that DRS keeps apart.
func (p *Plan) batch() {
	of := map[string][]int{}
	for i, g := range p.apart {
		for _, id := range g {
			of[id] = append(of[id], i)
		}
	}
	n := 0
	var in []*Target
	for i := range p.Changes {
		c := &p.Changes[i]
		t := c.Target()
		clash := func(o *Target) bool {
			return o.Cluster != t.Cluster || together(o, t, p.Asked.Apart) ||
				slices.ContainsFunc(of[o.ID], func(g int) bool { return slices.Contains(of[t.ID], g) })
		}
		if n == 0 || c.VM == nil || p.Changes[i-1].VM == nil || len(in) >= p.Asked.AtOnce || slices.ContainsFunc(in, clash) {
			n, in = n+1, nil
		}
		c.Batch, in = n, append(in, t)
	}
}

// set reports whether the plan is about what was asked for, not about findings.
func (m *maker) set() bool { return m.o.Set != nil || m.o.DRS != nil }
