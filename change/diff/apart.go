package diff

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
)

// Options control the comparison of fleets.
type Options struct {
	// Judge assesses a fleet with the rules that A and B were assessed with. If it is set,
	// differences that exist only because one side lacks facts are reported separately: an
	// RVTools export of last month compared with today's vCenter is not drift. nil counts every
	// difference: a what-if adds facts.
	Judge func(*numa.Fleet) (*rules.Result, error)
	// Filter selects the VMs, hosts and findings that are compared: those that it matches in A
	// or in B, so that a VM that leaves a folder does not count as gone. nil compares
	// everything.
	Filter *filter.Filter
}

// Compare compares two assessed fleets. VMs and hosts are matched by ID, then by UUID, then by
// cluster and name where these are unique. It returns an error if the filter matches nothing in
// either fleet, or if the context ends.
func Compare(ctx context.Context, a, b *rules.Result, o Options) (*Drift, error) {
	vms, hosts := matchVMs(a.Fleet, b.Fleet), matchHosts(a.Fleet, b.Fleet)
	shown, err := show(ctx, a, b, o.Filter, vms, hosts)
	if err != nil {
		return nil, err
	}
	d := shown.compare(a, b)
	if o.Judge == nil {
		return d, nil
	}
	// Assess both sides again with the facts of either. Differences that remain are drift; the
	// others were missing facts.
	fa, fb := *a.Fleet, *b.Fleet
	fa.VMs, fb.VMs, fa.Hosts, fb.Hosts = slices.Clone(fa.VMs), slices.Clone(fb.VMs), slices.Clone(fa.Hosts), slices.Clone(fb.Hosts)
	shared := 0
	for _, p := range vms.pairs {
		va, vb := &fa.VMs[p[0]], &fb.VMs[p[1]]
		shared += share(&va.Config, &vb.Config)
		if seenApart(va, vb) {
			d.OneSided++
			shared++
		}
	}
	for _, p := range hosts.pairs {
		if x, y := &fa.Hosts[p[0]], &fb.Hosts[p[1]]; !x.Cores.Known() || !y.Cores.Known() || x.Cores.Value == y.Cores.Value {
			shared += share(x, y) // nodes of another machine would not be those of this one
		}
	}
	if shared == 0 {
		return d, nil
	}
	ja, err := o.Judge(&fa)
	if err != nil {
		return nil, err
	}
	jb, err := o.Judge(&fb)
	if err != nil {
		return nil, err
	}
	known := shown.compare(ja, jb)
	known.setApart(d)
	known.A, known.B, known.InA, known.InB, known.OneSided = d.A, d.B, d.InA, d.InB, d.OneSided
	return known, nil
}

// parts are the compared parts of two fleets.
type parts struct {
	filter *filter.Filter // nil: everything
	a, b   filter.Shown
}

// show applies the filter to two fleets: an object that it matches in one is included in both.
func show(ctx context.Context, a, b *rules.Result, f *filter.Filter, vms, hosts *pairs) (*parts, error) {
	p := &parts{filter: f}
	if f == nil {
		return p, nil
	}
	var inA, inB error
	p.a, inA = f.Shown(ctx, a)
	p.b, inB = f.Shown(ctx, b)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if inA != nil && inB != nil {
		return nil, inA
	}
	for _, at := range vms.pairs {
		both(p.a.VMs, p.b.VMs, a.Fleet.VMs[at[0]].ID, b.Fleet.VMs[at[1]].ID)
	}
	for _, at := range hosts.pairs {
		both(p.a.Hosts, p.b.Hosts, a.Fleet.Hosts[at[0]].ID, b.Fleet.Hosts[at[1]].ID)
	}
	return p, nil
}

func both(a, b map[string]bool, inA, inB string) {
	if a[inA] || b[inB] {
		a[inA], b[inB] = true, true
	}
}

