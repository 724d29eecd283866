package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

// Options are inputs other than the trials.
type Options struct {
	// Transmit and Receive are the network costs.
	Transmit, Receive unit.Figure[unit.CyclesPerBit]
	Hardware          string  // stated by the user; "" unknown
	Core              unit.Hz // base frequency; 0 unknown
}

// A Result holds the costs computed from the trials.
type Result struct {
	Costs []Cost `json:"costs"` // by kind
	Fits  []Fit  `json:"fits,omitempty"`
	Left  []Left `json:"leftOut,omitempty"`
	// Doubts are warnings about trials that are used nevertheless.
	Doubts []string `json:"doubts,omitempty"`
}

// Left is an excluded trial.
type Left struct {
	Test   string `json:"test"`
	Place  string `json:"place"`
	Reason string `json:"reason"`
}

// A Cost is the cost of one kind of I/O, over all its trials.
type Cost struct {
	iocost.Point
	Scope Scope `json:"scope"`
	// Storage is PerIO less its network part; nil when the traffic is unknown.
	Storage *unit.Figure[unit.Cycles] `json:"storage,omitempty"`
	PerBit  unit.CyclesPerBit         `json:"perBit"` // PerIO divided by the bits of the block
	Method  string                    `json:"method"` // how the range was derived
	Sources []string                  `json:"sources"`
	Started []string                  `json:"started,omitempty"` // of the trials that state it
	Each    []unit.Cycles             `json:"each"`              // by trial
}

// AtLeast reports whether the cost is a lower bound: only the CPU time of the benchmark's process was measured.
func (c *Cost) AtLeast() bool { return c.Scope == Process }

// Costs returns the cost of each kind of I/O. The order of the trials does not matter.
func Costs(trials []Trial, o Options) *Result {
	r := &Result{}
	type key struct {
		kind  iocost.Kind
		scope Scope
	}
	groups := map[key][]*Trial{}
	var keys []key
	var left []*Trial
	reasons := map[*Trial]string{}
	for _, t := range inOrder(trials) {
		reason := t.impossible()
		if reason == "" {
			k := key{t.Kind, t.Load.Scope}
			if slices.ContainsFunc(groups[k], func(other *Trial) bool { return sameRun(other, t) }) {
				reason = "the same run is in another file, too: it counts once"
			} else {
				if groups[k] == nil {
					keys = append(keys, k)
				}
				groups[k] = append(groups[k], t)
			}
		}
		if reason != "" {
			left, reasons[t] = append(left, t), reason
		}
	}
	keys = slices.DeleteFunc(keys, func(k key) bool {
		reason := contradiction(groups[k])
		if reason != "" {
			for _, t := range groups[k] {
				left, reasons[t] = append(left, t), reason
			}
		}
		return reason != ""
	})
	slices.SortStableFunc(left, func(a, b *Trial) int { return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line)) })
	for _, t := range inOrder(trials) {
		if reasons[t] == "" {
			r.Doubts = append(r.Doubts, t.doubts()...)
		}
	}
	for _, t := range left {
		r.Left = append(r.Left, Left{t.Test, t.Place, reasons[t]})
	}
	for _, k := range keys {
		c := costOf(groups[k], &o)
		r.Costs = append(r.Costs, c)
		if c.Network == nil && !slices.ContainsFunc(groups[k], func(t *Trial) bool { return t.Load.Transmit == nil || t.Load.Receive == nil }) {
			r.Doubts = append(r.Doubts, fmt.Sprintf("%s: %s: the traffic alone would cost more CPU than was used: it is not that of the test, and nothing is taken off for it",
				groups[k][0].Place, KindText(c.Kind)))
		}
		r.Doubts = append(r.Doubts, c.spread(groups[k])...)
	}
	r.Fits = fits(r.Costs)
	return r
}

// mostFactor is the largest plausible ratio of the costs of two runs. Beyond it one of them
// measured something else, and two runs cannot show which.
const mostFactor = 2

// contradiction explains why the two runs of a kind cannot both be right; "" when they can.
func contradiction(trials []*Trial) string {
	if len(trials) != 2 {
		return ""
	}
	a, _, _ := trials[0].cost()
	b, _, _ := trials[1].cost()
	if !(max(a, b) > mostFactor*min(a, b)) {
		return ""
	}
	return fmt.Sprintf("two runs of one kind are a factor of %s apart: %s (%s), %s (%s)", unit.Digits(max(a, b)/min(a, b), 3),
		unit.Cycles(a), trials[0].Place, unit.Cycles(b), trials[1].Place)
}

// inOrder returns the trials by kind, then by their properties: sums are bit-identical whatever the
// order of the files.
func inOrder(trials []Trial) []*Trial {
	out := make([]*Trial, len(trials))
	for i := range trials {
		out[i] = &trials[i]
	}
	slices.SortStableFunc(out, func(a, b *Trial) int {
		return cmp.Or(compareKinds(a.Kind, b.Kind), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Test, b.Test),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Place, b.Place), cmp.Compare(a.IOPS.Value, b.IOPS.Value))
	})
	return out
}

