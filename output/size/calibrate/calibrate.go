// Package calibrate has the answer that compares the CPU cost of I/O on a measured host with
// the published cost.
package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/calibrate"
	"example.org/homenode/size/iocost"
)

// A Calibration is the result of evaluating benchmark results, with its assumptions.
type Calibration struct {
	Question    string
	Path        iocost.Path
	Assumed     []answer.Assumption // other than the cost of the network
	Trials      []calibrate.Trial
	Options     calibrate.Options
	Result      *calibrate.Result
	Comparisons []calibrate.Comparison
	Notes       []string
	Saved       string // a sentence about the file of coefficients
	Details     bool
}

// Answer returns the answer about the CPU cost of I/O on the user's hardware.
func Answer(c *Calibration) *answer.Answer {
	a := &answer.Answer{Command: "size calibrate", Question: c.Question, Assumed: c.Assumed}
	if idle, ok := idle(c); ok {
		a.Assumed = append(a.Assumed, idle)
	}
	split := slices.ContainsFunc(c.Result.Costs, func(cost calibrate.Cost) bool { return cost.Storage != nil })
	if split {
		a.Assumed = append(a.Assumed, network(&c.Options))
	}
	a.Verdict = append(verdict(c), c.Saved)
	a.Tables = append(a.Tables, costs(c, split))
	if len(c.Result.Fits) > 0 {
		a.Tables = append(a.Tables, fits(c.Result.Fits))
	}
	if c.Details {
		a.Tables = append(a.Tables, trials(c))
	}
	if len(c.Result.Left) > 0 {
		a.Tables = append(a.Tables, left(c.Result.Left))
	}
	a.Changes = changes(c)
	a.Note(notes(c)...)
	size.AddCharts(a, charts(c)...)
	a.Result = struct {
		Path        iocost.Path `json:"path"`
		Hardware    string      `json:"hardware,omitempty"`
		Core        unit.Hz     `json:"core,omitempty"`
		Runs        int         `json:"runs"`
		Comparisons any         `json:"comparisons,omitempty"`
		*calibrate.Result
	}{c.Path, c.Options.Hardware, c.Options.Core, len(c.Trials), c.Comparisons, c.Result}
	return a
}

// idle states the assumed CPU use of an idle host; ok is false if no host was measured.
func idle(c *Calibration) (answer.Assumption, bool) {
	as := answer.Assumption{What: "an idle host", Origin: unit.Given}
	hosts, unknown := 0, 0
	for i := range c.Trials {
		l := c.Trials[i].Load
		if l == nil || l.Scope != calibrate.Host {
			continue
		}
		hosts++
		switch {
		case l.Idle == nil:
			unknown++
		case as.Value == "":
			as.Value, as.Source = l.Idle.Value.String(), strings.TrimRight(strings.TrimRight(l.Source, "0123456789"), ":")
		case as.Value != l.Idle.Value.String():
			as.Value = "by test"
		}
	}
	switch {
	case unknown > 0 && as.Value != "":
		as.Value += fmt.Sprintf(", not known of %s", words.Plural(unknown, "run"))
	case unknown > 0:
		as.Value, as.Origin, as.Source = "0 Hz", unit.Assumed, "no --idle: the costs are too high by idle × hosts ÷ IOPS"
	}
	return as, hosts > 0
}

// network states the assumed cost of the network.
func network(o *calibrate.Options) answer.Assumption {
	perBit := func(v unit.CyclesPerBit) string { return unit.Digits(float64(v), 3) }
	pair := func(tx, rx unit.CyclesPerBit) string { return perBit(tx) + " and " + perBit(rx) }
	as := answer.Assumption{
		What: "network, tx and rx", Value: pair(o.Transmit.Value, o.Receive.Value) + " Hz per b/s",
		Origin: o.Transmit.Origin, Source: o.Transmit.Source, Hardware: o.Transmit.Hardware,
	}
	if o.Transmit.Low != o.Transmit.High || o.Receive.Low != o.Receive.High {
		as.Range = "to " + pair(o.Transmit.High, o.Receive.High)
	}
	return as
}

// verdict states whether own and published figures disagree, and by how much.
func verdict(c *Calibration) []string {
	kinds := words.Count(c.Result.Costs, func(cost calibrate.Cost) bool { return !cost.AtLeast() })
	if kinds == 0 {
		return []string{"No cost, only lower bounds: the CPU of the hosts is not known (--cpu-file, --cpu)."}
	}
	if len(c.Comparisons) == 0 {
		return []string{fmt.Sprintf("%s of I/O measured; the same is not published, so there is nothing to compare.", words.Plural(kinds, "kind"))}
	}
	most, agree := c.Comparisons[0], 0
	for _, cmp := range c.Comparisons {
		if cmp.Verdict == calibrate.Agrees {
			agree++
		}
		if math.Abs(float64(cmp.Deviation)) > math.Abs(float64(most.Deviation)) {
			most = cmp
		}
	}
	if agree == len(c.Comparisons) {
		return []string{fmt.Sprintf("Yours agree with the published figures where there are any (kinds: %d of %d), at most %s apart.", len(c.Comparisons), kinds, apart(most.Deviation))}
	}
	why := ""
	if most.Verdict == calibrate.Other {
		why = " (other hardware)"
	}
	return []string{fmt.Sprintf("Yours differ from the published figures (kinds: %d of %d), at most by %s%s: %s.",
		len(c.Comparisons)-agree, len(c.Comparisons), deviated(most.Deviation), why, calibrate.KindText(most.Kind))}
}

// deviated formats a deviation: "+35 %", "-2.4 %".
func deviated(v unit.Share) string {
	v = unit.Share(math.Round(float64(v)*1000) / 1000)
	if v > 0 {
		return "+" + v.String()
	}
	return (v + 0).String() // -0 + 0 is 0
}

