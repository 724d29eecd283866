// Package upgrade reports the VMs that change when hosts get another release, or VMs another virtual hardware version, and the settings to make
// first.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/fix"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// An Ask is an upgrade.
type Ask struct {
	Cluster  string       // pattern of names; "" for the whole fleet
	Release  numa.Release // of the hosts; 0: no change
	Hardware int          // of the VMs; 0: no change
}

// A Result lists the changes by the upgrade.
type Result struct {
	Source   string        `json:"source"`
	Cluster  string        `json:"cluster,omitempty"`
	Release  string        `json:"release,omitempty"`
	Hardware int           `json:"hardware,omitempty"`
	Judged   int           `json:"judged"`  // number of assessed VMs
	Layouts  int           `json:"layouts"` // VMs that get another layout
	Worse    int           `json:"worse"`   // VMs that are worse off
	VMs      []VM          `json:"vms"`     // with another layout or worse off, worse ones first
	Meanings []Concern     `json:"meanings"`
	First    []First       `json:"first"` // settings to make before, so that no VM is worse off
	Left     []fix.Left    `json:"left"`  // regressions without a fix
	Hosts    []HostFinding `json:"hosts"` // new or more severe findings of hosts
	Newer    int           `json:"newer"` // VMs that already have the hardware version, or a later one, and do not change
	Held     []string      `json:"held"`  // VMs that cannot get the hardware version, because their host does not support it afterwards

	Through []Through        `json:"through"` // hosts that need an intermediate release
	Dropped []whatif.Dropped `json:"dropped"` // hosts that keep their release

	Drift *diff.Drift `json:"-"`

	stops []fix.Left // VMs that some host no longer powers on
}

// Through is an intermediate release for hosts on the way to the requested one.
type Through struct {
	Hosts   []string `json:"hosts"`
	From    string   `json:"from"`
	Release string   `json:"release"`
}

// through groups the hosts that are upgraded in steps, by their release.
func through(before, after *numa.Fleet) []Through {
	out := []Through{}
	for i := range after.Hosts {
		from, to := before.Hosts[i].Release, after.Hosts[i].Release
		via, needed := from.Value.Through(to.Value)
		if !from.Known() || !needed {
			continue
		}
		k := slices.IndexFunc(out, func(t Through) bool { return t.From == from.Value.String() })
		if k < 0 {
			k = len(out)
			out = append(out, Through{From: from.Value.String(), Release: via.String()})
		}
		out[k].Hosts = append(out[k].Hosts, before.Hosts[i].Name)
	}
	return out
}

