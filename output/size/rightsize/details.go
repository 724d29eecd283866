package rightsize

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/size"
	"example.org/homenode/size/rightsize"
)

// steps lists the settings for each VM, and the reasons for keeping VMs unchanged.
func steps(shown []*rightsize.Advice) answer.Table {
	t := answer.Table{Name: "steps", Title: "What to set, and why", Columns: size.Columns("VM", "vCPUs", "cores/socket", "observed", ">ready", "what to do")}
	for _, a := range shown {
		t.Add(a.Name, arrow(a.VCPUs, a.Suggested), socketsOf(a), words.Duration(a.Seen), readyOf(a), strings.Join(toDo(a), "; "))
	}
	return t
}

func arrow(before, after int) string {
	if before == after {
		return strconv.Itoa(before)
	}
	return fmt.Sprintf("%d → %d", before, after)
}

func socketsOf(a *rightsize.Advice) string {
	if len(a.Kinds) == 0 {
		return "unknown"
	}
	return arrow(a.Kinds[0].Before.CoresPerSocket, a.Kinds[0].After.CoresPerSocket)
}

// readyOf formats the mean ready time of each vCPU.
func readyOf(a *rightsize.Advice) string {
	if a.Ready == nil {
		return "-"
	}
	return above(*a.Ready)
}

func toDo(a *rightsize.Advice) (out []string) {
	switch {
	case a.Reason != "":
		out = append(out, a.Reason)
	case a.Verdict == rightsize.Keep:
		out = append(out, fmt.Sprintf("needs %d: no count that suits the nodes is less", a.Need))
	case a.Verdict == rightsize.Larger:
		out = append(out, fmt.Sprintf("full; needs %d at least", a.Need))
	case a.Suggested > a.Need:
		out = append(out, fmt.Sprintf("needs %d; %d suits the nodes", a.Need, a.Suggested))
	}
	out = append(out, a.Steps...)
	if a.HotAdd != "" {
		out = append(out, a.HotAdd)
	}
	if a.PowerCycle {
		out = append(out, "power off and on")
	}
	for _, k := range a.Differing() {
		out = append(out, fmt.Sprintf("on hosts of %s: %s", k.Host, lie(&k.After)))
	}
	return out
}

// memoryTable has the available data about memory.
func memoryTable(shown []*rightsize.Advice) answer.Table {
	t := answer.Table{Name: "memory", Title: "Memory as the host sees it; what the guest uses (caches, heaps) is not in a capture",
		Columns: size.Columns("VM", ">size", ">active", ">active peak", ">consumed", ">reserved", "range or reason")}
	for _, a := range shown {
		m := &a.Memory
		why := m.Reason
		if m.Low > 0 {
			why = fmt.Sprintf("%s to %s", m.Low, m.High)
		}
		if m.Over > 0 {
			why += fmt.Sprintf("; %s less fits %s of %s", m.Over, words.Plural(m.Nodes, "node"), m.Node)
			if m.Low > 0 && !m.Fits {
				why += ", which is below the range"
			}
		}
		t.Add(a.Name, bytesOr(int64(m.Size), m.Size.String()), bytesOr(int64(m.ActivePeak), m.ActiveAt.String()), bytesOr(int64(m.ActivePeak), m.ActivePeak.String()),
			bytesOr(int64(m.Consumed), m.Consumed.String()), bytesOr(int64(m.Reserved), m.Reserved.String()), why)
	}
	return t
}

// bytesOr returns the text; "-" if n is 0.
func bytesOr(n int64, text string) string {
	if n == 0 {
		return "-"
	}
	return text
}

// owners lists facts that captures lack.
const owners = "Not in a capture: vendors' sizes (SAP HANA), databases' memory settings, licences, failover. Ask the owner first."

func notes(r *rightsize.Result, o *Options) (out []string) {
	out = append(out, reasons(r, rightsize.Keep, "Kept")...)
	out = append(out, reasons(r, rightsize.NotJudged, "Not judged")...)
	if r.Totals.Judged > 0 && longest(r) < 7*24*time.Hour {
		out = append(out, fmt.Sprintf("%s observed: no week, no end of a month is in it. What runs then is not known.", words.Duration(longest(r))))
	}
	if n := runUnknown(r); n > 0 {
		out = append(out, fmt.Sprintf("The capture states no %% Run of %s: %% Used stands for it, which is less on shared cores and more with turbo.", words.Plural(n, "VM")))
	}
	out = append(out, memoryNotes(r)...)
	out = append(out, guess(r)...)
	if r.Totals.Smaller > 0 || r.Totals.Ranges > 0 {
		out = append(out, owners)
	}
	if o.Unseen > 0 {
		out = append(out, fmt.Sprintf("In the inventory, not in the capture: %s that should run on these hosts.", words.Plural(o.Unseen, "VM")))
	}
	for _, n := range o.Notes {
		out = append(out, n.String())
	}
	return out
}

