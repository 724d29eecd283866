package io

import (
	"fmt"
	"math"
	"strings"

	"homenode/internal/words"
	"homenode/numa/unit"
	"homenode/size/iocost"
)

// verdict returns the result in words.
func verdict(s *iocost.Study) []string {
	var out []string
	if s.Allowed != nil {
		out = append(out, allowedVerdict(s))
	}
	if s.Need != nil && (s.Question.Budget > 0 || s.MayLack()) {
		out = append(out, needVerdict(s))
	}
	line := bound(&s.Outcome) + s.CPU.Value.String()
	if how := uncertainty(s); how != "" && s.Allowed == nil { // else the budget says what CPU it is
		line += " (" + how + ")"
	}
	if s.Cores > 0 {
		line += ": " + unit.Digits(s.Cores, 3) + " cores"
	}
	if s.Share > 0 {
		line += fmt.Sprintf(", %s of the CPU of %s", s.Share, words.Plural(s.Cluster.Hosts, "host"))
	}
	switch budget := s.Question.Budget.String(); s.Against {
	case iocost.OverBudget:
		line += ", over the budget of " + budget
	case iocost.MaybeOver:
		line += ", within the budget of " + budget + ", but not at the high end of its range"
	case iocost.InBudget:
		line += ", within the budget of " + budget
	}
	out = append(out, line+".")
	if l := s.Limit; l != nil && l.Capped {
		out = append(out, fmt.Sprintf("IOPS limits allow %s: counted with these.", l.Rate))
	}
	return out
}

// needVerdict says how many hosts and cores keep the CPU within the budget.
func needVerdict(s *iocost.Study) string {
	n := s.Need
	how := ""
	if s.Basis != iocost.Measured {
		how = string(s.Basis)
	}
	line := "needs " + bound(&s.Outcome) + needed(n.Hosts, "host", how) + ", " + needed(n.Cores, "core", "")
	if n.Share < 1 {
		line += ", for I/O within " + n.Share.String() + " of the CPU"
	}
	return line + "."
}

// needed writes a whole number of things with its range and how it is known: "41 hosts
// (40 to 42, interpolated)".
func needed(f unit.Figure[float64], what, how string) string {
	var parts []string
	if f.Low < f.High {
		parts = append(parts, words.Thousands(int(f.Low))+" to "+words.Thousands(int(f.High)))
	}
	if how != "" {
		parts = append(parts, how)
	}
	line := words.Plural(int(f.Value), what)
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	return line
}

// bound returns the sign of CPU that is a lower bound.
func bound(o *iocost.Outcome) string {
	if o.AtLeast {
		return "≥ "
	}
	return ""
}

// uncertainty says how CPU is known when it is not measured, or within wide ends.
func uncertainty(s *iocost.Study) string {
	var parts []string
	if ends := hzRange(s.CPU); ends != "" && s.Unsure() {
		parts = append(parts, ends)
	}
	if s.Basis != iocost.Measured {
		parts = append(parts, string(s.Basis))
	}
	return strings.Join(parts, ", ")
}

// allowedVerdict says how much of the open workload fits. At most is what a measured cost, a
// cost that is a lower bound, or an IOPS limit leaves; else it is about as much.
func allowedVerdict(s *iocost.Study) string {
	a := s.Allowed
	l := &s.Loads[a.Number]
	word := "at most "
	switch {
	case s.Basis == iocost.Measured || a.Capped:
	case s.AtLeast:
		word = "at most about "
	default:
		word = "about "
	}
	line := word + a.Traffic.Value.Bytes()
	if l.Path == iocost.Network {
		line = word + l.TX.String() + " sent and " + l.RX.String() + " received"
	}
	if a.Rate != nil {
		line = word + rateText(a.Rate.Value, s.Basis, a.Capped)
	}
	if s.Basis != iocost.Measured {
		how := string(s.Basis)
		if a.Traffic.Low < a.Traffic.High {
			how = allowedRange(l.Path, a) + ", " + how
		}
		line += " (" + how + ")"
	}
	if a.Rate != nil {
		line += ", " + a.Traffic.Value.Bytes()
	}
	return fmt.Sprintf("%s, %s.", line, l.Path.Name())
}

// rateText writes I/Os a second: to three digits when their cost is not measured.
func rateText(r unit.IORate, b iocost.Basis, exactly bool) string {
	if b != iocost.Measured && !exactly {
		r = unit.IORate(threeDigits(float64(r)))
	}
	return r.String()
}

// threeDigits rounds a number to three digits that count.
func threeDigits(v float64) float64 {
	if !(v > 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit < 1 {
		return v
	}
	return math.Round(v/unit) * unit
}
