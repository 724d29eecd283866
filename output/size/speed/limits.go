package speed

import (
	"fmt"
	"strconv"

	"homenode/internal/words"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/speed"
)

// mostLimits is how many VMs the short answer lists.
const mostLimits = 12

// Limits says which VMs of a fleet have a CPU limit; details lists all of them.
func Limits(source string, l *speed.Limits, details bool) *answer.Answer {
	out := &answer.Answer{
		Command: "size speed", Question: fmt.Sprintf("size speed: CPU limits of the %d VMs of %s", l.VMs, source), Result: l,
		Verdict: limitsVerdict(l), NoDrawing: "no VM is known to have a CPU limit",
	}
	if len(l.List) > l.NoCore {
		out.Assumed = []answer.Assumption{{What: "core", Value: "nominal frequency of the host", Origin: unit.Measured, Source: "inventory", Note: "turbo is above it: a limit counts what is used"}}
	}
	if len(l.List) > 0 {
		out.NoDrawing = "of no VM with a CPU limit the vCPUs and the frequency of its cores are known"
		out.Assumed = append(out.Assumed, answer.Assumption{What: "left over", Value: "another speed a vCPU than most of its folder", Origin: unit.Assumed, Note: "from two VMs on, more than half"})
		out.Tables = append(out.Tables, limitsTable(l, details))
		size.AddCharts(out, limitsCharts(l)...)
	}
	if len(l.Hosts) > 0 {
		out.Tables = append(out.Tables, reservedTable(l, details))
	}
	if l.Unknown > 0 {
		out.Note(fmt.Sprintf("Of %d VMs the source does not say whether they have a limit.", l.Unknown))
	}
	if len(l.List) > mostLimits && !details {
		out.Note(words.Plural(len(l.List)-mostLimits, "VM") + " more: --details")
	}
	if len(l.List) > 0 {
		out.Note("Limits of resource pools are not read: they act on top.")
	}
	return out
}

func limitsVerdict(l *speed.Limits) []string {
	switch {
	case len(l.List) == 0 && l.Unknown == l.VMs && l.VMs > 0:
		return []string{"The source says of no VM whether it has a CPU limit."}
	case len(l.List) == 0:
		return []string{"No VM has a CPU limit."}
	}
	line := fmt.Sprintf("%d of %d VMs have a CPU limit; ", len(l.List), l.VMs)
	switch {
	case l.NoCore == len(l.List):
		line += "whether it acts is unknown: so is the frequency of their cores."
	case l.NoCore > 0:
		line += fmt.Sprintf("%d of them could use more than it allows, of %d it is unknown.", l.Acting, l.NoCore)
	default:
		line += fmt.Sprintf("%d of them could use more than it allows.", l.Acting)
	}
	out := []string{line}
	if l.Odd > 0 {
		out = append(out, fmt.Sprintf("%s left over: a limit stays as it was when vCPUs are added or the host type changes.", looks(l.Odd)))
	}
	return out
}

func limitsTable(l *speed.Limits, details bool) answer.Table {
	t := answer.Table{Name: "limits", Title: "held back: of the time, when all its vCPUs want a whole core and cores are free", Columns: size.Columns("VM", "host", ">vCPUs", ">limit", ">a vCPU", ">core", ">held back", "looks left over")}
	for i := range l.List {
		if i == mostLimits && !details {
			break
		}
		v := &l.List[i]
		held := orUnknown(v.Held.String(), v.VCPUs > 0 && v.Core > 0)
		t.Add(v.VM, orUnknown(v.Host, v.Host != ""), orUnknown(strconv.Itoa(v.VCPUs), v.VCPUs > 0), v.Limit.String(),
			orUnknown(v.PerVCPU.String(), v.PerVCPU > 0 || v.VCPUs > 0), orUnknown(v.Core.String(), v.Core > 0), held, v.Odd)
	}
	return t
}

// orUnknown returns the text, or a question mark: unknown is not zero.
func orUnknown(text string, ok bool) string {
	if !ok {
		return "?"
	}
	return text
}

func reservedTable(l *speed.Limits, details bool) answer.Table {
	t := answer.Table{Name: "hosts", Title: "powered-on VMs, by host", Columns: size.Columns("host", ">VMs with reservation", ">reserved", ">of", ">share", ">sum of limits")}
	for i := range l.Hosts {
		if i == mostLimits/2 && !details {
			break
		}
		h := &l.Hosts[i]
		t.Add(h.Host, strconv.Itoa(h.VMs), h.Reservation.String(), orUnknown(h.Capacity.String(), h.Capacity > 0),
			orUnknown(h.Share.String(), h.Capacity > 0), h.Limits.String())
	}
	return t
}

// limitsCharts draws the limits that take most beside what the vCPUs could use.
func limitsCharts(l *speed.Limits) []chart.Chart {
	bars := &chart.Bars{X: chart.Axis{Label: "GHz", Text: func(v float64) string { return unit.Digits(v, 3) }}}
	seen := map[string]bool{}
	for i := range l.List {
		v := &l.List[i]
		if v.Core == 0 || v.VCPUs == 0 || seen[v.VM] || len(bars.Rows) == 2*mostLimits {
			continue
		}
		seen[v.VM] = true
		most := float64(unit.Hz(v.VCPUs)*v.Core) / float64(unit.GHz)
		limit := min(float64(v.Limit)/float64(unit.GHz), most)
		bars.Rows = append(bars.Rows, chart.Row{Name: v.VM, Value: v.Limit.String(), Segments: []chart.Segment{
			{Kind: "allowed", Value: limit}, {Kind: "held back", Value: most - limit, Soft: true},
		}})
	}
	if len(bars.Rows) == 0 {
		return nil
	}
	return []chart.Chart{{ID: "speed-limits", Title: "CPU limits beside what the vCPUs could use", Note: "whole bar: vCPUs × nominal frequency of a core", Bars: bars}}
}

func looks(n int) string {
	if n == 1 {
		return "1 looks"
	}
	return fmt.Sprintf("%d look", n)
}
