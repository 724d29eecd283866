package whatif

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"example.org/homenode/change/diff"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A Result compares the changed fleet with today's: A is today's, B is the changed one.
type Result struct {
	*diff.Drift
	Changes  []Effect   `json:"changes"`
	Capacity []Capacity `json:"capacity,omitempty"` // clusters whose hosts or VMs change in size
	Crowd    Crowd      `json:"-"`
	// Whole is the changed fleet, whatever a filter shows of it in B.
	Whole *numa.Fleet `json:"-"`
}

// A Crowd is the VMs that go to hosts that then lack memory for their VMs.
type Crowd struct {
	VMs  int
	Over numa.Bytes // that these hosts lack
}

// Judge assesses a fleet as it is and after the changes; the filter selects the objects that are compared, nil for all. It
// returns an error if no VM can be assessed, or if the context ends. known is the assessment of the fleet without observations,
// with the same options; nil if there is none. Clusters that the changes do not affect are not assessed again.
func Judge(ctx context.Context, known *rules.Result, f *numa.Fleet, changes []Change, o rules.Options, shown *filter.Filter) (*Result, error) {
	changed, effects, err := Apply(ctx, f, changes, o.Choices)
	if err != nil {
		return nil, err
	}
	if known == nil {
		if known, err = rules.RunContext(ctx, Unobserved(f), o); err != nil {
			return nil, err
		}
	}
	about := map[string]bool{}
	for i := range effects {
		maps.Copy(about, effects[i].in)
	}
	then, err := known.Changed(ctx, changed, about, o)
	if err != nil {
		return nil, err
	}
	d, err := diff.Compare(ctx, known, then, diff.Options{Filter: shown})
	if err != nil {
		return nil, err
	}
	if d.A.VMs == 0 && len(f.VMs) > d.A.Templates {
		return nil, fmt.Errorf("none of %s could be judged: see the notes of assess without a what-if", words.Plural(len(f.VMs)-d.A.Templates, "VM"))
	}
	all := d // capacity counts VMs that are not shown, too
	if shown != nil {
		if all, err = diff.Compare(ctx, known, then, diff.Options{}); err != nil {
			return nil, err
		}
	}
	stopped := Idle(then)
	for i := range all.VMs {
		if v := &all.VMs[i]; v.Stops() {
			stopped[v.ID] = cmp.Or(placeOf(v.To.VM), placeOf(v.From.VM)) // where it moves to
		}
	}
	idle := Idle(known)
	r := &Result{Drift: d, Changes: effects, Capacity: Capacities(known.Fleet, changed, idle, stopped), Whole: changed}
	if known.Fleet.LoadUnknown() == "" {
		r.overfilled(supplies(known.Fleet, idle), supplies(changed, stopped))
	}
	return r, nil
}

// Idle returns, by ID, the VMs that do not power on, with the ID of the capacity that they would use.
func Idle(r *rules.Result) map[string]string {
	out := map[string]string{}
	for v := range r.Idle() {
		out[v.ID] = placeOf(v)
	}
	return out
}

// placeOf returns the ID of the capacity that has the VM; "" if none has.
func placeOf(v *rule.VM) string {
	switch {
	case v == nil:
		return ""
	case v.Host != nil:
		return cmp.Or(v.Host.Cluster, "host "+v.Host.ID)
	}
	return v.Cluster
}

// overfilled marks the VMs as worse that move to, or grow on, a host whose VMs then have more memory than it has for them.
func (r *Result) overfilled(before, after map[string]Supply) {
	on := map[string]numa.Bytes{}
	r.Worsen(func(v *diff.VM) string {
		was, is := before["host "+v.B.Host], after["host "+v.B.Host]
		beyond := is.Over()
		goes := v.A.Host != v.B.Host
		if beyond <= was.Over() || !v.B.MayRun() || !goes && v.A.Memory.Value >= v.B.Memory.Value {
			return ""
		}
		if goes {
			r.Crowd.VMs, on[v.B.Host] = r.Crowd.VMs+1, beyond
		}
		return fmt.Sprintf("%s beyond the memory of its host", beyond)
	})
	for _, beyond := range on {
		r.Crowd.Over += beyond
	}
}

// Worsens reports whether findings of this severity or more are new or worse, VMs can no longer run or are worse by that much, or capacity is short.
// Existing findings do not count.
func (r *Result) Worsens(least finding.Severity) bool {
	findings, stopped, worse := r.Drift.Worsens(least)
	return findings+stopped+worse > 0 || Short(r.Capacity) != nil
}
