package pages

import (
	"fmt"
	"time"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/pages"
)

// Estimated returns the answer from a published or given share.
func Estimated(q *pages.Request, r *pages.Estimated) *answer.Answer {
	a := &answer.Answer{Command: "size pages", Question: fmt.Sprintf("size pages: large pages on demand and sharing of small ones, for %s allotted to VMs", gb(q.Memory)), Result: r}
	a.Assumed = []answer.Assumption{
		{What: "allotted to VMs", Value: gb(q.Memory), Origin: unit.Given, Source: "--memory"},
		answer.Figure("gain", q.Gain, unit.Share.String),
		answer.Figure("large on demand", q.Large, unit.Share.String),
	}
	if q.Consumed > 0 {
		a.Assumed = append(a.Assumed, answer.Assumption{What: "consumed on hosts", Value: gb(q.Consumed), Origin: unit.Given, Source: "--consumed"})
	}
	a.Verdict = estimatedVerdict(q, r)
	reading := answer.Table{Name: "gain", Columns: size.Columns("if the gain is a share of", ">of", ">freed", ">range")}
	row := func(of string, base numa.Bytes, f *unit.Figure[pages.Amount]) []string {
		between := "-"
		if f.Low != f.High {
			between = gb(f.Low.Bytes()) + " - " + gb(f.High.Bytes())
		}
		return []string{of, gb(base), gb(f.Value.Bytes()), between}
	}
	reading.Add(row("what is allotted", q.Memory, &r.OfAllotted)...)
	if r.OfConsumed != nil {
		reading.Add(row("what is consumed", q.Consumed, r.OfConsumed)...)
	} else {
		reading.Add("what is consumed", "unknown", "less: --consumed says", "-")
	}
	a.Tables = append(a.Tables, reading)
	a.Changes = estimatedIf(q, r)
	a.Note("Experiment c-largepages (September 2014) is older than salting: all VMs shared, as with salting 0 today.")
	a.Note(pages.Standing...)
	size.AddCharts(a, estimatedChart(q, r))
	return a
}

// estimatedVerdict says today's default first: the published share is one of salting 0.
func estimatedVerdict(q *pages.Request, r *pages.Estimated) []string {
	freed, low, high := gb(r.OfAllotted.Value.Bytes()), r.OfAllotted.Low, r.OfAllotted.High
	if c := r.OfConsumed; c != nil {
		freed, low = gb(c.Value.Bytes())+" or "+freed, c.Low
	}
	var out []string
	if q.Gain.Origin == unit.Given {
		out = append(out, fmt.Sprintf("Freed, with the gain that is given: %s.", freed))
	} else {
		out = append(out, "Freed with today's default (salting 2): not published; zeros, and what is alike within each VM.",
			fmt.Sprintf("Freed with salting 0, as in the experiment: about %s (%s to %s by VMware's %s to %s).", freed, gb(low.Bytes()), gb(high.Bytes()), q.Gain.Low, q.Gain.High))
	}
	out = append(out, fmt.Sprintf("%s stay large because guests ask for them, %s can be shared.", gb(r.Large), gb(r.Small)))
	if r.OfConsumed != nil {
		return append(out, "Of what the share is one, consumed or allotted, the source does not say.")
	}
	return append(out, "Less when the share is one of what hosts really use (--consumed).")
}

// estimatedChart draws the readings of the share, each with its range.
func estimatedChart(q *pages.Request, r *pages.Estimated) chart.Chart {
	row := func(name string, all numa.Bytes, f *unit.Figure[pages.Amount]) chart.Row {
		freed := f.Value.Bytes()
		large := min(r.Large, all-freed)
		segment := chart.Segment{Kind: "could be freed", Value: size.InGB(freed), Soft: true}
		text := gb(freed)
		if f.Low != f.High {
			segment.Low, segment.High = size.InGB(f.Low.Bytes()), size.InGB(f.High.Bytes())
			text = gb(f.Low.Bytes()) + " to " + gb(f.High.Bytes())
		}
		return chart.Row{Name: name, Value: text + " freed", Segments: withLength([]chart.Segment{
			segment, {Kind: "small, stays", Value: size.InGB(all - freed - large)}, {Kind: "large on demand", Value: size.InGB(large)},
		})}
	}
	bars := &chart.Bars{X: chart.Axis{Label: "GB", Bytes: true, Text: axisGB}}
	if r.OfConsumed != nil {
		bars.Rows = append(bars.Rows, row("consumed", q.Consumed, r.OfConsumed))
	}
	bars.Rows = append(bars.Rows, row("allotted", q.Memory, &r.OfAllotted))
	title := "Memory of VMs, and what sharing could free of it with salting 0"
	if q.Gain.Origin == unit.Given {
		title = "Memory of VMs, and what sharing could free of it"
	}
	return chart.Chart{ID: "pages", Title: title, Note: q.Gain.Source, Bars: bars}
}

func estimatedIf(q *pages.Request, r *pages.Estimated) []answer.Change {
	base := float64(r.OfAllotted.Value)
	change := func(text string, ask pages.Request) answer.Change {
		v := float64(pages.Estimate(&ask).OfAllotted.Value)
		return answer.Change{If: text, Result: gb(numa.Bytes(v)), Change: size.Signed(unit.Share(v/base - 1))}
	}
	half := *q
	half.Gain = q.Gain.Times(0.5)
	wide := *q
	wide.Large.Value = min(1, q.Large.Value*10)
	out := []answer.Change{
		change("half the gain", half),
		change("guests ask for ten times the large pages ("+wide.Large.Value.String()+")", wide),
		{If: "Mem.ShareForceSalting 2, no salts (the default)", Result: "zeros, and what is alike within each VM: not published", Change: "less"},
		{If: "Mem.ShareForceSalting 1 or 2 with one salt for a group", Result: "as above within the group", Change: "less"},
	}
	if l := r.Limits; l != nil {
		out = append(out, answer.Change{If: "a host falls below " + gb(l.Break) + " free", Result: "it breaks large pages by itself, and shares them (C-23)"})
	}
	if r.Pass != nil {
		out = append(out, answer.Change{If: fmt.Sprintf("a VM of %s, first pass over it", gb(q.VM)), Result: "takes at least " + hours(time.Duration(*r.Pass*float64(time.Second))) + " (C-22)"})
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