// compare compares the parts of the two results. Hosts that are included only because of their
// VMs are not compared.
func (p *parts) compare(a, b *rules.Result) *Drift {
	if p.filter == nil {
		return compareAll(a, b, func(*numa.Host, bool) bool { return true })
	}
	return compareAll(p.filter.Part(a, p.a), p.filter.Part(b, p.b), func(h *numa.Host, inB bool) bool {
		if inB {
			return p.b.Hosts[h.ID]
		}
		return p.a.Hosts[h.ID]
	})
}

// share copies each fact that one side has and the other lacks, or only assumes, to the other,
// and returns the number of copied facts. Both arguments are pointers to structs of facts.
func share(a, b any) (shared int) {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		from, to := x.Field(i), y.Field(i)
		if from.Kind() != reflect.Struct {
			continue
		}
		origin := func(f reflect.Value) numa.Origin { return f.FieldByName("Origin").Interface().(numa.Origin) }
		if stated(origin(to)) {
			from, to = to, from
		}
		if !stated(origin(from)) || stated(origin(to)) {
			continue
		}
		o := origin(from)
		o.Where = strings.TrimPrefix(o.Where+", stated on the other side only", ", ")
		to.Set(from)
		to.FieldByName("Origin").Set(reflect.ValueOf(o))
		shared++
	}
	return shared
}

// seenApart removes the observations whose observer saw the VM on one side only, and reports whether there are any: they say nothing about the other side.
func seenApart(a, b *numa.VM) bool {
	common := func(all, other []numa.Observation) []numa.Observation {
		return slices.DeleteFunc(slices.Clone(all), func(o numa.Observation) bool {
			return !slices.ContainsFunc(other, func(p numa.Observation) bool { return p.By == o.By })
		})
	}
	all := len(a.Observed) + len(b.Observed)
	a.Observed, b.Observed = common(a.Observed, b.Observed), common(b.Observed, a.Observed)
	return len(a.Observed)+len(b.Observed) < all
}

func stated(o numa.Origin) bool { return o.Kind == numa.Read || o.Kind == numa.Derived }

// setApart adds the differences in raw, which compares each side by its own facts, that are not
// in d.
func (d *Drift) setApart(raw *Drift) {
	at := map[string]int{}
	for i := range d.VMs {
		at[d.VMs[i].B.ID] = i
	}
	inA, inB := judged(d.A), judged(d.B)
	for i := range raw.VMs {
		v := raw.VMs[i]
		k, is := at[v.B.ID]
		if v.Verdict == Unchanged || is && d.VMs[k].Verdict != Unchanged {
			continue
		}
		names := v.oneSided
		if a, b := *v.A, *v.B; seenApart(&a, &b) {
			names = append(slices.Clone(names), "observations")
		}
		if names == nil {
			names = []string{"facts of its cluster"}
		}
		v.Verdict, v.Apart = Other, true
		d.verdicts[v.ID] = Other
		v.Why = slices.DeleteFunc(v.Why, func(s string) bool { return strings.HasPrefix(s, onOneSide) })
		v.Why = append([]string{onOneSide + strings.Join(words.Texts(names, numa.Title), ", ")}, v.Why...)
		if is {
			d.VMs[k] = v
		} else {
			d.VMs = append(d.VMs, v)
		}
		d.Other++
		if inA[v.A.ID] != nil || inB[v.B.ID] != nil {
			d.Unchanged--
		}
	}
	d.sort()
	has := map[string]bool{}
	for i := range d.Findings {
		has[d.Findings[i].name()] = true
	}
	for _, f := range raw.Findings {
		if !has[f.name()] {
			d.Told = append(d.Told, f)
		}
	}
}

// onOneSide begins the reason of a VM that differs only because one side lacks facts.
const onOneSide = "known on one side only: "

// name identifies a finding among those that differ.
func (f *Finding) name() string {
	of := f.Of()
	return fmt.Sprint(of.Rule, "\n", of.Topic, "\n", of.VMID, "\n", of.HostID, "\n", of.Subject(), f.A == nil, f.B == nil)
}

// TellsB reports whether B has the finding, or a more severe one: B knows more.
func (f *Finding) TellsB() bool { return f.Worsens(finding.Info) }
