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

// Simulated returns the answer from the simulation. With details every host has rows.
func Simulated(m *pages.Model, r *pages.Simulated, of string, given map[string]bool, details bool) *answer.Answer {
	a := &answer.Answer{Command: "size pages", Question: fmt.Sprintf("size pages: large pages and salting in the model, %s: %d VMs on %d hosts", of, r.VMs, r.Hosts), Result: r}
	a.Assumed = simulatedAssumed(m, r, given)
	a.Verdict = simulatedVerdict(r)
	a.Tables = append(a.Tables, simulatedRuns(r))
	if details {
		a.Tables = append(a.Tables, simulatedHosts(r))
	}
	a.Changes = simulatedIf(r)
	a.Note(r.Problems...)
	a.Note(saltNote(r))
	a.Note(pages.Standing...)
	size.AddCharts(a, simulatedChart(r))
	return a
}

func simulatedAssumed(m *pages.Model, r *pages.Simulated, given map[string]bool) []answer.Assumption {
	out := []answer.Assumption{{What: "time simulated", Value: hours(time.Duration(r.Seconds) * time.Second), Origin: size.Origin(given, "hours"), Source: "--hours", Note: "a pass of page sharing takes an hour or more"}}
	for _, one := range []struct {
		what       string
		share      unit.Share
		flag, note string
	}{
		{"pages alike", m.Alike, "--alike", "where the load states none: VMs of one guest OS, unknown ones count as one"},
		{"pages of zeros", m.Zero, "--zero", "where the load states none"},
		{"large on demand", m.Large, "--large", "where the load states none"},
	} {
		if one.share > 0 {
			out = append(out, answer.Assumption{What: one.what, Value: one.share.String(), Origin: unit.Given, Source: one.flag, Note: one.note})
		}
	}
	if len(out) == 1 {
		out = append(out, answer.Assumption{What: "pages alike, zeros", Value: fmt.Sprintf("%d of %d VMs", r.Alike, r.VMs), Origin: unit.Given, Source: "the loads of the story"})
	}
	return append(out, answer.Assumption{What: "pages written", Value: "none", Origin: unit.Assumed, Note: "else they are copied again"})
}

// saltNote says who shares with whom by the salts there are.
func saltNote(r *pages.Simulated) string {
	if r.Salted == 0 {
		return "No VM has sched.mem.pshare.salt: with salting 2 none shares with another, with 1 all do, as with 0 (C-22)."
	}
	return fmt.Sprintf("%d of %d VMs have sched.mem.pshare.salt, %d salts are those of several VMs: with salting 2 only these share (C-22).", r.Salted, r.VMs, r.Salts)
}

// setupName is what the options of a setup are called.
func setupName(s pages.Setup) string {
	if !s.Set {
		return "as set today"
	}
	large := "on demand"
	if s.AlwaysLarge {
		large = "always"
	}
	return fmt.Sprintf("large %s, salting %d", large, s.Salting)
}

func simulatedVerdict(r *pages.Simulated) []string {
	today, best := &r.Runs[0], &r.Runs[len(r.Runs)-1]
	freed := func(x *pages.Ran) string {
		d := today.Consumed - x.Consumed
		text := gb(d)
		if today.Consumed > 0 {
			text += " (" + share(d, today.Consumed) + ")"
		}
		return text
	}
	out := []string{fmt.Sprintf("VMs consume %s as hosts are set today, %s of it in large pages.", gb(today.Consumed), gb(today.Large))}
	var own *pages.Ran
	for i := range r.Runs {
		if s := r.Runs[i].Setup; s.Set && !s.AlwaysLarge && s.Salting == pages.ExplicitSalts {
			own = &r.Runs[i]
		}
	}
	out = append(out, fmt.Sprintf("Large pages on demand free %s with salting 2, %s when all VMs share (salting 0).", freed(own), freed(best)))
	if r.Alike == 0 {
		out = append(out, "No VM has pages alike with another: --alike says how many are.")
	}
	return out
}

func simulatedRuns(r *pages.Simulated) answer.Table {
	t := answer.Table{Name: "setups", Columns: size.Columns("setup", ">consumed", ">large", ">saved", ">in the long run", ">freed", ">N%L", "state")}
	for i := range r.Runs {
		x := &r.Runs[i]
		t.Add(setupName(x.Setup), gb(x.Consumed), gb(x.Large), gb(x.Saved), gb(x.LongRun.All()), gb(r.Runs[0].Consumed-x.Consumed), localityText(&x.At), worst(x))
	}
	return t
}

func localityText(a *pages.At) string {
	s, ok := a.Locality()
	if !ok {
		return "-"
	}
	return unit.Digits(float64(s)*100, 3)
}

// worst returns the worst memory state of the hosts, and of how many.
func worst(x *pages.Ran) string {
	state, hosts := numa.High, 0
	for i := range x.Hosts {
		var s numa.MemoryState
		if x.Hosts[i].State == "" || s.UnmarshalText([]byte(x.Hosts[i].State)) != nil {
			continue
		}
		switch {
		case s > state:
			state, hosts = s, 1
		case s == state:
			hosts++
		}
	}
	switch {
	case hosts == 0:
		return "-"
	case hosts < len(x.Hosts):
		return fmt.Sprintf("%s on %d", state, hosts)
	}
	return state.String()
}

func simulatedHosts(r *pages.Simulated) answer.Table {
	t := answer.Table{Name: "hosts", Title: "by host", Columns: size.Columns("host", "setup", ">free", ">consumed", ">large", ">saved", ">N%L", "state")}
	for h := range r.Runs[0].Hosts {
		for i := range r.Runs {
			x := &r.Runs[i].Hosts[h]
			t.Add(x.Host, setupName(r.Runs[i].Setup), known(x.Free), gb(x.Consumed), gb(x.Large), gb(x.Saved), localityText(&x.At), x.State)
		}
	}
	return t
}

func simulatedIf(r *pages.Simulated) []answer.Change {
	base := r.Runs[len(r.Runs)-1].LongRun.All()
	change := func(text string, s pages.Saving) answer.Change {
		c := answer.Change{If: text, Result: gb(s.All())}
		if base > 0 {
			c.Change = size.Signed(unit.Share(float64(s.All())/float64(base) - 1))
		}
		return c
	}
	return []answer.Change{
		{If: "in the long run, large on demand, salting 0", Result: gb(base)},
		change("... and one copy a host, not a node (sharePerNode off)", r.OneCopy),
		change("... and half as many pages alike", r.HalfAlike),
		change("... and twice as many pages alike", r.TwiceAlike),
	}
}

func simulatedChart(r *pages.Simulated) chart.Chart {
	bars := &chart.Bars{X: chart.Axis{Label: "memory of VMs on their hosts, GB", Text: axisGB}}
	for i := range r.Runs {
		x := &r.Runs[i]
		large := min(x.Large, x.Consumed)
		bars.Rows = append(bars.Rows, chart.Row{Name: setupName(x.Setup), Value: gb(x.Saved) + " saved", Segments: withLength([]chart.Segment{
			{Kind: "large pages", Value: size.InGB(large)},
			{Kind: "small pages", Value: size.InGB(x.Consumed - large)},
			{Kind: "saved by sharing", Value: size.InGB(x.Saved), Soft: true},
		})})
	}
	return chart.Chart{ID: "pages", Title: "Memory that VMs consume by setting of large pages and salting", Note: "simulated; how much is alike is an assumption", Bars: bars}
}
