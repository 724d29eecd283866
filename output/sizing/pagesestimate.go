package sizing

import (
	"fmt"
	"time"

	"homenode/capacity"
	"homenode/capacity/pages"
	"homenode/numa"
	"homenode/output/chart"
)

// PagesEstimated returns the answer from a published or given share.
func PagesEstimated(q *pages.Request, r *pages.Estimated) *Answer {
	a := &Answer{Command: "size pages", Question: fmt.Sprintf("size pages: large pages on demand and sharing of small ones, for %s allotted to VMs", gb(q.Memory)), Result: r}
	a.Assumed = []Assumption{
		{What: "allotted to VMs", Value: gb(q.Memory), Origin: capacity.Given, Source: "--memory"},
		Figure("gain", q.Gain, capacity.Share.String),
		Figure("large on demand", q.Large, capacity.Share.String),
	}
	if q.Consumed > 0 {
		a.Assumed = append(a.Assumed, Assumption{What: "consumed on hosts", Value: gb(q.Consumed), Origin: capacity.Given, Source: "--consumed"})
	}
	a.Verdict = []string{fmt.Sprintf("%s stay large because guests ask for them, %s can be shared.", gb(r.Large), gb(r.Small))}
	reading := Table{Name: "gain", Columns: []Column{{Name: "if the gain is a share of"}, {Name: "of", Right: true}, {Name: "freed", Right: true}, {Name: "range", Right: true}}}
	row := func(of string, base numa.Bytes, f *capacity.Figure[pages.Amount]) []string {
		between := "-"
		if f.Low != f.High {
			between = gb(f.Low.Bytes()) + " - " + gb(f.High.Bytes())
		}
		return []string{of, gb(base), gb(f.Value.Bytes()), between}
	}
	reading.Rows = append(reading.Rows, row("what is allotted", q.Memory, &r.OfAllotted))
	if r.OfConsumed != nil {
		reading.Rows = append(reading.Rows, row("what is consumed", q.Consumed, r.OfConsumed))
		a.Verdict = append(a.Verdict, fmt.Sprintf("Freed: %s or %s: of what the share is one, the source does not say.", gb(r.OfConsumed.Value.Bytes()), gb(r.OfAllotted.Value.Bytes())))
	} else {
		reading.Rows = append(reading.Rows, []string{"what is consumed", "unknown", "less: --consumed says", "-"})
		a.Verdict = append(a.Verdict, fmt.Sprintf("Freed: at most %s; less when the share is one of what hosts really use (--consumed).", gb(r.OfAllotted.Value.Bytes())))
	}
	a.Tables = append(a.Tables, reading)
	a.If = estimatedIf(q, r)
	a.Notes = append([]string{"exp C-1 (September 2014) is older than salting: all VMs shared. With today's default less is freed."}, standing...)
	bar := chart.Row{Name: "all VMs", Value: gb(r.OfAllotted.Value.Bytes()) + " could be freed", Segments: withLength([]chart.Segment{
		{Kind: "large on demand", Value: inGB(r.Large)},
		{Kind: "small, stays", Value: inGB(r.Small - r.OfAllotted.Value.Bytes())},
		{Kind: "could be freed", Value: inGB(r.OfAllotted.Value.Bytes()), Soft: true},
	})}
	a.Charts = []chart.Chart{{ID: "pages", Title: "Memory allotted to VMs, and what sharing could free of it", Note: q.Gain.Source, Bars: &chart.Bars{X: chart.Axis{Label: "GB", Bytes: true, Text: axisGB}, Rows: []chart.Row{bar}}}}
	return a
}

func estimatedIf(q *pages.Request, r *pages.Estimated) []Change {
	base := float64(r.OfAllotted.Value)
	change := func(text string, ask pages.Request) Change {
		v := float64(pages.Estimate(&ask).OfAllotted.Value)
		return Change{If: text, Result: gb(numa.Bytes(v)), Change: signed(capacity.Share(v/base - 1))}
	}
	half := *q
	half.Gain = q.Gain.Times(0.5)
	wide := *q
	wide.Large.Value = min(1, q.Large.Value*10)
	out := []Change{
		change("half the gain", half),
		change("guests ask for ten times the large pages ("+wide.Large.Value.String()+")", wide),
		{If: "Mem.ShareForceSalting 2, no salts (the default)", Result: "zeros, and what is alike within each VM: not published", Change: "less"},
		{If: "Mem.ShareForceSalting 1 or 2 with one salt for a group", Result: "as above within the group", Change: "less"},
	}
	if l := r.Limits; l != nil {
		out = append(out, Change{If: "a host falls below " + gb(l.Break) + " free", Result: "it breaks large pages by itself, and shares them (C-23)"})
	}
	if r.Pass != nil {
		out = append(out, Change{If: fmt.Sprintf("a VM of %s, first pass over it", gb(q.VM)), Result: "takes at least " + hours(time.Duration(*r.Pass*float64(time.Second))) + " (C-22)"})
	}
	return out
}

// hours writes a time in hours and minutes.
func hours(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	}
	return fmt.Sprintf("%d h %02d min", int(d/time.Hour), int(d%time.Hour/time.Minute))
}
