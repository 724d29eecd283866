package timeline

import (
	"time"

	"homenode/capture"
	"homenode/output/draw/picture"
)

// A step is a bucket with ticks and the time that it stands for: to the next such bucket,
// unless there is a gap between them.
type step struct {
	bucket   int
	from, to time.Time
}

// stepsOf returns the steps of a timeline. Buckets can be narrower than the time between
// two ticks: that alone is no gap.
func stepsOf[B any](t *capture.Timeline[B], rec *capture.Recording, ticks func(*B) int32) []step {
	var steps []step
	for i := range t.Buckets {
		if ticks(&t.Buckets[i]) == 0 {
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

// gapsOf returns the stretches between the steps.
func gapsOf(steps []step) []step {
	var gaps []step
	for i := 1; i < len(steps); i++ {
		if steps[i-1].to.Before(steps[i].from) {
			gaps = append(gaps, step{from: steps[i-1].to, to: steps[i].from})
		}
	}
	return gaps
}

// A span is the time axis: the stretch of a recording over the width of the plot.
type span struct {
	first, last time.Time
	moment      bool // a single tick, which is drawn a second wide
}

func spanOf(rec *capture.Recording) span {
	s := span{first: rec.First, last: rec.Last}
	if !s.first.Before(s.last) {
		s.last, s.moment = s.first.Add(time.Second), true
	}
	return s
}

// x returns where the time is on the axis.
func (s *span) x(at time.Time) picture.Px {
	axis := picture.Scale{High: float64(s.last.Sub(s.first)), From: plotLeft, To: plotRight}
	return axis.At(float64(at.Sub(s.first)))
}

// box returns the place of a stretch: at least as wide as can be seen.
func (s *span) box(from, to time.Time) (x, w picture.Px) {
	const least = picture.Px(12)
	x = s.x(from)
	w = max(s.x(to)-x, least)
	return min(x, plotRight-w), w
}

// clockSteps are the steps that a time axis may have.
var clockSteps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day, 14 * day, 28 * day, 56 * day, 182 * day, 364 * day,
}

const day = 24 * time.Hour

// stepFor returns the smallest step of which at most n fit into the span.
func (s *span) stepFor(n int) time.Duration {
	whole := s.last.Sub(s.first)
	for _, step := range clockSteps {
		if whole/step < time.Duration(n) {
			return step
		}
	}
	return whole
}

// A clockTick is a labelled moment of the axis.
type clockTick struct {
	at       time.Time
	label    string
	midnight bool
}

// ticks returns the labelled moments of the axis, at most about n.
func (s *span) ticks(n int) []clockTick {
	step := s.stepFor(n)
	form := "15:04"
	if step < time.Minute {
		form = "15:04:05"
	}
	var out []clockTick
	// Midnight of UTC is a multiple of every step up to a day since year 1.
	for at := s.first.Truncate(step); !at.After(s.last); at = at.Add(step) {
		if at.Before(s.first) {
			continue
		}
		t := clockTick{at: at, label: at.Format(form), midnight: at.Equal(at.Truncate(day))}
		if t.midnight {
			t.label = at.Format("2 Jan")
		}
		out = append(out, t)
	}
	return out
}

// form returns how moments of the span are written, and whether it reaches over midnight: with seconds when it is short.
func (s *span) form() (form string, days bool) {
	form = "15:04"
	if s.last.Sub(s.first) < 15*time.Minute {
		form = "15:04:05"
	}
	return form, !s.first.Truncate(day).Equal(s.last.Truncate(day))
}

// clock writes moments of a span, with the date when it reaches over midnight.
func (s *span) clock(at time.Time) string {
	form, days := s.form()
	if days {
		form = "2 Jan " + form
	}
	return at.UTC().Format(form)
}

// fromTo writes a stretch of the span.
func (s *span) fromTo(from, to time.Time) string { return s.clock(from) + " to " + s.clock(to) }

// title writes the whole span: "2026-11-20 02:00 to 06:10 UTC".
func (s *span) title() string {
	form, days := s.form()
	text, end := s.first.UTC().Format("2006-01-02 "+form), form
	if days {
		end = "2006-01-02 " + form
	}
	if !s.moment {
		text += " to " + s.last.UTC().Format(end)
	}
	return text + " UTC"
}
