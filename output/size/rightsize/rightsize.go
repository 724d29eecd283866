// Package rightsize has the answer about the VM sizes that fit the recorded use.
package rightsize

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/rightsize"
)

// Options are the options for showing right sizes.
type Options struct {
	Details bool            // all VMs and their settings, not only the largest gains
	Given   map[string]bool // flags given by the user
	Node    string          // value of --node; "" for none
	Fleet   string          // SOURCE of the inventory; "" for none
	Files   string          // description of the input
	// Unseen is the number of running VMs of the inventory without a recording.
	Unseen int
	Notes  []numa.Note // from reading
	Words  string      // as typed by the user, for the next command
}

// mostRows is the maximum number of VMs shown without Details.
const mostRows = 8

// Answer returns the answer which VMs have too many or too few vCPUs.
func Answer(r *rightsize.Result, changes []rightsize.Change, o Options) *answer.Answer {
	a := &answer.Answer{Command: "size rightsize", Question: question(r, &o), Result: r}
	a.Assumed = assumed(r, &o)
	a.Verdict = verdict(r)
	shown := listed(r, &o)
	if len(shown) > 0 {
		a.Tables = append(a.Tables, table(r, shown, &o))
		a.Tables[0].Plain = plain(r)
	}
	if o.Details && len(shown) > 0 {
		a.Tables = append(a.Tables, steps(shown), memoryTable(shown))
	}
	for _, c := range changes {
		if r.Totals.Judged == 0 {
			break
		}
		a.Changes = append(a.Changes, change(r, c))
	}
	a.Note(notes(r, &o)...)
	if !o.Details && len(r.VMs) > 0 {
		a.Next = []string{"homenode size rightsize " + o.Words + " --details"}
	}
	if c, ok := demandChart(r, listed(r, &Options{Details: true})); ok {
		size.AddCharts(a, c)
	}
	return a
}

func question(r *rightsize.Result, o *Options) string {
	return fmt.Sprintf("size rightsize: vCPUs and memory of %s in %s", words.Plural(r.Totals.VMs, "VM"), o.Files)
}

func assumed(r *rightsize.Result, o *Options) []answer.Assumption {
	out := []answer.Assumption{
		{What: "demand met", Value: fmt.Sprintf("%s %% of the time", number(100*float64(r.Options.Percentile))), Origin: size.Origin(o.Given, "percentile"), Source: "--percentile", Note: "peaks above it wait"},
		{What: "headroom", Value: fmt.Sprintf("%s %%", number(100*float64(r.Options.Headroom))), Origin: size.Origin(o.Given, "headroom"), Source: "--headroom"},
		{What: "observed at least", Value: words.Duration(r.Options.Least), Origin: size.Origin(o.Given, "least"), Source: "--least", Note: "no VM is judged by less"},
	}
	if r.Totals.Judged == 0 {
		return out
	}
	if text := observed(r); text != "" {
		out = append(out, answer.Assumption{What: "observed", Value: text, Origin: unit.Measured, Source: o.Files})
	}
	node := answer.Assumption{What: "NUMA nodes", Value: nodes(r), Origin: unit.Measured, Source: o.Fleet}
	var kinds string // several kinds, too long for a value
	if strings.Contains(node.Value, ", ") {
		node.Value, kinds = "several kinds", node.Value
	}
	switch {
	case o.Node != "":
		node.Origin, node.Source, node.Note = unit.Given, "--node", "release assumed"
		if !strings.Contains(o.Node, "/") {
			node.Note = "cores; memory as captured; release assumed"
		}
		if o.Fleet != "" {
			node.Source = o.Fleet + ", --node " + o.Node + " for other hosts"
		}
	case o.Fleet == "":
		node.Origin, node.Note = unit.Assumed, "cores of a node are not in a capture: --fleet or --node tells them"
	}
	if kinds != "" {
		node.Note = strings.TrimPrefix(node.Note+"; "+kinds, "; ")
	}
	return append(out, node)
}

// observedMost returns the longest observation time of the assessed VMs.
func observedMost(r *rightsize.Result) string { return words.Duration(longest(r)) }

// number formats a number without trailing zeros.
func number(v float64) string { return strconv.FormatFloat(float64(int64(v*1e6+0.5))/1e6, 'f', -1, 64) }

// observed returns the observation time of the assessed VMs.
func observed(r *rightsize.Result) string {
	var times []*rightsize.Advice
	for i := range r.VMs {
		if a := &r.VMs[i]; a.Verdict != rightsize.NotJudged {
			times = append(times, a)
		}
	}
	if times == nil {
		return ""
	}
	least := slices.MinFunc(times, func(a, b *rightsize.Advice) int { return int(a.Seen/1e6 - b.Seen/1e6) })
	most := slices.MaxFunc(times, func(a, b *rightsize.Advice) int { return int(a.Seen/1e6 - b.Seen/1e6) })
	gap := slices.MaxFunc(times, func(a, b *rightsize.Advice) int { return int(a.Gap/1e6 - b.Gap/1e6) })
	text := words.Duration(most.Seen)
	if s := words.Duration(least.Seen); s != text {
		text = s + " to " + text
	}
	if gap.Gap >= 60e9 {
		text += ", gaps up to " + words.Duration(gap.Gap)
	}
	return text
}

