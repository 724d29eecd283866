// Package io answers how much CPU a storage load costs.
package io

import (
	"fmt"
	"slices"
	"strings"

	"homenode/internal/words"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/size"
	"homenode/size/iocost"
)

// Answer returns the answer of size io: a study by the model m.
func Answer(m *iocost.Model, s *iocost.Study) (*answer.Answer, error) {
	q := &s.Question
	a := &answer.Answer{Command: "size io", Question: question(q), Assumed: assumed(s), Verdict: verdict(s), Result: s}
	a.Tables = []answer.Table{table(s)}
	for i := range s.If {
		a.Changes = append(a.Changes, change(s, &s.If[i]))
	}
	if c, ok := ends(s); ok {
		a.Changes = append(a.Changes, c)
	}
	a.Note(s.Notes...)
	a.Next = []string{"homenode size io --published"}
	charts, err := charts(m, s)
	if err != nil {
		return nil, err
	}
	size.AddCharts(a, charts...)
	return a, nil
}

// question returns what was asked in one line.
func question(q *iocost.Question) string {
	parts := words.Texts(q.Workloads, func(one iocost.Asked) string { return one.Text() })
	s := "size io: " + strings.Join(parts, " + ")
	if len(parts) > 1 && len(s) > 80 {
		s = fmt.Sprintf("size io: %d workloads", len(parts))
	}
	if q.Budget > 0 {
		s += " within " + q.Budget.String() + " of the CPU"
	}
	if q.Cluster.Cores > 0 {
		if q.Cluster.Name != "" {
			s += ", " + q.Cluster.Name
		}
		s += fmt.Sprintf(", %s of %d cores", words.Plural(q.Cluster.Hosts, "host"), q.Cluster.Cores)
	}
	return s
}

