package numa

import "time"

// Most returns the highest demand of each vCPU between two times since the start of a story, as a
// share of a core in [0, 1]: with noise at its maximum, and with only the part of the day curve
// between the two times. start is the start of the story.
func (d *Demand) Most(start time.Time, from, to time.Duration) float64 {
	if len(d.Points) > 0 {
		most := 0.0
		for i, p := range d.Points {
			// The first point also applies before its time, and each until the next.
			begun := i == 0 || p.At <= to
			if ended := i+1 < len(d.Points) && d.Points[i+1].At <= from; begun && !ended {
				most = max(most, p.Share)
			}
		}
		return min(1, most)
	}
	const day = 24 * time.Hour
	begin := start.Sub(start.Truncate(day)) + from
	most := max(d.at(begin), d.at(begin+to-from))
	// The extreme of the curve may lie in between: the peak, or the opposite point half a day away
	// where the load is lowest at its peak.
	top := d.Peak
	if d.Low > d.High {
		top += day / 2
	}
	if (top-begin%day+2*day)%day <= to-from {
		most = max(d.Low, d.High)
	}
	return min(1, most+d.Noise)
}

// at returns the value of the day curve, without noise, at a time since a midnight: from low to
// high along x²(3-2x).
func (d *Demand) at(t time.Duration) float64 {
	const day = 24 * time.Hour
	away := (t - d.Peak + 2*day) % day
	x := 1 - float64(min(away, day-away))/float64(day/2)
	// The conversions forbid fused multiply-adds: every processor computes the same.
	return d.Low + float64((d.High-d.Low)*x*x*(3-float64(2*x)))
}