// nodes lists the kinds of home hosts.
func nodes(r *rightsize.Result) string {
	var kinds []string
	unknown := false
	for i := range r.VMs {
		a := &r.VMs[i]
		switch {
		case a.Verdict == rightsize.NotJudged:
		case len(a.Kinds) == 0:
			unknown = true
		default:
			kinds = words.Once(kinds, a.Kinds[0].Host)
		}
	}
	const most = 2
	if n := len(kinds); n > most {
		kinds = append(kinds[:most], fmt.Sprintf("%d more", n-most))
	}
	if unknown {
		kinds = append(kinds, "unknown")
	}
	if kinds == nil {
		return "unknown"
	}
	return strings.Join(kinds, ", ")
}

func verdict(r *rightsize.Result) []string {
	t := &r.Totals
	if t.VMs == 0 {
		return []string{"No VM is in the captures."}
	}
	if t.Judged == 0 {
		return []string{fmt.Sprintf("None of %s can be judged.", words.Plural(t.VMs, "VM"))}
	}
	out := []string{fmt.Sprintf("From %s: %d of %s could be smaller, %d should grow: %d vCPUs instead of %d (%d freed, %d added).",
		observedMost(r), t.Smaller, words.Plural(t.Judged, "VM"), t.Larger, t.Suggested, t.VCPUs, t.Freed, t.Added)}
	if t.Placed > 0 {
		out = append(out, fmt.Sprintf("Wide VMs: %d before, %d after.", t.WideBefore, t.WideAfter))
	}
	if t.Ranges > 0 {
		out = append(out, fmt.Sprintf("Memory: %s are candidates for %s to %s less; the guests decide (active memory understates caches).", words.Plural(t.Ranges, "VM"), t.FreedLow, t.FreedHigh))
	}
	return out
}

// listed returns the VMs of the table: those that change, the largest gain first; with details
// all assessed VMs.
func listed(r *rightsize.Result, o *Options) (out []*rightsize.Advice) {
	for i := range r.VMs {
		a := &r.VMs[i]
		if a.Verdict == rightsize.NotJudged || !o.Details && a.Verdict == rightsize.Keep {
			continue
		}
		out = append(out, a)
	}
	if !o.Details && len(out) > mostRows {
		out = out[:mostRows]
	}
	return out
}

func table(r *rightsize.Result, shown []*rightsize.Advice, o *Options) answer.Table {
	p := "p" + number(100*float64(r.Options.Percentile))
	t := answer.Table{Name: "rightsize", Columns: size.Columns("VM", ">vCPUs", ">p50", ">"+p, ">peak", ">suggested", ">above")}
	if r.Totals.Placed > 0 {
		t.Columns = append(t.Columns, answer.Column{Name: "clients before"}, answer.Column{Name: "after"})
	}
	t.Columns = append(t.Columns, answer.Column{Name: "memory"})
	if n := r.Totals.Smaller + r.Totals.Larger; !o.Details && n > len(shown) {
		t.Title = fmt.Sprintf("The greatest changes of %d; demand (run + ready) in vCPUs", n)
	} else {
		t.Title = "Demand (run + ready) in vCPUs"
	}
	for _, a := range shown {
		row := []string{a.Name, strconv.Itoa(a.VCPUs), tenth(a.Demand.P50), tenth(a.Demand.At), tenth(a.Demand.Peak), strconv.Itoa(a.Suggested), above(a.Above)}
		if r.Totals.Placed > 0 {
			before, after := clients(a)
			row = append(row, before, after)
		}
		t.Add(append(row, memory(&a.Memory))...)
	}
	return t
}

func tenth(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// above formats the share of time in which demand exceeds the suggestion.
func above(share float64) string {
	switch {
	case share == 0:
		return "0 %"
	case share < 0.001:
		return "<0.1 %"
	}
	return tenth(100*share) + " %"
}

// clients returns the NUMA clients on the VM's own kind of host, and the guest's nodes if they
// differ.
func clients(a *rightsize.Advice) (before, after string) {
	if len(a.Kinds) == 0 {
		return "unknown", "unknown"
	}
	return lie(&a.Kinds[0].Before), lie(&a.Kinds[0].After)
}

func lie(l *rightsize.Layout) string {
	text := counts(l.Clients)
	if !slices.Equal(l.Clients, l.Guest) {
		text += ", guest " + counts(l.Guest)
	}
	return text
}

// counts formats 16, 16 as 2×16, and 16, 14 as 16+14.
func counts(all []int) string {
	if len(all) > 1 && slices.Min(all) == slices.Max(all) {
		return fmt.Sprintf("%d×%d", len(all), all[0])
	}
	return strings.Join(words.Texts(all, strconv.Itoa), "+")
}

// memory returns the range of sizes, or the reason why the memory does not fit its nodes.
func memory(m *rightsize.Memory) string {
	switch {
	case m.Low > 0 && m.Low == m.High:
		return fmt.Sprintf("%s → %s", m.Size, m.Low)
	case m.Low > 0:
		return fmt.Sprintf("%s → %s to %s", m.Size, m.Low, m.High)
	case m.Over > 0:
		return fmt.Sprintf("%s, %s over", m.Size, m.Over)
	case m.Size > 0:
		return m.Size.String()
	}
	return "-"
}

func change(r *rightsize.Result, c rightsize.Change) answer.Change {
	t, now := &c.R.Totals, &r.Totals
	text := fmt.Sprintf("%d smaller, %d grow: %d vCPUs", t.Smaller, t.Larger, t.Suggested)
	if t.Placed > 0 {
		text += ", " + words.Plural(t.WideAfter, "wide VM")
	}
	return answer.Change{If: c.If, Result: text, Change: fmt.Sprintf("%+d vCPUs", t.Suggested-now.Suggested)}
}
