package timeline

import (
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/output/draw/picture"
)

// A step is a bucket with ticks and the time that it represents: until the next such bucket,
// unless there is a gap between them.
type step struct {
	bucket   int
	from, to time.Time
}

// stepsOf returns the steps of a timeline. Buckets can be narrower than the time between two
// ticks; an empty bucket alone is no gap.
func stepsOf[B any](t *capture.Timeline[B], rec *capture.Recording, ticks func(*B) int32) []step {
	var steps []step
	for i, b := range t.All() {
		if ticks(b) == 0 {
			continue
		}
		from, to := t.Time(i), t.Time(i+1)
		if n := len(steps); n > 0 && from.Sub(steps[n-1].to) < rec.Options.Gap {
			steps[n-1].to = from
		}
		steps = append(steps, step{i, from, to})
	}
	for i := range steps {
		s := &steps[i]
		if s.from.Before(rec.First) {
			s.from = rec.First
		}
		if s.to.After(rec.Last) {
			s.to = rec.Last
		}
	}
	return steps
}

// gapsOf returns the gaps between the steps.
func gapsOf(steps []step) []step {
	var gaps []step
	for i := 1; i < len(steps); i++ {
		if steps[i-1].to.Before(steps[i].from) {
			gaps = append(gaps, step{from: steps[i-1].to, to: steps[i].from})
		}
	}
	return gaps
}

// spanOf returns the time axis of a recording.
func spanOf(rec *capture.Recording) picture.Span {
	return picture.Span{First: rec.First, Last: rec.Last, From: plotLeft, To: plotRight}
}
