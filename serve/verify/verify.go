// Package verify checks whether an applied plan was written, is in effect, and helped: it compares the journal with the
// current VMs, and the counters before and after.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/measure/effect"
	"example.org/homenode/measure/quantity"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/serve/reader"
)

// Input is the basis of a verdict.
type Input struct {
	Lines   []journal.Line
	Journal string
	States  map[string]numa.State                    // of the VMs of the plan, by ID
	Now     time.Time                                // by our clock, when States were read
	Server  time.Time                                // by the vCenter's clock
	Fleet   *rules.Result                            // current, with observations
	Options func(host string) (numa.Settings, error) // of hosts, by ID
	// History reads the counters of the VMs in clusters; nil to skip it.
	History func(ctx context.Context, vcenter string, clusters []string, from, to time.Time) (map[string][]reader.Look, error)
	VCenter string // its name in the database
	Zone    *time.Location
}

// runOf returns the plan of a journal, the part of it that the run wrote, and its end, by ID. Of a run that was taken back, by however many rollbacks, it is the
// plan that takes all back.
func (in *Input) runOf() (p *fix.Plan, written map[string]apply.Write, ended map[string]apply.Result, err error) {
	if p, _ = apply.Remember(in.Lines); p.Undoes == "" {
		return p, apply.Written(in.Lines), apply.Ended(in.Lines), nil
	}
	back, err := apply.RollbackOf(in.Lines, nil)
	if err == nil {
		err = back.LeaveWritten(in.States, func(host, _ string) (numa.Settings, error) { return in.Options(host) })
	}
	return back.Plan, back.Back, back.Ended, err
}

// Run assesses the run of a journal, and of one that was taken back the rollbacks.
func Run(ctx context.Context, in Input) (*effect.Verdict, error) {
	p, written, ended, err := in.runOf()
	if err != nil {
		return nil, err
	}
	if p.Undoes == "" && len(p.Changes) > 0 && !slices.ContainsFunc(p.Changes, func(c fix.Change) bool { return touched(&c, written, ended) }) {
		c := p.Changes[0].Target()
		return nil, fmt.Errorf("%s: the run changed nothing, so there is nothing to verify (%s: %s)", in.Journal, c.Name, cmp.Or(ended[c.ID].Why, string(apply.NotBegun)))
	}
	v := &effect.Verdict{Plan: cmp.Or(p.Undoes, p.ID), Undo: p.Undoes != "", Journal: in.Journal, Checks: []effect.Check{}}
	not, before := "the run did not write it: ", "it is as it was before the change"
	if v.Undo {
		not, before = "it is not taken back: ", "it is as the run left it"
	}
	ahead := time.Duration(0)
	if !in.Server.IsZero() {
		ahead = in.Server.Sub(in.Now)
	}
	effective := map[string]time.Time{}
	for i := range p.Changes {
		c := &p.Changes[i]
		check := effect.Check{ID: c.Target().ID, Name: c.Target().Name, Cures: c.Findings}
		w, ok := written[c.Target().ID]
		if end := ended[c.Target().ID]; !ok && end.Outcome != apply.Already {
			check.Written, check.InEffect = effect.No, effect.No
			check.Why = not + string(cmp.Or(end.Outcome, apply.NotBegun))
			if v.Undo && end.Outcome == "" {
				check.Why = "no rollback has taken it back"
			}
			if end.Why != "" {
				check.Why += ", " + end.Why
			}
			v.Checks = append(v.Checks, check)
			continue
		}
		if x := c.Expects; x != nil {
			check.Measure, check.From, check.To = x.Measure, x.From, x.To
		}
		if c.VM == nil {
			in.host(c, &check)
		} else {
			at := in.vm(c, &check, w, ahead, before)
			if check.InEffect == effect.Yes {
				effective[c.VM.ID] = at
			}
		}
		v.Checks = append(v.Checks, check)
	}
	for _, l := range p.Left {
		if v.Undo { // a rollback leaves it as the run before it wrote it
			v.Checks = append(v.Checks, effect.Check{ID: l.ID, Name: cmp.Or(l.VM, l.Host), Written: effect.No, InEffect: effect.No, Why: "the rollback does not take it back: " + l.Why})
		}
	}
	if in.History == nil {
		v.NoSamples = "no samples were named: --query-url says where N%L and ready time were kept"
	} else if err := in.measure(ctx, v, p, written, effective, ahead); err != nil {
		return nil, err
	}
	v.Conclude()
	return v, nil
}

