package incident

import (
	"time"

	"example.org/homenode/source/word"
)

// A track is a quantity over time: a piecewise linear function from the lines of the incident.
// The zero value is never stated.
type track struct{ parts []part }

// A part is a transition from one value to another; before the first part a track is unknown.
type part struct {
	at, over time.Duration
	from, to float64
	unknown  bool
}

// set sets a value from at on, reached after over.
func (t *track) set(at, over time.Duration, value float64) {
	from, ok := t.value(at)
	if !ok || over == 0 {
		from, over = value, 0
	}
	t.insert(part{at: at, over: over, from: from, to: value})
}

// read parses the value of a word and sets it from at on, reached after over.
func (t *track) read(f form, w word.Word, at, over time.Duration) error {
	if w.Value == word.Unknown {
		t.insert(part{at: at, unknown: true})
		return nil
	}
	v, err := f.read(w)
	if f.steps {
		over = 0
	}
	if err == nil {
		t.set(at, over, v)
	}
	return err
}

// insert keeps the parts sorted by time; at the same time, by line.
func (t *track) insert(p part) {
	i := len(t.parts)
	for i > 0 && t.parts[i-1].at > p.at {
		i--
	}
	t.parts = append(t.parts[:i:i], append([]part{p}, t.parts[i:]...)...)
}

// value returns the quantity at a time; false if it is not stated.
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
