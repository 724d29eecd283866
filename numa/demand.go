package numa

import "time"

// Most returns the most that each vCPU asks for between two times since the start of a
// story, as a share of a core in [0, 1]: noise at its highest, and of a day curve only
// what lies between the two. start is when the story begins.
func (d *Demand) Most(start time.Time, from, to time.Duration) float64 {
	if len(d.Points) > 0 {
		most := 0.0
		for i, p := range d.Points {
			// The first point holds before it, too, and each until the next.
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
	// In between lies the top of the curve, or not: that is the peak, or half a day from it
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

// at returns what the day curve is, without noise, at a time since a midnight: from low to
// high along x²(3-2x).
func (d *Demand) at(t time.Duration) float64 {
	const day = 24 * time.Hour
	away := (t - d.Peak + 2*day) % day
	x := 1 - float64(min(away, day-away))/float64(day/2)
	// The conversions forbid fused multiply-adds: every processor computes the same.
	return d.Low + float64((d.High-d.Low)*x*x*(3-float64(2*x)))
}
