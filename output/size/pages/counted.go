// Package pages answers what small pages and page sharing would free.
package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/pages"
)

// Counted returns the answer from counters of hosts. With details every VM has a row.
func Counted(r *pages.Counted, of string, gain unit.Figure[unit.Share], details bool) *answer.Answer {
	a := &answer.Answer{Command: "size pages", Question: "size pages: what page sharing saves and could save, counted in " + of, Result: r}
	a.Assumed = countedAssumed(r)
	a.Verdict = countedVerdict(r)
	a.Tables = append(a.Tables, countedHosts(r, details), countedVMs(r, details))
	a.Changes = countedIf(r, gain)
	a.Note(countedNotes(r)...)
	size.AddCharts(a, countedChart(r))
	return a
}

func countedAssumed(r *pages.Counted) []answer.Assumption {
	out := []answer.Assumption{
		{What: "moment", Value: moments(r), Origin: unit.Measured, Note: "the last tick of each host"},
		{What: "least gain", Value: "pages of zeros not shared yet", Origin: unit.Measured, Note: "zero less shared: zero is a part of shared once it is"},
	}
	if r.Sum.Gain == nil {
		return out
	}
	most := answer.Assumption{What: "most gain", Origin: unit.Assumed}
	switch r.Sum.Gain.Bound {
	case pages.ByHints:
		most.Value, most.Note = "COWH", "pages scanned and not shared; how many have an equal is not told"
	case pages.ByLarge:
		most.Value, most.Note = "large pages", "what is small is shared as far as it can be"
	default:
		most.Value, most.Note = "all memory that is not shared", "no counter says less: COWH is missing"
	}
	return append(out, most)
}

