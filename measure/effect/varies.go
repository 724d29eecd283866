package effect

import "math"

// squares are the squared distances of days from their VM's level.
type squares struct {
	sum     float64
	freedom int
}

func (q *squares) deviation() float64 {
	if q.freedom <= 0 {
		return 0
	}
	return math.Sqrt(q.sum / float64(q.freedom))
}

// add adds the days of one VM and period.
func (q *squares) add(s *subject, days []Date, common map[Date]float64) (n int) {
	level := s.level(days, common)
	for _, d := range days {
		if x, ok := s.on[d]; ok {
			off := x - common[d] - level
			q.sum += float64(off * off)
			n++
		}
	}
	return n
}

// Periods for varies and spreadOf.
const (
	onlyBefore = 1 // the days before the change
	bothSides  = 2 // those and the days after, each with its own level
)

// varies returns the variation of changed VMs and controls from day to day.
func varies(in []*cluster, sides int) (changed, controls squares) {
	for _, c := range in {
		common := c.common()
		for _, s := range c.changed {
			for _, days := range [][]Date{s.before, s.after}[:sides] {
				if n := changed.add(s, days, common); n > 0 {
					changed.freedom += n - 1
				}
			}
		}
		p := c.periods[0]
		for _, days := range [][]Date{p.before, p.after}[:sides] {
			for _, s := range c.controls {
				controls.add(s, days, common)
			}
			controls.freedom += max(0, len(days)-1) * (len(c.controls) - 1) // common is derived from them
		}
	}
	return changed, controls
}

// spreadOf returns the spread; nil if it cannot be estimated from a single day.
func spreadOf(in []*cluster, sides int) *Spread {
	changed, controls := varies(in, sides)
	if changed.freedom == 0 || controls.freedom == 0 {
		return nil
	}
	s := &Spread{Changed: changed.deviation(), Controls: controls.deviation(), Before: len(in[0].periods[0].before)}
	share := 0.0
	for _, c := range in {
		s.VMs += len(c.changed)
		share += float64(len(c.changed)*len(c.changed)) / float64(len(c.controls))
	}
	s.Others = float64(s.VMs*s.VMs) / share
	if sides == onlyBefore {
		s.Dependence = dependence(in, s.Controls)
	}
	return s
}

// dependence returns Spread.Dependence, estimated from the differences of the controls between the first and the second half
// of the days before.
func dependence(in []*cluster, daily float64) float64 {
	sum, freedom := 0.0, 0
	for _, c := range in {
		common, days := c.common(), c.periods[0].before
		half := len(days) / 2
		if half == 0 || daily == 0 {
			return 1
		}
		for _, s := range c.controls {
			gain := s.level(days[half:], common) - s.level(days[:half], common)
			sum += float64(gain*gain) / (1/float64(half) + 1/float64(len(days)-half))
		}
		freedom += len(c.controls) - 1
	}
	return max(1, math.Sqrt(sum/float64(freedom))/daily)
}
