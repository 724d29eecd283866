// Package verify says of a plan that was carried out whether it is written, in effect, and helped: the journal beside the VMs
// as they are now, and what was counted before and after.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/change/fix"
	"homenode/change/fix/apply"
	"homenode/change/fix/journal"
	"homenode/measure/effect"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/serve/reader"
)

// Input is what a verdict rests on.
type Input struct {
	Lines   []journal.Line
	Journal string
	States  map[string]numa.State                    // of the VMs of the plan, by ID
	Now     time.Time                                // by our clock, when States were read
	Server  time.Time                                // by the vCenter's
	Fleet   *rules.Result                            // as it is now, with what was seen
	Options func(host string) (numa.Settings, error) // of hosts, by ID
	// History reads what was counted of the VMs of clusters; nil when nothing is asked for it.
	History func(ctx context.Context, clusters []string, from, to time.Time) (map[string][]reader.Look, error)
	Zone    *time.Location
}

// Run judges the last run of a journal.
func Run(ctx context.Context, in Input) (*effect.Verdict, error) {
	p, _ := apply.Remember(in.Lines)
	written := apply.Written(in.Lines)
	v := &effect.Verdict{Plan: p.ID, Journal: in.Journal, Checks: []effect.Check{}}
	ahead := time.Duration(0)
	if !in.Server.IsZero() {
		ahead = in.Server.Sub(in.Now)
	}
	effective := map[string]time.Time{}
	for i := range p.Changes {
		c := &p.Changes[i]
		w, ok := written[c.Target().ID]
		if !ok {
			continue
		}
		check := effect.Check{ID: c.Target().ID, Name: c.Target().Name}
		if x := c.Expects; x != nil {
			check.Measure, check.From, check.To = x.Measure, x.From, x.To
		}
		if c.VM == nil {
			in.host(c, &check)
		} else {
			at := in.vm(c, &check, w, ahead)
			if check.InEffect == effect.Yes {
				effective[c.VM.ID] = at
			}
		}
		v.Checks = append(v.Checks, check)
	}
	if in.History == nil {
		v.NoSamples = "no samples were named: --query-url says where N%L and ready time were kept"
	} else if err := in.measure(ctx, v, p, written, effective); err != nil {
		return nil, err
	}
	v.Conclude()
	return v, nil
}

