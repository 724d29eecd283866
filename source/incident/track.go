package incident

import "time"

// A track is a quantity over time: a broken line through what the lines of the
// incident state. The zero value was never stated.
type track struct{ parts []part }

// A part leads from one value to another; before its first one a track is unknown.
type part struct {
	at, over time.Duration
	from, to float64
	unknown  bool
}

// set states a value from at on, reached after over.
func (t *track) set(at, over time.Duration, value float64) {
	from, ok := t.value(at)
	if !ok || over == 0 {
		from, over = value, 0
	}
	t.insert(part{at: at, over: over, from: from, to: value})
}

// forget makes the quantity unknown from at on.
func (t *track) forget(at time.Duration) { t.insert(part{at: at, unknown: true}) }

// insert keeps the parts in the order of time, later lines after earlier ones.
func (t *track) insert(p part) {
	i := len(t.parts)
	for i > 0 && t.parts[i-1].at > p.at {
		i--
	}
	t.parts = append(t.parts[:i:i], append([]part{p}, t.parts[i:]...)...)
}

// value returns the quantity at a time; false when nothing states it.
func (t *track) value(at time.Duration) (float64, bool) {
	for i := len(t.parts) - 1; i >= 0; i-- {
		p := &t.parts[i]
		if p.at > at {
			continue
		}
		if p.unknown {
			return 0, false
		}
		if since := at - p.at; since < p.over {
			return p.from + (p.to-p.from)*float64(since)/float64(p.over), true
		}
		return p.to, true
	}
	return 0, false
}