// touched reports whether the run changed something, found it as planned, or failed at it.
func touched(c *fix.Change, written map[string]apply.Write, ended map[string]apply.Result) bool {
	_, ok := written[c.Target().ID]
	switch ended[c.Target().ID].Outcome {
	case "", apply.NotBegun, apply.NeedsOff, apply.Refused, apply.Drift:
		return ok
	}
	return true
}

// host checks the options of a host.
func (in *Input) host(c *fix.Change, check *effect.Check) {
	check.Written, check.InEffect, check.Observed = effect.Yes, effect.Yes, true
	set, err := in.Options(c.Target().ID)
	if err != nil {
		check.Written, check.InEffect, check.Observed, check.Why = effect.Unknown, effect.Unknown, false, err.Error()
		return
	}
	for _, e := range c.Edits {
		is := numa.Value{}
		if text, ok := set.Lookup(e.Key); ok {
			is = numa.Is(text)
		}
		if !is.Same(e.To) {
			check.Written, check.InEffect, check.Why = effect.No, effect.No, fmt.Sprintf("%s is %s, not %s", e.Key, is, e.To)
		}
	}
}

// vm checks a VM, and returns the time at which its edits took effect; before is the reason where it has none of them.
func (in *Input) vm(c *fix.Change, check *effect.Check, w apply.Write, ahead time.Duration, before string) time.Time {
	at := w.At
	st, there := in.States[c.VM.ID]
	if !there {
		check.Written, check.InEffect, check.Why = effect.Unknown, effect.Unknown, "it is no longer in the inventory"
		return at
	}
	if side, why := c.Compare(&st.VM.Config); side != fix.After {
		check.Written, check.InEffect, check.Why = effect.No, effect.No, cmp.Or(why, before)
		return at
	}
	check.Written, check.InEffect = effect.Yes, effect.Yes
	if c.Needs() == numa.NeedsNothing {
		return at
	}
	boot := st.Boot.Add(-ahead) // by our clock
	switch {
	case st.VM.Power.Value != numa.PoweredOn:
		check.InEffect, check.Why = effect.Unknown, "it is off: the next power-on makes it take effect"
	case !w.Cycled.IsZero(): // the run itself observed it; vCenter forgets the boot time after a vMotion
		check.Why = "the run powered it off and on"
		in.observed(c, check, &st)
		return w.Cycled
	case st.Boot.IsZero():
		check.InEffect, check.Why = effect.Unknown, "when it was powered on is not known: vCenter forgets it at a vMotion"
	case boot.Before(at):
		check.InEffect, check.Why = effect.Unknown, "no power cycle was seen since: it was powered on at "+st.Boot.UTC().Format(time.DateTime)
	default:
		check.Why = "a power cycle was seen at " + st.Boot.UTC().Format(time.DateTime)
		in.observed(c, check, &st)
	}
	return boot
}

// observed compares the later observations of the VM with the plan's prediction for its current host.
func (in *Input) observed(c *fix.Change, check *effect.Check, st *numa.State) {
	v := in.find(c.VM.ID)
	if v == nil || v.Host == nil {
		return
	}
	e := c.On(v.Host.Name)
	if e == nil {
		check.InEffect = effect.Unknown
		check.Why += "; it runs on " + v.Host.Name + ", for which the plan predicts nothing"
		return
	}
	if text, ok := st.VM.Settings.Value.Lookup("numa.autosize.vcpu.maxPerVirtualNode"); ok && e.After.Stores > 0 {
		if want := fmt.Sprint(e.After.Stores); text != want {
			check.InEffect, check.Why = effect.No, fmt.Sprintf("ESXi stored %s vCPUs per virtual node, predicted were %s (%s)", text, want, e.After.Text)
			return
		}
		check.Observed = true
		check.Why += ", and the size that ESXi stored is the predicted one"
	}
	for i := range in.Fleet.Findings {
		f := &in.Fleet.Findings[i]
		if f.VMID == v.ID && (f.Rule == "N030" || f.Rule == "N031") {
			check.InEffect, check.Observed, check.Why = effect.No, false, f.Message
		}
	}
	if check.InEffect == effect.Yes && !check.Observed {
		check.Why += "; its layout was not seen"
	}
}

// find returns a VM of the current fleet.
func (in *Input) find(id string) *rule.VM {
	for v := range in.Fleet.EachVM() {
		if v.ID == id {
			return v
		}
	}
	return nil
}

// window is the period that is read before the first change and after the last.
const window = effect.Window * 24 * time.Hour