// host checks the options of a host.
func (in *Input) host(c *fix.Change, check *effect.Check) {
	check.Written, check.InEffect = effect.Yes, effect.Yes
	set, err := in.Options(c.Target().ID)
	if err != nil {
		check.Written, check.InEffect, check.Why = effect.Unknown, effect.Unknown, err.Error()
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

// vm checks a VM, and returns when its edits took effect.
func (in *Input) vm(c *fix.Change, check *effect.Check, w apply.Write, ahead time.Duration) time.Time {
	at := w.At
	st, there := in.States[c.VM.ID]
	if !there {
		check.Written, check.InEffect, check.Why = effect.Unknown, effect.Unknown, "it is no longer in the inventory"
		return at
	}
	if side, why := c.Compare(&st.VM.Config); side != fix.After {
		check.Written, check.InEffect, check.Why = effect.No, effect.No, cmp.Or(why, "it is as it was before the change")
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
	case st.Boot.IsZero():
		check.InEffect, check.Why = effect.Unknown, "when it was powered on is not known"
	case w.Cycled.IsZero() && boot.Before(at):
		check.InEffect, check.Why = effect.Unknown, "no power cycle was seen since: it was powered on at "+st.Boot.UTC().Format(time.DateTime)
	default:
		check.Why = "a power cycle was seen at " + st.Boot.UTC().Format(time.DateTime)
		in.observed(c, check, &st)
	}
	return boot
}

// observed puts what was seen of the VM since beside what the plan predicts of the host where it runs.
func (in *Input) observed(c *fix.Change, check *effect.Check, st *numa.State) {
	for _, cl := range in.Fleet.Clusters {
		for _, v := range cl.VMs {
			if v.ID != c.VM.ID || v.Host == nil {
				continue
			}
			for _, l := range c.Layout {
				if !slices.Contains(l.Hosts, v.Host.Name) {
					continue
				}
				if text, ok := st.VM.Settings.Value.Lookup("numa.autosize.vcpu.maxPerVirtualNode"); ok && l.After.Stores > 0 {
					if want := fmt.Sprint(l.After.Stores); text != want {
						check.InEffect, check.Why = effect.No, fmt.Sprintf("ESXi stored %s vCPUs per virtual node, predicted were %s (%s)", text, want, l.After.Text)
						return
					}
					check.Why += ", and the size that ESXi stored is the predicted one"
				}
			}
			for i := range in.Fleet.Findings {
				f := &in.Fleet.Findings[i]
				if f.VMID == v.ID && (f.Rule == "N030" || f.Rule == "N031") {
					check.InEffect, check.Why = effect.No, f.Message
				}
			}
		}
	}
}

// The days before the first change that are read, and those after the last.
const window = effect.Window * 24 * time.Hour

// measure compares what was counted before and after.
func (in *Input) measure(ctx context.Context, v *effect.Verdict, p *fix.Plan, written map[string]apply.Write, effective map[string]time.Time) error {
	changes := map[string]*fix.Change{}
	var clusters []string
	var first time.Time
	for i := range p.Changes {
		c := &p.Changes[i]
		if w, ok := written[c.Target().ID]; ok && c.VM != nil {
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
	looks, err := in.History(ctx, slices.Compact(clusters), first.Add(-window), in.Now)
	if err != nil {
		return err
	}
	if len(looks) == 0 {
		v.NoSamples = "the database has nothing about the VMs of " + strings.Join(slices.Compact(clusters), ", ")
		return nil
	}
	var vms []effect.VM
	for _, cl := range in.Fleet.Clusters {
		for _, one := range cl.VMs {
			if list := looks[one.ID]; list != nil && slices.Contains(clusters, cl.Name) {
				vms = append(vms, in.series(one, cl.Name, list, changes[one.ID], written[one.ID].At, effective[one.ID]))
			}
		}
	}
	v.Measured = effect.Of(vms, mainMeasure(changes), in.Zone)
	return nil
}

// mainMeasure is what judges most of the changes: the share that is far where a layout hides nodes or shows them, else N%L.
func mainMeasure(changes map[string]*fix.Change) effect.Measure {
	far := 0
	for _, c := range changes {
		if c.Expects != nil && c.Expects.Measure == fix.MeasureFarShare {
			far++
		}
	}
	if 2*far >= len(changes) {
		return effect.FarShare
	}
	return effect.LocalPercent
}

// series returns what was counted of a VM as the numbers of days.
func (in *Input) series(v *rule.VM, cluster string, looks []reader.Look, c *fix.Change, at, effective time.Time) effect.VM {
	out := effect.VM{ID: v.ID, Name: v.Name, Cluster: cluster, VCPUs: int(v.Guest.VCPUs), Changed: at, Effective: effective, Days: map[string][]effect.Day{}}
	if st, ok := in.States[v.ID]; ok && !st.Boot.IsZero() {
		out.PowerOns = append(out.PowerOns, st.Boot)
	}
	kinds := map[string]string{}
	for _, o := range v.On {
		for _, name := range o.Kind.HostNames() {
			kinds[name] = o.Kind.Shape()
		}
	}
	samples := map[string][]effect.Sample{}
	add := func(m effect.Measure, t time.Time, n float64) {
		samples[m.Name] = append(samples[m.Name], effect.Sample{Time: t, Value: n})
	}
	for i := range looks {
		l := &looks[i]
		if n := len(out.Stays); n == 0 || out.Stays[n-1].Host != l.Host {
			out.Stays = append(out.Stays, effect.Stay{From: l.Time, Host: l.Host, Kind: kinds[l.Host]})
		}
		vcpus := float64(max(1, v.Guest.VCPUs))
		if all := l.Tick.Local + l.Tick.Remote; l.Counts.Memory && all > 0 {
			add(effect.LocalPercent, l.Time, float64(l.Tick.Local)/float64(all))
			add(effect.RemoteBytes, l.Time, float64(l.Tick.Remote))
			far := float64(l.Tick.Remote) / float64(all)
			if blind(v, c, l, effective) {
				far = uniform(l)
			}
			add(effect.FarShare, l.Time, far)
		}
		if l.Counts.Ready {
			add(effect.Ready, l.Time, l.Tick.Ready/vcpus)
		}
		if l.Counts.CoStop {
			add(effect.CoStop, l.Time, l.Tick.CoStop/vcpus)
		}
	}
	for _, m := range effect.Measures {
		out.Days[m.Name] = out.DaysOf(samples[m.Name], 2*reader.HistoryStep, in.Zone)
	}
	return out
}

// blind reports whether the guest saw one node while it ran on several, at that moment: by the plan for a VM that was changed,
// else by what is predicted now.
func blind(v *rule.VM, c *fix.Change, l *reader.Look, effective time.Time) bool {
	if c != nil {
		for _, e := range c.Layout {
			if slices.Contains(e.Hosts, l.Host) {
				is := e.Now
				if !effective.IsZero() && l.Time.After(effective) {
					is = e.After
				}
				return len(is.PPDs) > 1 && len(is.VPDs) <= 1
			}
		}
	}
	for i := range v.On {
		if slices.Contains(v.On[i].Kind.HostNames(), l.Host) {
			return v.On[i].Layout.Wide() && !v.On[i].Layout.GuestSeesNUMA()
		}
	}
	return false
}

// uniform is the share of accesses that go to another node than the vCPU's when each vCPU uses all memory alike, as one
// does whose guest sees one node: assumed. The clients are on the home nodes in equal parts.
func uniform(l *reader.Look) float64 {
	var all, near float64
	n := float64(max(1, l.Tick.Homes.Len()))
	for _, m := range l.Tick.OnNode {
		all += float64(m.Guest)
		if l.Tick.Homes.Has(m.Node) {
			near += float64(m.Guest) / n
		}
	}
	if all == 0 { // where the memory lies is not known: evenly
		return 1 - 1/n
	}
	return 1 - near/all
}
