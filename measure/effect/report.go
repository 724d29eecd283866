package effect

import (
	"slices"
	"time"

	"example.org/homenode/measure/quantity"
)

// A Report has the result for the measure that a change was to improve, and results for possible harm.
type Report struct {
	Main   *Result   `json:"main"`
	Others []*Result `json:"others"` // the measures of Harm, for the changed VMs
	Beside []*Result `json:"beside"` // the same for unchanged VMs on the same hosts
	// ByChance is the expected number of results that are worse without any change: half of Level for each test.
	ByChance float64 `json:"worseByChance"`
}

// Worse returns the results with the answer Worse, Main first.
func (r *Report) Worse() (out []*Result) {
	for _, one := range slices.Concat([]*Result{r.Main}, r.Others, r.Beside) {
		if one.Answer == Worse {
			out = append(out, one)
		}
	}
	return out
}

// Of assesses the main measure and the harm.
func Of(vms []VM, main quantity.Quantity, zone *time.Location) *Report {
	r := &Report{Main: Judge(vms, main, zone)}
	for _, m := range quantity.Harm {
		if m != main {
			r.Others = append(r.Others, Judge(vms, m, zone))
		}
		r.Beside = append(r.Beside, Judge(beside(vms, m, zone), m, zone))
	}
	for _, one := range slices.Concat([]*Result{r.Main}, r.Others, r.Beside) {
		if one.Test != nil {
			r.ByChance += Level / 2
		}
	}
	return r
}

// beside returns the unchanged VMs. Those that share a host with a changed VM on at least half of their days after
// its change are returned as changed.
func beside(vms []VM, m quantity.Quantity, zone *time.Location) (out []VM) {
	type place struct {
		cluster, host string
		date          Date
	}
	// The change that was in effect first on each host and day.
	there := map[place]*VM{}
	for i := range vms {
		v := &vms[i]
		if v.Changed.IsZero() || v.Effective.IsZero() {
			continue
		}
		for _, d := range v.Days[m.Name] {
			at := place{v.Cluster, d.Host, d.Date}
			if was := there[at]; d.Host != "" && d.Date > DateOf(v.Effective, zone) && (was == nil || v.earlier(was)) {
				there[at] = v
			}
		}
	}
	var firstOf = map[string]*VM{} // change of each cluster
	for _, v := range there {
		if was := firstOf[v.Cluster]; was == nil || v.earlier(was) {
			firstOf[v.Cluster] = v
		}
	}
	for _, v := range vms {
		if !v.Changed.IsZero() {
			continue
		}
		shared, after := 0, 0
		var by *VM
		for _, d := range v.Days[m.Name] {
			if first := firstOf[v.Cluster]; first == nil || d.Date <= DateOf(first.Effective, zone) {
				continue
			}
			after++
			if with := there[place{v.Cluster, d.Host, d.Date}]; with != nil {
				shared++
				if by == nil || with.earlier(by) {
					by = with
				}
			}
		}
		if by != nil && 2*shared >= after {
			v.Changed, v.Effective = by.Changed, by.Effective
		}
		out = append(out, v)
	}
	return out
}

// earlier reports whether the change of v took effect before that of w; the ID decides ties.
func (v *VM) earlier(w *VM) bool {
	return v.Effective.Before(w.Effective) || v.Effective.Equal(w.Effective) && v.ID < w.ID
}
