package rightsize

import (
	"cmp"
	"context"
	"slices"

	"example.org/homenode/numa"
)

// A Result is the result for all VMs.
type Result struct {
	Options Options `json:"options"`
	// LeastSeconds is Options.Least.
	LeastSeconds float64  `json:"leastSeconds"`
	Totals       Totals   `json:"totals"`
	VMs          []Advice `json:"vms"` // those that should grow, then by freed vCPUs, then by name; those not assessed last
}

// Totals are sums over all VMs.
type Totals struct {
	VMs       int `json:"vms"`
	Judged    int `json:"judged"`
	Smaller   int `json:"smaller"`
	Larger    int `json:"larger"`
	Kept      int `json:"kept"`
	VCPUs     int `json:"vcpus"` // of assessed VMs, now
	Suggested int `json:"suggested"`
	Freed     int `json:"freed"` // by VMs that could be smaller
	Added     int `json:"added"` // for VMs that should grow
	// WideBefore and WideAfter count wide VMs on their own host, among the Placed ones: assessed
	// VMs with known nodes of their host.
	Placed     int `json:"placed"`
	WideBefore int `json:"wideBefore"`
	WideAfter  int `json:"wideAfter"`
	// Ranges counts VMs with a range of memory; FreedLow and FreedHigh are the memory freed within it.
	Ranges    int        `json:"ranges"`
	FreedLow  numa.Bytes `json:"memoryFreedLow"`
	FreedHigh numa.Bytes `json:"memoryFreedHigh"`
	// OverNode counts VMs whose memory exceeds the nodes that their vCPUs need.
	OverNode int `json:"overNode"`
}

// All assesses VMs, until the context ends. Options.Check must be nil.
func All(ctx context.Context, vms []*VM, o Options) (*Result, error) {
	r := &Result{Options: o, LeastSeconds: o.Least.Seconds(), VMs: []Advice{}}
	for _, v := range vms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.VMs = append(r.VMs, Judge(v, &o))
	}
	slices.SortStableFunc(r.VMs, func(a, b Advice) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Freed(), a.Freed()), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host))
	})
	for i := range r.VMs {
		r.Totals.add(&r.VMs[i])
	}
	return r, nil
}

func (a *Advice) rank() int {
	switch a.Verdict {
	case Larger:
		return 0
	case NotJudged:
		return 2
	}
	return 1
}

func (t *Totals) add(a *Advice) {
	t.VMs++
	if m := &a.Memory; m.Low > 0 {
		t.Ranges++
		t.FreedLow += m.Size - m.High
		t.FreedHigh += m.Size - m.Low
	}
	if a.Memory.Over > 0 {
		t.OverNode++
	}
	switch a.Verdict {
	case NotJudged:
		return
	case Smaller:
		t.Smaller++
		t.Freed += a.Freed()
	case Larger:
		t.Larger++
		t.Added -= a.Freed()
	case Keep:
		t.Kept++
	}
	t.Judged++
	t.VCPUs += a.VCPUs
	t.Suggested += a.Suggested
	if len(a.Kinds) == 0 {
		return
	}
	t.Placed++
	if a.Kinds[0].Before.Wide() {
		t.WideBefore++
	}
	if a.Kinds[0].After.Wide() {
		t.WideAfter++
	}
}