// assumed returns what the result rests on: the cost of each workload, the host, and
// what was not said.
func assumed(s *iocost.Study) []answer.Assumption {
	q := &s.Question
	var out []answer.Assumption
	for i := range s.Loads {
		for _, a := range loadAssumed(&s.Loads[i], q) {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	for i := range q.Workloads {
		w := &q.Workloads[i]
		if len(w.Assumed) == 0 {
			continue
		}
		a := answer.Assumption{What: "kind of I/O", Value: fmt.Sprintf("%s read, %s random", w.Read, w.Random), Origin: unit.Assumed, Note: "not given: " + strings.Join(w.Assumed, ", ")}
		if w.Path == iocost.Network {
			a.What, a.Value, a.Note = "directions", "as much received as sent", "not given: tx, rx"
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	out = append(out, own(s)...)
	if s.Limit != nil {
		out = append(out, answer.Assumption{What: "IOPS limit", Value: s.Limit.Rate.String(), Origin: unit.Given, Note: "an I/O counts once for each 32 KiB begun (assumed)"})
	}
	if c := q.Cluster; c.Cores > 0 {
		a := answer.Assumption{What: "CPU of a host", Value: c.Host().String(), Origin: unit.Given, Source: fmt.Sprintf("%d cores × %s, no Hyper-Threading, no turbo", c.Cores, c.Core)}
		if c.Name != "" {
			a.Origin, a.Note = unit.Measured, "inventory of "+c.Name
			if c.CoreGiven {
				a.Origin, a.Note = unit.Given, a.Note+", frequency by --core"
			}
		}
		out = append(out, a)
	}
	return append(out, workPerCycle(s))
}

// own says which costs are the user's own.
func own(s *iocost.Study) []answer.Assumption {
	var out []answer.Assumption
	for _, o := range s.Own {
		a := answer.Assumption{What: "own costs", Value: o.File, Origin: unit.Measured, Note: "--coefficients none takes the published ones"}
		if o.Unused > 0 {
			a.Note = fmt.Sprintf("published figures of %s not used: %s", o.Path, words.Plural(o.Unused, "kind"))
		}
		out = append(out, a)
	}
	return out
}

// loadAssumed returns the cost of one workload as assumptions.
func loadAssumed(l *iocost.Load, q *iocost.Question) []answer.Assumption {
	name := l.Path.Name()
	if q.Options.Rules {
		for _, r := range iocost.Rules() {
			if r.Path == l.Path {
				a := perBit(name+", rule of thumb", r.Cost)
				a.Note = "exact mean " + unit.Digits(float64(r.Exact), 3)
				return []answer.Assumption{a}
			}
		}
	}
	switch {
	case l.Path == iocost.Network:
		var out []answer.Assumption
		if l.TX > 0 {
			out = append(out, perBit("network, send", iocost.Transmit))
		}
		if l.RX > 0 {
			out = append(out, perBit("network, receive", iocost.Receive))
		}
		return out
	case l.Cost == nil:
		return []answer.Assumption{perBit(name, iocost.Memory)}
	}
	c := l.Cost.PerIO
	a := answer.Figure(fmt.Sprintf("%s, %s I/O", name, iocost.Size(l.Block)), c, unit.Cycles.String)
	a.Range = between(c.Low.String(), c.High.String(), " cycles")
	if l.Cost.Digits {
		a.Range = plusMinus(float64(c.Low), float64(c.Value), float64(c.High)) + ", digits"
	}
	if l.AtLeast {
		a.Value = "≥ " + a.Value
	}
	out := []answer.Assumption{a}
	for _, why := range l.Why {
		out = append(out, answer.Assumption{What: "  " + string(l.Basis), Origin: unit.Assumed, Note: why})
	}
	if l.RDMA != nil {
		out = append(out, answer.Figure("  saved by RDMA", *l.RDMA, func(s unit.Share) string { return unit.Digits(float64(s)*100, 3) + " %" }))
	}
	return out
}

// plusMinus writes how far the ends of a range are from its value: "±0.5 %".
func plusMinus(low, value, high float64) string {
	return "±" + unit.Digits(100*max(high/value-1, 1-low/value), 1) + " %"
}

// perBit returns the cost of a bit as an assumption, its unit printed once.
func perBit(what string, f unit.Figure[unit.CyclesPerBit]) answer.Assumption {
	text := func(v unit.CyclesPerBit) string { return hzPerBit(v) + " Hz per b/s" }
	a := answer.Figure(what, f, text)
	a.Range = between(text(f.Low), text(f.High), " Hz per b/s")
	return a
}

// hzPerBit writes a cost, with two digits where it is an estimate anyway.
func hzPerBit(v unit.CyclesPerBit) string {
	if v < 0.01 {
		return unit.Digits(float64(v), 2)
	}
	return unit.Digits(float64(v), 3)
}

// between returns the ends of a range with their common unit left out; "" when they read
// alike.
func between(low, high, suffix string) string {
	if low == high {
		return ""
	}
	return strings.TrimSuffix(low, suffix) + " to " + strings.TrimSuffix(high, suffix)
}

// workPerCycle says that a cycle is taken for a cycle, or what else was given.
func workPerCycle(s *iocost.Study) answer.Assumption {
	a := answer.Assumption{What: "work per cycle", Value: "as on the measured CPU", Origin: unit.Assumed, Note: "--ipc states another"}
	for i := range s.Loads {
		if v := s.Loads[i].IPC; v != 1 {
			a.Value, a.Origin, a.Note = fmt.Sprintf("%v × the measured CPU", v), unit.Given, "--ipc"
		}
	}
	return a
}

// table returns the workloads, one a row.
func table(s *iocost.Study) answer.Table {
	t := answer.Table{Name: "workloads", Columns: size.Columns("workload", ">IOPS", ">traffic", ">cycles", ">Hz/bit", ">CPU", ">range", ">network", "cost is")}
	for i := range s.Loads {
		l := &s.Loads[i]
		name := l.Path.Name()
		if len(s.Loads) > 1 {
			name = l.Name()
		}
		row := []string{name, "", traffic(l.Path, l.Bits()), "", hzPerBit(l.PerBit.Value), l.CPU.Value.String(), hzRange(l.CPU), "", string(l.Basis)}
		if l.AtLeast {
			row[5] = "≥ " + row[5]
		}
		if l.Cost != nil && l.Cost.Digits && l.RDMA == nil {
			row[6] = plusMinus(float64(l.CPU.Low), float64(l.CPU.Value), float64(l.CPU.High)) + " (digits)"
		}
		if l.Rate > 0 {
			open := s.Allowed != nil && s.Allowed.Number == i && !s.Allowed.Capped
			row[1] = strings.TrimSuffix(rateText(l.Rate, s.Basis, !open), " IOPS")
			row[3] = strings.TrimSuffix(rateText(unit.IORate(l.CPU.Value.PerIO(l.Rate)), l.Basis, false), " IOPS")
		}
		if l.Network != nil {
			row[7] = l.Network.Value.String()
		}
		t.Add(row...)
	}
	if len(s.Loads) > 1 {
		t.Add("together", "", "", "", "", bound(&s.Outcome)+s.CPU.Value.String(), hzRange(s.CPU), "", string(s.Basis))
	}
	return t
}

// hzRange returns the range of an amount of CPU in one unit: "93.1 to 94.1 GHz".
func hzRange(f unit.Figure[unit.Hz]) string {
	number, suffix, _ := strings.Cut(f.High.String(), " ")
	scale := map[string]unit.Hz{"kHz": 1e3, "MHz": unit.MHz, "GHz": unit.GHz, "THz": 1e3 * unit.GHz}[suffix]
	if scale == 0 {
		scale = 1
	}
	low := unit.Digits(float64(f.Low/scale), 3)
	if low == number {
		return ""
	}
	return low + " to " + number + " " + suffix
}

// change returns a variant as a line.
func change(s *iocost.Study, v *iocost.Variant) answer.Change {
	c := answer.Change{If: v.If, Result: bound(&v.Outcome) + v.CPU.Value.String(), Change: size.Signed(v.Change)}
	switch {
	case v.Allowed != nil && v.Allowed.Rate != nil:
		c.Result = rateText(v.Allowed.Rate.Value, v.Basis, v.Allowed.Capped) + ", " + v.Allowed.Traffic.Value.Bytes()
	case v.Allowed != nil:
		c.Result = traffic(s.Loads[v.Allowed.Number].Path, v.Allowed.Traffic.Value)
	case v.Share > 0:
		c.Result += ", " + v.Share.String()
		if s.Question.Budget > 0 {
			c.Result += ", " + words.Plural(int(v.Need.Hosts.Value), "host")
		}
	}
	if v.Basis == iocost.Extrapolated && s.Basis != iocost.Extrapolated {
		ends := hzRange(v.CPU)
		if v.Allowed != nil {
			ends = allowedRange(s.Loads[v.Allowed.Number].Path, v.Allowed)
		}
		c.Result += fmt.Sprintf(" (%s: %s)", v.Basis, ends)
	}
	return c
}

// ends says what the ends of the range of the costs come to.
func ends(s *iocost.Study) (answer.Change, bool) {
	c := answer.Change{If: "costs at the ends of their range"}
	if s.Printed() {
		c.If = "costs within the digits printed" // a range of one test is no more than that
	}
	c.Result = hzRange(s.CPU)
	if a := s.Allowed; a != nil {
		c.Result = allowedRange(s.Loads[a.Number].Path, a)
	}
	low, high := s.Ends()
	c.Change = size.Signed(low) + " to " + size.Signed(high)
	return c, c.Result != "" && low != high
}

// allowedRange returns the ends of what a budget allows of the workload.
func allowedRange(path iocost.Path, a *iocost.Allowed) string {
	if a.Rate != nil {
		low, high := unit.IORate(threeDigits(float64(a.Rate.Low))), unit.IORate(threeDigits(float64(a.Rate.High)))
		return strings.TrimSuffix(low.String(), " IOPS") + " to " + high.String()
	}
	low, high := traffic(path, a.Traffic.Low), traffic(path, a.Traffic.High)
	_, suffix, _ := strings.Cut(high, " ")
	return strings.TrimSuffix(low, " "+suffix) + " to " + high
}

// traffic writes the traffic of a path: of a network in bits.
func traffic(path iocost.Path, b unit.BitRate) string {
	if path == iocost.Network {
		return b.String()
	}
	return b.Bytes()
}
