package diff

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"homenode/numa"
	"homenode/rules"
	"homenode/rules/filter"
	"homenode/rules/finding"
)

// Options say how fleets are compared.
type Options struct {
	// Judge judges a fleet as A and B were. With it, what differs by nothing but facts
	// that one side alone knows is set apart: an RVTools export of last month beside
	// today's vCenter is no drift. nil takes every difference as one: a what-if makes
	// facts known.
	Judge func(*numa.Fleet) (*rules.Result, error)
	// Filter says which VMs, hosts and findings are compared: those that it shows in A or in
	// B, so that a VM that leaves a folder is not gone. nil compares everything.
	Filter *filter.Filter
}

// Compare compares two judged fleets. VMs and hosts are the same when their IDs are,
// else their UUIDs, else cluster and name where these are unique. It is an error when the
// filter shows nothing of either, and when the context ends.
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
	// Both sides once more with what either knows: what differs still is drift, what
	// does not differ any more was knowledge.
	fa, fb := *a.Fleet, *b.Fleet
	fa.VMs, fb.VMs, fa.Hosts, fb.Hosts = slices.Clone(fa.VMs), slices.Clone(fb.VMs), slices.Clone(fa.Hosts), slices.Clone(fb.Hosts)
	shared := 0
	for _, p := range vms.pairs {
		shared += share(&fa.VMs[p[0]].Config, &fb.VMs[p[1]].Config)
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

// parts are what is compared of two fleets.
type parts struct {
	filter *filter.Filter // nil: everything
	a, b   filter.Shown
}

// show returns what the filter shows of two fleets: what it shows of one is shown of both.
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

// compare compares the parts of the fleets, however these were judged. Hosts that are
// there for the sake of their VMs are not compared themselves.
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

// share gives each fact that one side states and the other does not, or only assumes,
// to the other, and returns how many there were. Both are pointers to structs of facts.
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

func stated(o numa.Origin) bool { return o.Kind == numa.Read || o.Kind == numa.Derived }

// setApart adds what differs in raw, where each side had its own facts, and not in d.
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
		if names == nil {
			names = []string{"facts of its cluster"}
		}
		v.Verdict, v.Apart = Other, true
		d.verdicts[v.ID] = Other
		v.Why = slices.DeleteFunc(v.Why, func(s string) bool { return strings.HasPrefix(s, onOneSide) })
		v.Why = append([]string{onOneSide + strings.Join(names, ", ")}, v.Why...)
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

// onOneSide begins the reason of a VM that differs by knowledge.
const onOneSide = "known on one side only: "

// name tells findings that differ from each other.
func (f *Finding) name() string {
	of := f.Of()
	return fmt.Sprint(of.Rule, "\n", of.Topic, "\n", of.VMID, "\n", of.HostID, "\n", of.Subject(), f.A == nil, f.B == nil)
}

// TellsB reports whether B has the finding, or a more severe one: B knows more.
func (f *Finding) TellsB() bool { return f.Worsens(finding.Info) }
