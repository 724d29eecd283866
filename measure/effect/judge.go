package effect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/stat"
	"example.org/homenode/internal/words"
	"example.org/homenode/measure/quantity"
)

// Judge assesses whether the VMs with a Changed gained in one measure, compared with the other VMs of their clusters. The
// order of the VMs does not matter. Days are in the zone, as in DaysOf; nil is UTC.
func Judge(vms []VM, m quantity.Quantity, zone *time.Location) *Result {
	r := &Result{Measure: m, Answer: NotKnown}
	all := clusters(vms, m, zone)
	// Until a change takes effect, the days before it determine which effect could be seen.
	testable := func(s *subject) bool { return s.report.Alone == "" }
	waiting := !slices.ContainsFunc(all, func(c *cluster) bool { return slices.ContainsFunc(c.changed, testable) })
	var in []*cluster
	var reports []*Changed
	for _, c := range all {
		var tested []*subject
		for _, s := range c.changed {
			reports = append(reports, s.report)
			if testable(s) || waiting && s.report.DaysBefore > 0 && len(s.after) == 0 {
				tested = append(tested, s)
			}
		}
		if len(tested) == 0 {
			continue
		}
		left := c.choose(tested)
		r.Left = append(r.Left, left...)
		c.fill()
		if n := len(c.controls); n < LeastControls {
			for _, s := range tested {
				s.report.Alone = fmt.Sprintf("%s of cluster %q can be compared with, want %d", words.Plural(n, "VM"), c.name, LeastControls)
			}
			continue
		}
		for _, s := range c.controls {
			before, _ := s.mean(c.periods[0].before)
			after, _ := s.mean(c.periods[0].after)
			r.Controls = append(r.Controls, Control{s.vm.ID, s.vm.Name, s.vm.Cluster, *before, after})
		}
		in = append(in, c)
	}
	for _, c := range reports {
		r.VMs = append(r.VMs, *c)
	}
	r.decide(in, waiting)
	return r
}

// decide tests the remaining clusters.
func (r *Result) decide(in []*cluster, waiting bool) {
	tested := 0
	for _, c := range in {
		for _, s := range c.changed {
			if tested++; tested == 1 || s.report.DaysBefore < r.Before {
				r.Before = s.report.DaysBefore
			}
			if tested == 1 || s.report.DaysAfter < r.After {
				r.After = s.report.DaysAfter
			}
		}
	}
	if tested > 0 {
		r.Spread = spreadOf(in, onlyBefore)
	}
	if waiting || tested < LeastChanged {
		if !waiting {
			r.Tested = tested
		}
		r.Why = r.whyNot(tested)
		return
	}
	r.Tested = tested
	lots := make([]stat.Lot, len(in))
	for i, c := range in {
		labels, gains := c.gains()
		lots[i] = stat.NewLot(labels, gains, tested)
	}
	t := &Test{}
	t.Effect, t.Chosen, t.Ways, t.All = stat.Permute(lots)
	var deviation float64
	t.Daily, deviation = daily(in, t.Effect)
	t.Interval = stat.Around(lots, t.Effect, deviation)
	t.P = max(t.Chosen, t.Daily)
	r.Test = t
	switch {
	case 1/float64(t.Ways) >= Level:
		r.Why = fmt.Sprintf("there are %d ways to choose the changed VMs, so p cannot be below %.2f", t.Ways, 1/float64(t.Ways))
	case t.P >= Level:
		r.Why = fmt.Sprintf("p is %.2f: such a difference is also there without a change", t.P)
	case math.Abs(t.Effect) < r.Measure.Least:
		r.Why = fmt.Sprintf("the difference is certain, but below %s, which is of no consequence", r.Measure.Text(r.Measure.Least))
	case t.Effect > 0 == r.Measure.Higher:
		r.Answer = Helped
	default:
		r.Answer = Worse
	}
}

// whyNot returns why there is no test.
func (r *Result) whyNot(tested int) string {
	var whys []string
	for _, c := range r.VMs {
		if c.Alone != "" && !slices.Contains(whys, c.Alone) {
			whys = append(whys, c.Alone)
		}
	}
	if len(r.VMs) == 0 {
		whys = append(whys, "no VM was changed")
	}
	if tested == 1 {
		whys = append(whys, "one VM alone cannot be tested")
	}
	return strings.Join(whys, "; ")
}

// fill computes the gain of each tested VM relative to the controls.
func (c *cluster) fill() {
	if len(c.controls) == 0 {
		return
	}
	common := c.common()
	for _, s := range c.changed {
		if before, after := s.level(s.before, common), s.level(s.after, common); !math.IsNaN(before) && !math.IsNaN(after) {
			gain := after - before
			s.report.Gain = &gain
		}
	}
}

// common returns the mean of the controls on each day.
func (c *cluster) common() map[Date]float64 {
	out := map[Date]float64{}
	for _, p := range c.periods {
		for _, d := range slices.Concat(p.before, p.after) {
			sum := 0.0
			for _, s := range c.controls {
				sum += s.on[d]
			}
			out[d] = sum / float64(len(c.controls))
		}
	}
	return out
}

// level returns the VM's mean distance from the controls on the valid days; NaN without any.
func (s *subject) level(days []Date, common map[Date]float64) float64 {
	sum, n := 0.0, 0
	for _, d := range days {
		if x, ok := s.on[d]; ok {
			sum += x - common[d]
			n++
		}
	}
	return sum / float64(n)
}

// gains returns the gain of every VM in every period, changed VMs first, and the labels for the permutation. On an invalid
// day, a changed VM is assumed to have the value of the controls plus its usual distance from them. So its own gain is that of
// the valid days, relative to the controls on the same days.
func (c *cluster) gains() (labels []int, gains [][]float64) {
	common := c.common()
	for _, s := range slices.Concat(c.changed, c.controls) {
		label, above := 0, [2]float64{}
		if s.report != nil {
			label = 1 + slices.IndexFunc(c.periods, s.period.equal)
			above = [2]float64{s.level(s.before, common), s.level(s.after, common)}
		}
		mean := func(days []Date) float64 {
			sum := 0.0
			for _, d := range days {
				x, ok := s.on[d]
				switch {
				case ok:
				case d <= s.before[len(s.before)-1]:
					x = common[d] + above[0]
				default:
					x = common[d] + above[1]
				}
				sum += x
			}
			return sum / float64(len(days))
		}
		gain := make([]float64, len(c.periods))
		for i, p := range c.periods {
			gain[i] = mean(p.after) - mean(p.before)
		}
		labels, gains = append(labels, label), append(gains, gain)
	}
	return labels, gains
}