func apart(v unit.Share) string { return strings.TrimLeft(deviated(v), "+-") }

// kiloCycles formats cycles in thousands: "640.5 k", "1,826 k".
func kiloCycles(c unit.Cycles) string {
	v := float64(c) / 1000
	after := 1
	if math.Abs(v) >= 999.95 {
		after = 0
	}
	return unit.Grouped(v, after) + " k"
}

// cycleRange formats a range in thousands: "633.1 to 647.9 k".
func cycleRange(low, high unit.Cycles) string {
	return strings.TrimSuffix(kiloCycles(low), " k") + " to " + kiloCycles(high)
}

func costs(c *Calibration, split bool) answer.Table {
	t := answer.Table{Name: "costs", Title: "cycles of one I/O, less those of the idle host", Columns: size.Columns("kind", ">runs", ">cycles", ">range", ">Hz per b/s")}
	if split {
		t.Columns = append(t.Columns, answer.Column{Name: "storage only", Right: true})
	}
	t.Columns = append(t.Columns, answer.Column{Name: "published", Right: true}, answer.Column{Name: "yours", Right: true}, answer.Column{Name: "verdict"})
	for i := range c.Result.Costs {
		cost := &c.Result.Costs[i]
		cycles := kiloCycles(cost.PerIO.Value)
		if cost.AtLeast() {
			cycles = "≥ " + cycles
		}
		row := []string{calibrate.KindText(cost.Kind), fmt.Sprint(cost.Runs), cycles, cycleRange(cost.PerIO.Low, cost.PerIO.High), unit.Digits(float64(cost.PerBit), 3)}
		if split {
			storage := "not known"
			if cost.Storage != nil {
				storage = kiloCycles(cost.Storage.Value)
			}
			row = append(row, storage)
		}
		published := []string{"none", "", ""}
		if cost.AtLeast() {
			published = []string{"", "", "a lower bound"}
		}
		for _, cmp := range c.Comparisons {
			if cmp.Kind == cost.Kind && cmp.Scope == cost.Scope {
				verdict, _, _ := strings.Cut(string(cmp.Verdict), ":")
				published = []string{kiloCycles(cmp.Published.Value), deviated(cmp.Deviation), verdict}
			}
		}
		t.Add(append(row, published...)...)
	}
	return t
}

func fits(fits []calibrate.Fit) answer.Table {
	t := answer.Table{Name: "fits", Title: "cycles = a + b × KiB, least squares over sizes, 95 % intervals", Columns: size.Columns("direction", ">sizes", ">a", ">a from to", ">b", ">b from to")}
	for i := range fits {
		f := &fits[i]
		kib := func(v unit.CyclesPerBit) string { return unit.Grouped(float64(v.PerIO(1024)), 0) }
		direction := directionOf(iocost.Kind{Read: f.Read, Random: f.Random})
		if f.Scope != calibrate.Host {
			direction += ", " + string(f.Scope)
		}
		t.Add(
			direction, fmt.Sprint(f.Sizes), kiloCycles(f.Fixed.Value), cycleRange(f.Fixed.Low, f.Fixed.High),
			kib(f.PerBit.Value), kib(f.PerBit.Low)+" to "+kib(f.PerBit.High),
		)
	}
	return t
}

func trials(c *Calibration) answer.Table {
	t := answer.Table{Name: "trials", Title: "what each run said", Columns: size.Columns("test", ">IOPS", ">hosts", ">CPU of one", ">idle", "CPU from")}
	for i := range c.Trials {
		tr := &c.Trials[i]
		row := []string{tr.Test, unit.Grouped(float64(tr.IOPS.Value), 0), "", "", "", ""}
		if l := tr.Load; l != nil {
			idle := "none"
			if l.Idle != nil {
				idle = l.Idle.Value.String()
			}
			row = []string{row[0], row[1], fmt.Sprint(l.Hosts), l.CPU.Value.String(), idle, l.Source}
		}
		t.Add(row...)
	}
	return t
}

func left(left []calibrate.Left) answer.Table {
	t := answer.Table{Name: "left", Title: "left out", Columns: size.Columns("where", "test", "why")}
	for _, l := range left {
		t.Add(l.Place, l.Test, l.Reason)
	}
	return t
}

func notes(c *Calibration) []string {
	var out []string
	for i := range c.Result.Costs {
		out = words.Once(out, "range, "+c.Result.Costs[i].Method)
	}
	for i := range c.Result.Costs {
		switch cost := &c.Result.Costs[i]; {
		case cost.AtLeast():
			out = words.Once(out, "≥: fio counts the CPU of its own threads. Interrupts of the guest, and all that the hypervisor does for the I/O, are not in it: such figures are not saved.")
		case cost.Scope == calibrate.Guest:
			out = words.Once(out, "CPU is as the guest sees it: what the hypervisor does for its I/O is not in it.")
		}
		if cost := &c.Result.Costs[i]; !cost.AtLeast() && cost.Scope != calibrate.PublishedScope(cost.Path) {
			out = words.Once(out, fmt.Sprintf("The published costs of %s are of the CPU of %ss, yours of %ss: they are not compared.", cost.Path.Name(), calibrate.PublishedScope(cost.Path), cost.Scope))
		}
	}
	for _, cmp := range c.Comparisons {
		if cmp.Verdict != calibrate.Agrees {
			out = words.Once(out, "published: "+cmp.Published.Source+", "+cmp.Published.Hardware+". Cycles on another generation of CPU differ.")
		}
	}
	out = append(out, c.Result.Doubts...)
	return append(out, c.Notes...)
}