// measure compares the counters before and after.
func (in *Input) measure(ctx context.Context, v *effect.Verdict, p *fix.Plan, written map[string]apply.Write, effective map[string]time.Time, ahead time.Duration) error {
	changes := map[string]*fix.Change{}
	already := map[string]bool{} // nothing was written: when they changed is unknown, and they are no controls
	var clusters []string
	var first time.Time
	for i := range p.Changes {
		c := &p.Changes[i]
		w, ok := written[c.Target().ID]
		switch {
		case !ok || c.VM == nil:
		case w.At.IsZero():
			already[c.VM.ID] = true
		default:
			changes[c.VM.ID] = c
			clusters = append(clusters, c.VM.Cluster)
			if first.IsZero() || w.At.Before(first) {
				first = w.At
			}
		}
	}
	if len(changes) == 0 {
		v.NoSamples = "no VM was changed"
		return nil
	}
	slices.Sort(clusters)
	looks, err := in.History(ctx, in.VCenter, slices.Compact(clusters), first.Add(-window), in.Now)
	if err != nil {
		return err
	}
	if len(looks) == 0 {
		v.NoSamples = "the database has nothing of the vCenter " + in.VCenter + " about the VMs of " + strings.Join(slices.Compact(clusters), ", ")
		return nil
	}
	var vms []effect.VM
	for _, cl := range in.Fleet.Clusters {
		for _, one := range cl.VMs {
			if list := looks[one.ID]; list != nil && slices.Contains(clusters, cl.Name) && !already[one.ID] {
				if st := in.States[one.ID]; changes[one.ID] == nil && st.Boot.Add(-ahead).After(first) {
					continue // other changes at its power-on are unknown, so it is no control
				}
				vms = append(vms, in.series(one, cl.Name, list, changes[one.ID], written[one.ID].At, effective[one.ID], ahead))
			}
		}
	}
	v.Measured = effect.Of(vms, mainMeasure(changes), in.Zone)
	return nil
}

// mainMeasure returns the quantity that assesses most of the changes: N%L, or ready time if a guest starts to see previously
// hidden nodes. While it sees one node, all its memory counts as local.
func mainMeasure(changes map[string]*fix.Change) quantity.Quantity {
	shown := 0
	for _, c := range changes {
		if unlike(c) {
			shown++
		}
	}
	if 2*shown > len(changes) {
		return quantity.Ready
	}
	return quantity.LocalPercent
}

// unlike reports whether ESXi counts remote memory differently before and after the change: on some host, either before or
// after it, the guest sees one node while it runs on several.
func unlike(c *fix.Change) bool {
	blind := func(l *fix.Layout) bool { return len(l.PPDs) > 1 && len(l.VPDs) <= 1 }
	return slices.ContainsFunc(c.Layout, func(e fix.Effect) bool { return blind(&e.Now) != blind(&e.After) })
}

// series returns the counters of a VM as daily values.
func (in *Input) series(v *rule.VM, cluster string, looks []reader.Look, c *fix.Change, at, effective time.Time, ahead time.Duration) effect.VM {
	out := effect.VM{ID: v.ID, Name: v.Name, Cluster: cluster, VCPUs: int(v.Guest.VCPUs), Changed: at, Effective: effective, Days: map[string][]effect.Day{}}
	if st, ok := in.States[v.ID]; ok && !st.Boot.IsZero() {
		out.PowerOns = append(out.PowerOns, st.Boot.Add(-ahead))
	}
	kinds := map[string]string{}
	for _, o := range v.On {
		for _, name := range o.Kind.HostNames() {
			kinds[name] = o.Kind.Shape()
		}
	}
	samples := map[string][]effect.Sample{}
	add := func(m quantity.Quantity, t time.Time, n float64) {
		samples[m.Name] = append(samples[m.Name], effect.Sample{Time: t, Value: n})
	}
	for i := range looks {
		l := &looks[i]
		if n := len(out.Stays); n == 0 || out.Stays[n-1].Host != l.Host {
			out.Stays = append(out.Stays, effect.Stay{From: l.Time, Host: l.Host, Kind: kinds[l.Host]})
		}
		vcpus := float64(max(1, v.Guest.VCPUs))
		if all := l.Tick.Local + l.Tick.Remote; l.Counts.Local && l.Counts.Remote && all > 0 && (c == nil || !unlike(c)) {
			add(quantity.LocalPercent, l.Time, float64(l.Tick.Local)/float64(all))
			add(quantity.RemoteBytes, l.Time, float64(l.Tick.Remote))
		}
		if l.Counts.Ready {
			add(quantity.Ready, l.Time, l.Tick.Ready/vcpus)
		}
		if l.Counts.CoStop {
			add(quantity.CoStop, l.Time, l.Tick.CoStop/vcpus)
		}
	}
	for name, of := range samples {
		out.Days[name] = out.DaysOf(of, 2*reader.HistoryStep, in.Zone)
	}
	return out
}