// reasons groups the VMs of a verdict by reason. It skips VMs without a reason.
func reasons(r *rightsize.Result, v rightsize.Verdict, what string) (out []string) {
	names := map[string][]string{}
	var order []string
	for i := range r.VMs {
		a := &r.VMs[i]
		if a.Verdict != v || a.Reason == "" {
			continue
		}
		if names[a.Reason] == nil {
			order = append(order, a.Reason)
		}
		names[a.Reason] = append(names[a.Reason], a.Name)
	}
	for _, reason := range order {
		out = append(out, fmt.Sprintf("%s: %s: %s.", what, words.First(4, names[reason]), reason))
	}
	return out
}

func longest(r *rightsize.Result) (most time.Duration) {
	for i := range r.VMs {
		if r.VMs[i].Verdict != rightsize.NotJudged {
			most = max(most, r.VMs[i].Seen)
		}
	}
	return most
}

func runUnknown(r *rightsize.Result) int {
	return words.Count(r.VMs, func(a rightsize.Advice) bool { return a.RunUnknown && a.Verdict != rightsize.NotJudged })
}

// memoryNotes counts the VMs whose memory is not assessed, by reason, and the VMs that do not
// fit their nodes.
func memoryNotes(r *rightsize.Result) (out []string) {
	var vms keyed.Lists[string, *rightsize.Advice]
	for i := range r.VMs {
		a := &r.VMs[i]
		if reason := a.Memory.Reason; reason != "" && a.Verdict != rightsize.NotJudged {
			vms.Add(reason, a)
		}
	}
	for reason, alike := range vms.All() {
		out = append(out, fmt.Sprintf("Memory of %s: no range: %s.", words.Plural(len(alike), "VM"), reason))
	}
	for i := range r.VMs {
		a := &r.VMs[i]
		if m := &a.Memory; m.Over > 0 {
			text := fmt.Sprintf("%s needs %s less memory to fit %s of %s", a.Name, m.Over, words.Plural(m.Nodes, "node"), m.Node)
			if n := moreNodes(a); n > 0 {
				text = fmt.Sprintf("%s: %s over %s of %s: %d NUMA nodes of %d vCPUs would hold it (N005), as would less memory", a.Name, m.Over,
					words.Plural(m.Nodes, "node"), m.Node, n, a.Suggested/n)
			}
			switch {
			case m.Reason == rightsize.Locked:
				text = fmt.Sprintf("%s has %s more memory than %s of %s, all of it locked", a.Name, m.Over, words.Plural(m.Nodes, "node"), m.Node)
			case m.Fits:
				text += ": its active memory allows it, its guest decides"
			case m.Low > 0:
				text += ": its active memory with headroom is more"
			}
			out = append(out, text+".")
		}
	}
	return out
}

// moreNodes returns the number of host nodes over which the memory of a VM could be spread
// equally with the suggested vCPUs. It is 0 if there are too few nodes, or they are unknown.
func moreNodes(a *rightsize.Advice) int {
	m := &a.Memory
	if len(a.Kinds) == 0 || m.Node <= 0 {
		return 0
	}
	for n := m.Nodes + 1; n <= a.Kinds[0].Nodes; n++ {
		if m.Size <= m.Node*numa.Bytes(n) && a.Suggested%n == 0 {
			return n
		}
	}
	return 0
}

// demandChart draws the demand of each VM relative to its vCPUs, with the suggestion as a line.
func demandChart(r *rightsize.Result, shown []*rightsize.Advice) (chart.Chart, bool) {
	if len(shown) == 0 {
		return chart.Chart{}, false
	}
	t := &r.Totals
	bars := &chart.Bars{X: picture.Axis{Label: "vCPUs", Text: func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }}, Limit: "suggested"}
	c := chart.Chart{ID: "rightsize", Title: fmt.Sprintf("%d of %s could be smaller, %d should grow", t.Smaller, words.Plural(t.Judged, "VM"), t.Larger),
		Note: fmt.Sprintf("Demand is run + ready. Not judged: %d.", t.VMs-t.Judged), Figure: bars}
	names := map[string]int{}
	for _, a := range shown {
		d := a.Demand
		row := chart.Row{Name: a.Name, Value: arrow(a.VCPUs, a.Suggested) + " vCPUs", Limit: float64(a.Suggested)}
		if names[a.Name]++; names[a.Name] > 1 {
			row.Name = fmt.Sprintf("%s (%d)", a.Name, names[a.Name])
		}
		at := 0.0
		for _, s := range []struct {
			kind string
			to   float64
			soft bool
		}{{"half of the time", d.P50, false}, {"95 % of the time", d.P95, false}, {"99 % of the time", d.P99, false}, {"peak", d.Peak, false}, {"configured", float64(a.VCPUs), true}} {
			// Empty segments keep the order of the legend.
			row.Segments = append(row.Segments, chart.Segment{Kind: s.kind, Value: max(0, s.to-at), Soft: s.soft})
			at = max(at, s.to)
		}
		bars.Rows = append(bars.Rows, row)
	}
	return c, true
}