// compareKinds orders by path, random before sequential, block, reads before writes.
func compareKinds(a, b iocost.Kind) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), -cmp.Compare(a.Random, b.Random), cmp.Compare(a.Block, b.Block), -cmp.Compare(a.Read, b.Read))
}

// sameRun reports whether two trials are the same run: the same test with the same start time and result.
func sameRun(a, b *Trial) bool {
	return a.Started != "" && a.Started == b.Started && a.Test == b.Test && a.IOPS == b.IOPS
}

// costOf returns the cost of trials of one kind and scope.
func costOf(trials []*Trial, o *Options) Cost {
	first := trials[0]
	c := Cost{Scope: first.Load.Scope}
	c.Kind, c.Core, c.Runs = first.Kind, o.Core, len(trials)
	var values []float64
	var low, high, lows, highs float64 // the lowest and highest, and the mean of each
	for i, t := range trials {
		v, l, h := t.cost()
		values = append(values, v)
		c.Each = append(c.Each, unit.Cycles(v))
		if low, high = min(low, l), max(high, h); i == 0 {
			low = l
		}
		lows, highs = lows+l/float64(len(trials)), highs+h/float64(len(trials))
		c.Sources = appendOnce(c.Sources, t.Source)
		c.Started = appendOnce(c.Started, t.Started)
	}
	f := unit.Figure[unit.Cycles]{Origin: unit.Measured, Source: strings.Join(c.Sources, ", "), Hardware: o.Hardware}
	f.Value, f.Low, f.High = unit.Cycles(values[0]), unit.Cycles(low), unit.Cycles(high)
	switch n := len(values); {
	case n == 1:
		c.Method = "1 run: no interval; the range is what the printed digits leave open"
	case n < LeastRuns:
		mean, _ := meanOf(values)
		f.Value = unit.Cycles(mean)
		c.Method = fmt.Sprintf("%d runs: no interval; the range is theirs, with what the printed digits leave open", n)
	default:
		mean, deviation := meanOf(values)
		half := quantile(n-1) * deviation / math.Sqrt(float64(n))
		f.Value = unit.Cycles(mean)
		f.Low, f.High = unit.Cycles(max(0, min(mean-half, lows))), unit.Cycles(max(mean+half, highs))
		c.Method = fmt.Sprintf("%d runs: 95 %% interval of the mean, Student's t (%s), at least what the printed digits leave open", n, unit.Digits(quantile(n-1), 4))
	}
	switch c.Scope {
	case Guest:
		f.Note = "CPU as the guest sees it, without the hypervisor's part"
	case Process:
		f.Note = "a lower bound: CPU of the benchmark's process alone"
	}
	c.PerIO = f
	c.PerBit = f.Value.PerBit(c.Block)
	c.divide(trials, o)
	return c
}

// LeastRuns is the number of repetitions needed for an interval: with two it would span thirteen standard errors.
const LeastRuns = 3

// divide divides the cost into network and storage, if every trial has its traffic.
func (c *Cost) divide(trials []*Trial, o *Options) {
	network := unit.Figure[unit.Cycles]{Origin: unit.Derived, Source: o.Transmit.Source, Hardware: o.Transmit.Hardware}
	n := unit.Cycles(len(trials))
	for _, t := range trials {
		v, low, high, ok := t.network(o)
		if !ok {
			return
		}
		network.Value += unit.Cycles(v) / n
		network.Low += unit.Cycles(low) / n
		network.High += unit.Cycles(high) / n
	}
	storage := c.PerIO
	storage.Origin = unit.Derived
	storage.Value -= network.Value
	storage.Low, storage.High = max(0, storage.Low-network.High), storage.High-network.Low
	if storage.Value > 0 { // else the traffic does not belong to the test
		c.Network, c.Storage = &network, &storage
	}
}

// spread warns of runs that are far from the median of their repetitions.
func (c *Cost) spread(trials []*Trial) []string {
	var out []string
	if len(trials) < LeastRuns {
		return nil
	}
	sorted := slices.Sorted(slices.Values(c.Each))
	n := len(sorted)
	median := (sorted[(n-1)/2] + sorted[n/2]) / 2
	for i, t := range trials {
		if off := float64(c.Each[i]/median) - 1; math.Abs(off) > spreadTolerance {
			out = append(out, fmt.Sprintf("%s: %s for each I/O, %s off the middle of the %d runs of %s: it is used, look at it",
				t.Place, c.Each[i], percent(off), n, KindText(c.Kind)))
		}
	}
	return out
}

func appendOnce(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// percent formats a signed share: "+35 %", "-2.4 %".
func percent(v float64) string {
	s := unit.Share(v).String()
	if v >= 0 {
		return "+" + s
	}
	return s
}

// KindText formats a kind without its path: "32 KiB read random", "8 KiB 70/30 random".
func KindText(k iocost.Kind) string { return strings.TrimPrefix(k.String(), string(k.Path)+" ") }