func moments(r *pages.Counted) string {
	var first, last time.Time
	for i := range r.Hosts {
		at := r.Hosts[i].Time
		if i == 0 || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	const layout = "2006-01-02 15:04:05"
	if first.Equal(last) {
		return last.UTC().Format(layout) + " UTC"
	}
	return first.UTC().Format(layout) + " to " + last.UTC().Format(layout) + " UTC"
}

func countedVerdict(r *pages.Counted) []string {
	whole := r.Complete()
	s := &r.Sum
	var out []string
	if n := len(whole.Hosts); n > 0 && n < len(r.Hosts) {
		s = &whole.Sum
		out = append(out, fmt.Sprintf("What follows is of the %d of %d hosts that state enough.", n, len(r.Hosts)))
	}
	if s.Saved != nil {
		line := "Page sharing saves " + gb(*s.Saved) + " now"
		if s.Consumed != nil && *s.Consumed > 0 {
			line += fmt.Sprintf("; VMs consume %s", gb(*s.Consumed))
		}
		out = append(out, line+".")
	}
	switch {
	case s.Gain == nil:
		out = append(out, "What it could save is not known: see the missing counters.")
	case s.Gain.Bound == pages.ByPrivate:
		out = append(out, fmt.Sprintf("Small pages would free less than the %s that is not shared; no counter says how much less.", gb(s.Gain.High)))
	case s.Gain.High == 0:
		out = append(out, "Small pages would free nothing more: everything is shared or was found to have no equal.")
	default:
		line := fmt.Sprintf("With small pages it could free %s more", interval(s.Gain.Low, s.Gain.High))
		if s.Consumed != nil && *s.Consumed > 0 {
			line += fmt.Sprintf(", at most %s of what is consumed", share(s.Gain.High, *s.Consumed))
		}
		out = append(out, line+".")
	}
	if line := breaking(r); line != "" {
		out = append(out, line)
	}
	return out
}

// breaking tells which hosts break large pages by themselves.
func breaking(r *pages.Counted) string {
	now, next := r.Breaking()
	switch {
	case now != nil:
		return "Short enough of memory to break large pages by itself now (C-23): " + words.First(4, now) + "."
	case next != nil:
		return fmt.Sprintf("%s breaks large pages by itself when another %s are taken (free below %s, C-23).", next.Host, gb(*next.Limits.Left), gb(next.Limits.Break))
	}
	return ""
}

// mostPageHosts are shown without --details.
const mostPageHosts = 8

func countedHosts(r *pages.Counted, details bool) answer.Table {
	t := answer.Table{Name: "hosts", Columns: size.Columns("host", ">memory", ">free", "state", ">consumed", ">shared", ">common", ">saved", ">large", ">could free more", ">breaks large below")}
	hosts := r.Hosts
	if !details && len(hosts) > mostPageHosts {
		t.Title = fmt.Sprintf("the first %d of %d hosts (--details for all)", mostPageHosts, len(hosts))
		hosts = hosts[:mostPageHosts]
	}
	for i := range hosts {
		c := &hosts[i]
		state, below := "-", "-"
		if c.State != "" {
			state = c.State
		}
		if c.Limits != nil {
			below = gb(c.Limits.Break)
		}
		t.Add(c.Host, known(c.Memory), known(c.Free), state, known(c.Consumed), known(c.Shared), known(c.Common), known(c.Saved), known(c.Large), gainText(c.Gain), below)
	}
	return t
}

// mostVMs are shown without --details: those that could free most.
const mostVMs = 5

func countedVMs(r *pages.Counted, details bool) answer.Table {
	t := answer.Table{Name: "vms", Columns: size.Columns("host", "VM", ">size", ">consumed", ">active", ">shared", ">zero", ">saved", ">COWH", ">large", ">could free more")}
	type row struct {
		host string
		v    *pages.VMCounts
	}
	var rows []row
	for i := range r.Hosts {
		for j := range r.Hosts[i].VMs {
			rows = append(rows, row{r.Hosts[i].Host, &r.Hosts[i].VMs[j]})
		}
	}
	if !details && len(rows) > mostVMs {
		slices.SortStableFunc(rows, func(a, b row) int {
			return cmp.Compare(high(b.v), high(a.v))
		})
		t.Title = fmt.Sprintf("the %d of %d VMs that could free most (--details for all)", mostVMs, len(rows))
		rows = rows[:mostVMs]
	}
	for _, x := range rows {
		v := x.v
		t.Add(x.host, v.VM, known(v.Size), known(v.Consumed), known(v.Active), known(v.Shared), known(v.Zero), known(v.Saved), known(v.Hint), known(v.Large), gainText(v.Gain))
	}
	return t
}

func high(v *pages.VMCounts) numa.Bytes {
	if v.Gain == nil {
		return -1
	}
	return v.Gain.High
}

func countedIf(r *pages.Counted, gain unit.Figure[unit.Share]) []answer.Change {
	var out []answer.Change
	s := &r.Sum
	if s.Consumed != nil && s.Gain != nil && *s.Consumed > 0 {
		of := func(x unit.Share) numa.Bytes {
			return min(numa.Bytes(float64(x)*float64(*s.Consumed)), s.Gain.High)
		}
		text := gb(of(gain.Value))
		if gain.Low != gain.High {
			text += " (" + gb(of(gain.Low)) + " to " + gb(of(gain.High)) + ")"
		}
		where := "as published (c-largepages)"
		if gain.Origin == unit.Given {
			where = "--gain"
		}
		what := fmt.Sprintf("%s of what is consumed, %s", gain.Value, where)
		if numa.Bytes(float64(gain.High)*float64(*s.Consumed)) > s.Gain.High {
			what = fmt.Sprintf("%s, %s, bounded by the most", gain.Value, where)
		}
		out = append(out, answer.Change{If: what, Result: text})
	}
	if s.Gain != nil && s.Saved != nil {
		out = append(out, answer.Change{If: "Mem.ShareForceSalting 2, no salts (default)", Result: "less: what is alike within each VM (C-22)"})
	}
	if v := largest(r); v != nil {
		out = append(out, answer.Change{If: "first pass over " + v.VM + ", the largest", Result: "at least " + hours(pages.DefaultScan().Pass(*v.Consumed)) + " (C-22)"})
	}
	one, known := numa.Bytes(0), false
	for i := range r.Hosts {
		if b := r.Hosts[i].OneCopy; b != nil {
			one, known = one+*b, true
		}
	}
	if known {
		out = append(out, answer.Change{If: "VMkernel.Boot.sharePerNode off: one copy a host", Result: "up to " + gb(one) + " more; shared pages are read remotely (C-22)"})
	}
	if s.Gain != nil && s.Gain.High > 0 {
		out = append(out, answer.Change{If: "half of the most", Result: gb(s.Gain.High / 2), Change: "-50 %"})
	}
	return out
}

// largest returns the VM that consumes most.
func largest(r *pages.Counted) (most *pages.VMCounts) {
	for i := range r.Hosts {
		for j := range r.Hosts[i].VMs {
			if v := &r.Hosts[i].VMs[j]; v.Consumed != nil && (most == nil || *v.Consumed > *most.Consumed) {
				most = v
			}
		}
	}
	return most
}

func countedNotes(r *pages.Counted) []string {
	var out []string
	for i := range r.Hosts {
		c := &r.Hosts[i]
		if len(c.Missing) > 0 {
			out = append(out, c.Host+" lacks "+strings.Join(c.Missing, ", "), "  esxtop -b -a records all counters.")
		}
		if c.Limits != nil && c.Limits.Reckoned {
			out = append(out, c.Host+": minFree is not recorded and reckoned by the scale of 5.0 and later (C-23).")
		}
	}
	return append(out, pages.Standing...)
}

func countedChart(r *pages.Counted) chart.Chart {
	bars := &chart.Bars{X: chart.Axis{Label: "GB", Bytes: true, Text: axisGB}, Limit: "memory of the host"}
	for i := range r.Hosts {
		c := &r.Hosts[i]
		row := chart.Row{Name: c.Host}
		if c.Consumed != nil {
			consumed := size.InGB(*c.Consumed)
			if c.Gain != nil {
				row.Value = interval(c.Gain.Low, c.Gain.High) + " could be freed"
				row.Segments = append(row.Segments,
					chart.Segment{Kind: "consumed, stays", Value: size.InGB(*c.Consumed - c.Gain.High)},
					chart.Segment{Kind: "could be freed", Value: size.InGB(c.Gain.High), Soft: true})
			} else {
				row.Segments = append(row.Segments, chart.Segment{Kind: "consumed, stays", Value: consumed})
			}
		}
		if c.Saved != nil {
			row.Segments = append(row.Segments, chart.Segment{Kind: "saved by sharing now", Value: size.InGB(*c.Saved), Soft: true})
		}
		if c.Memory != nil {
			row.Limit = size.InGB(*c.Memory)
		}
		row.Segments = withLength(row.Segments)
		if row.Segments != nil {
			bars.Rows = append(bars.Rows, row)
		}
	}
	return chart.Chart{ID: "pages", Title: "Memory that VMs consume, what sharing saves, and what it could free", Note: "What could be freed is the most that counters allow for.", Bars: bars}
}

// withLength returns the segments that have a length: the legend has no others.
func withLength(all []chart.Segment) (out []chart.Segment) {
	for _, s := range all {
		if s.Value != 0 {
			out = append(out, s)
		}
	}
	return out
}

func axisGB(v float64) string { return unit.Digits(v, 3) }

// gb writes an amount in GB with three digits that count.
func gb(b numa.Bytes) string {
	if b != 0 && b < numa.GiB && b > -numa.GiB {
		return unit.Digits(float64(b)/float64(numa.MiB), 3) + " MB"
	}
	return unit.Digits(float64(b)/float64(numa.GiB), 3) + " GB"
}

func known(b *numa.Bytes) string {
	if b == nil {
		return "-"
	}
	return gb(*b)
}

func share(part, of numa.Bytes) string {
	return unit.Share(float64(part) / float64(of)).String()
}

func interval(low, high numa.Bytes) string {
	if low == 0 {
		return "up to " + gb(high)
	}
	return gb(low) + " to " + gb(high)
}

func gainText(g *pages.Gain) string {
	switch {
	case g == nil:
		return "-"
	case g.Low == g.High:
		return gb(g.High)
	}
	return gb(g.Low) + " - " + gb(g.High)
}