// A HostFinding is a finding of a host, or of a cluster, that the upgrade causes.
type HostFinding struct {
	Host    string `json:"host,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	Rule    string `json:"rule"`
	Level   string `json:"severity"`
	Text    string `json:"message"`
}

// A VM gets another layout on some kind of host.
type VM struct {
	Name    string   `json:"vm"`
	ID      string   `json:"id"`
	Cluster string   `json:"cluster"`
	Verdict string   `json:"verdict"` // better, worse, other, or unknown where the size that its last power-on stored decides and is not stated
	On      []On     `json:"on"`      // hosts where the layout differs
	New     []string `json:"new"`     // findings that are new or more severe: "N021 (low)"
}

// First lists the edits of a VM before its first power cycle after the upgrade.
type First struct {
	VM    string      `json:"vm"`
	ID    string      `json:"id"`
	Edits []numa.Edit `json:"edits"`
	Cures []string    `json:"cures"` // rules
	// Brings are the new findings that it causes, less severe than those that it fixes: "N021 (low): …".
	Brings []string `json:"brings"`
}

// On is the layout on hosts of one kind.
type On struct {
	Hosts  []string      `json:"hosts"`
	Before *vnuma.Layout `json:"before"`
	After  *vnuma.Layout `json:"after"`
}

// Study compares the fleet after the upgrade and a power cycle of each VM with today's. known is its assessment without observations, with the
// same options; nil for none.
func Study(ctx context.Context, known *rules.Result, f *numa.Fleet, a Ask, o rules.Options) (*Result, error) {
	changes, err := a.changes()
	if err != nil {
		return nil, err
	}
	both, err := whatif.Judge(ctx, known, f, changes, o, nil)
	if err != nil {
		return nil, err
	}
	today, later, after := both.A, both.B, both.B.Fleet
	r := &Result{Source: f.Source, Cluster: a.Cluster, Hardware: a.Hardware, VMs: []VM{}, Meanings: concerns(f, after, o.Choices), First: []First{}, Left: []fix.Left{}, Hosts: []HostFinding{}, Held: []string{}, Through: through(f, after), Dropped: []whatif.Dropped{}, Drift: both.Drift}
	for i := range both.Changes {
		r.Dropped = append(r.Dropped, both.Changes[i].Dropped...)
	}
	if err := a.possible(f, after, r.Dropped); err != nil {
		return nil, err
	}
	if a.Release != 0 {
		r.Release = a.Release.String()
	}
	about := map[string]bool{}
	for v := range r.About() {
		about[v.ID] = true
	}
	r.Judged = len(about)
	for i := range f.VMs {
		v, w := &f.VMs[i], &after.VMs[i]
		if !about[v.ID] {
			continue
		}
		home := slices.IndexFunc(after.Hosts, func(h numa.Host) bool { return h.ID == w.Host })
		switch {
		case a.Hardware > 0 && v.Hardware.Value >= a.Hardware && w.Hardware == v.Hardware:
			r.Newer++
		case w.Hardware.Value != v.Hardware.Value && home >= 0 && after.Hosts[home].Release.Known() && !after.Hosts[home].Release.Value.Runs(a.Hardware):
			r.Held = append(r.Held, v.Name)
		}
	}
	r.layouts(today, later)
	return r, r.first(ctx, after, o)
}

// About yields the assessed VMs of the requested clusters.
func (r *Result) About() iter.Seq[*numa.VM] {
	of := glob.Compile(strings.Split(r.Cluster, ","), "")
	return func(yield func(*numa.VM) bool) {
		for _, c := range r.Drift.A.Clusters {
			for i := range c.VMs {
				if (r.Cluster == "" || of.Match(c.Name)) && !yield(c.VMs[i].VM) {
					return
				}
			}
		}
	}
}

// possible returns an error for an upgrade that changes nothing, and for hardware that no host supports afterwards.
func (a *Ask) possible(before, after *numa.Fleet, dropped []whatif.Dropped) error {
	hosts, vms, runs, top := len(dropped) > 0, false, a.Hardware == 0, numa.Release(0)
	in := map[string]bool{}
	for i := range after.VMs {
		if after.VMs[i].Hardware.Value != before.VMs[i].Hardware.Value {
			vms, in[after.VMs[i].Cluster], in[after.VMs[i].Host] = true, true, true
		}
	}
	for i := range after.Hosts {
		h := &after.Hosts[i]
		hosts = hosts || h.Release.Value != before.Hosts[i].Release.Value
		if a.Hardware > 0 && (in[h.ID] || h.Cluster != "" && in[h.Cluster]) && h.Release.Known() {
			runs, top = runs || h.Release.Value.Runs(a.Hardware), max(top, h.Release.Value)
		}
	}
	switch {
	case a.Release != 0 && a.Hardware == 0 && !hosts:
		return fmt.Errorf("found %s: every host has that release or a later one", a.Release)
	case a.Hardware != 0 && a.Release == 0 && !vms:
		return fmt.Errorf("found hardware %d: every VM has that version or a later one", a.Hardware)
	case !hosts && !vms:
		return errors.New("hosts and VMs have these versions or later ones: nothing is upgraded")
	case vms && !runs && top > 0:
		return fmt.Errorf("found hardware %d, and ESXi %s runs %d at most", a.Hardware, top, top.Hardware())
	}
	return nil
}

// changes returns the upgrade as changes of a what-if.
func (a *Ask) changes() ([]whatif.Change, error) {
	of := ""
	if strings.ContainsAny(a.Cluster, "\"\r\n") {
		return nil, fmt.Errorf("found cluster %q, want no quote and no line break", a.Cluster)
	}
	if a.Cluster != "" {
		of = `cluster="` + a.Cluster + `" `
	}
	var out []whatif.Change
	add := func(field, words string) error { // field is the origin of the settings
		c, err := whatif.ParseAt("--"+field, 1, of+words)
		out = append(out, c)
		return err
	}
	if a.Release != 0 {
		if err := add("release", "release="+strings.ReplaceAll(a.Release.String(), " ", "")); err != nil {
			return nil, err
		}
	}
	if a.Hardware != 0 { // all older VMs, in the same way as the release of all older hosts
		if err := add("hardware", "hw="+strconv.Itoa(a.Hardware)); err != nil {
			return nil, err
		}
	}
	if out == nil {
		return nil, errors.New("want a release, a virtual hardware version, or both")
	}
	return out, nil
}

// layouts lists the VMs whose layout differs on some host, or that are worse off.
func (r *Result) layouts(today, later *rules.Result) {
	drift, found, harmed := numa.ByKey(r.Drift.VMs, func(v *diff.VM) string { return v.ID }), map[string][]string{}, r.Drift.Harmed(finding.Medium)
	for i := range r.Drift.Findings {
		if f := &r.Drift.Findings[i]; f.Worsens(finding.Info) {
			found[f.B.VMID] = append(found[f.B.VMID], fmt.Sprintf("%s (%s)", f.B.Rule, f.B.Severity))
			if f.B.VMID == "" && f.B.Severity > finding.Info {
				r.Hosts = append(r.Hosts, HostFinding{f.B.Host, f.B.Cluster, f.B.Rule, f.B.Severity.String(), f.B.Message})
			}
		}
	}
	after := map[string]*rule.VM{}
	for _, c := range later.Clusters {
		for _, v := range c.VMs {
			after[v.ID] = v
		}
	}
	for _, c := range today.Clusters {
		for _, v := range c.VMs {
			w, d := after[v.ID], drift[v.ID]
			if w == nil {
				continue
			}
			one := VM{Name: v.Name, ID: v.ID, Cluster: c.Title(), On: append([]On{}, changed(v, w)...), New: append([]string{}, found[v.ID]...)}
			switch own := d != nil && d.Verdict != diff.Unchanged; {
			case harmed[v.ID] && !(own && d.Verdict == diff.Better):
				one.Verdict = diff.Worse.String()
			case own && d.Verdict != diff.Worse:
				one.Verdict = d.Verdict.String()
			case own || len(one.On) > 0: // by what is at most untidy, or on hosts that it may move to
				one.Verdict = elsewhere(one.On).String()
			default:
				continue
			}
			if one.Verdict != diff.Worse.String() && sizeDecides(v, w, later.Choices) {
				one.Verdict = Unknown
			}
			if len(one.On) > 0 {
				r.Layouts++
			}
			if off, why := r.stopped(one.On); off != nil {
				r.stops = append(r.stops, fix.Left{VM: v.Name, ID: v.ID, Severity: finding.High.String(), Why: "it does not power on on " + words.Few(off) + " afterwards: " + why})
				one.Verdict = diff.Worse.String()
			}
			if one.Verdict == diff.Worse.String() {
				r.Worse++
			}
			if len(one.On) > 0 || one.Verdict == diff.Worse.String() {
				r.VMs = append(r.VMs, one)
			}
		}
	}
	rank := []string{diff.Worse.String(), Unknown, diff.Better.String()}
	slices.SortStableFunc(r.VMs, func(a, b VM) int { return place(rank, a.Verdict) - place(rank, b.Verdict) })
}

// Unknown is the verdict for a VM whose layout afterwards follows from a size that is not stated.
const Unknown = "unknown"

// sizeDecides reports whether v runs as far as is known, so that its last power-on stored a size (B-8), the source has none, and w has another layout on some host with it.
func sizeDecides(v, w *rule.VM, ch vnuma.Choices) bool {
	_, stated := v.Settings.Value.Lookup(numa.StoredKey)
	stored := v.On[0].Layout.Stored
	if stated || !v.MayRun() || v.Planned != nil || v.Home == nil || !stored.Written {
		return false
	}
	then := *w.VM
	then.AssumeStored(stored.Size, stored.Cookie)
	g, _, err := vnuma.NewGuest(&then)
	return err == nil && slices.ContainsFunc(w.On, func(o rule.On) bool {
		l := vnuma.Predict(&g, &o.Kind.Machine, &vnuma.Case{Choices: ch})
		return rule.Short(&l) != rule.Short(&o.Layout)
	})
}

func place(rank []string, word string) int {
	if i := slices.Index(rank, word); i >= 0 {
		return i
	}
	return len(rank)
}

// elsewhere is the verdict for a VM that does not change on its own host, by the layouts on the hosts that it may move to.
func elsewhere(on []On) diff.Verdict {
	out := diff.Other
	for i := range on {
		switch n := on[i].After.Compare(on[i].Before); {
		case n > 0:
			return diff.Worse
		case n < 0:
			out = diff.Better
		}
	}
	return out
}

// changed returns the kinds of hosts on which a VM gets another layout.
func changed(v, w *rule.VM) (out []On) {
	later := map[string]*vnuma.Layout{}
	for _, on := range [][]rule.On{w.On, w.Refused} {
		for i := range on {
			for _, h := range on[i].Kind.Hosts {
				later[h.ID] = &on[i].Layout
			}
		}
	}
	for _, on := range [][]rule.On{v.On, v.Refused} {
		for i := range on {
			o := &on[i]
			to := later[o.Kind.Hosts[0].ID]
			if to != nil && rule.Short(to) != rule.Short(&o.Layout) {
				out = append(out, On{o.Kind.HostNames(), &o.Layout, to})
			}
		}
	}
	return out
}

// hostsFirst begins the reason of a VM whose hosts are too old.
const hostsFirst = "upgrade these hosts first, "

// stopped returns the hosts that power a VM on before the upgrade and not afterwards, and the reason on the first of them.
func (r *Result) stopped(on []On) (hosts []string, why string) {
	for i := range on {
		if !on[i].Before.Refused.Any() && on[i].After.Refused.Any() {
			hosts = append(hosts, on[i].Hosts...)
			if why == "" {
				why = on[i].After.Refused.String()
			}
			stays := slices.ContainsFunc(r.Dropped, func(d whatif.Dropped) bool { return slices.Contains(on[i].Hosts, d.Host) })
			if on[i].After.Refused.ByRelease() && !stays && !strings.HasPrefix(why, hostsFirst) {
				why = hostsFirst + why
			}
		}
	}
	return hosts, why
}

// first plans the edits for the VMs that are worse off.
func (r *Result) first(ctx context.Context, after *numa.Fleet, o rules.Options) error {
	var worse []string
	for i := range r.VMs {
		if v := &r.VMs[i]; v.Verdict == diff.Worse.String() {
			worse = append(worse, v.ID)
		}
	}
	if worse == nil {
		return nil
	}
	shown, err := filter.New(filter.Options{VMs: worse})
	if err != nil {
		return err
	}
	p, err := fix.Make(ctx, after, fix.Options{Rules: o, Filter: shown, Cycled: true, Now: time.Time{}})
	if err != nil {
		return err
	}
	for i := range p.Changes {
		if c := &p.Changes[i]; r.needs(c) {
			r.First = append(r.First, First{VM: c.Target().Name, ID: c.Target().ID, Edits: c.Edits, Cures: slices.Concat([]string{}, c.Findings, c.Eases), Brings: append([]string{}, c.Brings...)})
		}
	}
	told := map[string]bool{}
	for i := range r.First {
		told[r.First[i].ID] = true
	}
	off := map[string]bool{}
	for _, l := range r.stops {
		if off[l.ID] = !told[l.ID]; off[l.ID] {
			r.Left = append(r.Left, l)
		}
	}
	for _, l := range p.Left {
		low := l.Severity == "" || l.Severity == finding.Info.String() || l.Severity == finding.Low.String()
		if !off[l.ID] && (!low || !told[l.ID] && r.brought(l.ID, l.Rule)) { // cosmetic issues that exist today are not caused by the upgrade
			l.Why = strings.Replace(l.Why, "--allow better makes it tidier: ", "tidier: ", 1)
			r.Left = append(r.Left, l)
		}
	}
	return nil
}

// needs reports whether the upgrade requires a change: it fixes or mitigates an effect of the upgrade. Existing issues are not caused by the
// upgrade.
func (r *Result) needs(c *fix.Change) bool {
	i := slices.IndexFunc(r.VMs, func(v VM) bool { return v.ID == c.Target().ID })
	if i < 0 || len(r.VMs[i].New) == 0 { // its layouts are worse
		return true
	}
	return slices.ContainsFunc(slices.Concat(c.Findings, c.Eases), func(cured string) bool {
		rule, _, _ := strings.Cut(cured, " ")
		return r.brought(c.Target().ID, rule)
	})
}

// brought reports whether the upgrade causes a finding of the rule for the VM.
func (r *Result) brought(id, rule string) bool {
	i := slices.IndexFunc(r.VMs, func(v VM) bool { return v.ID == id })
	return i >= 0 && slices.ContainsFunc(r.VMs[i].New, func(text string) bool { return strings.HasPrefix(text, rule+" (") })
}
