package picture

import "time"

// A Span is a stretch of time along an axis. One of no length is a single moment, which is drawn a second wide.
type Span struct {
	First, Last time.Time
	From, To    Px // where they are
}

func (s *Span) end() time.Time {
	if s.First.Before(s.Last) {
		return s.Last
	}
	return s.First.Add(time.Second)
}

func (s *Span) length() time.Duration { return s.end().Sub(s.First) }

// Has reports whether a time is on the axis.
func (s *Span) Has(at time.Time) bool { return !at.Before(s.First) && !at.After(s.end()) }

// X returns where a time is.
func (s *Span) X(at time.Time) Px {
	axis := Scale{High: float64(s.length()), From: s.From, To: s.To}
	return axis.At(float64(at.Sub(s.First)))
}

// Box returns the place of a stretch: at least as wide as can be seen.
func (s *Span) Box(from, to time.Time) (x, w Px) {
	const least = Px(12)
	x = s.X(from)
	w = max(s.X(to)-x, least)
	return min(x, s.To-w), w
}

// clockSteps are the steps that a time axis may have.
var clockSteps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day, 14 * day, 28 * day, 56 * day, 182 * day, 364 * day,
}

const day = 24 * time.Hour

// Step returns the smallest step of which at most n fit into the span.
func (s *Span) Step(n int) time.Duration {
	whole := s.length()
	for _, step := range clockSteps {
		if whole/step < time.Duration(n) {
			return step
		}
	}
	return whole
}

// Ticks returns the labelled moments of the axis, at most about n.
func (s *Span) Ticks(n int) []Tick {
	step := s.Step(n)
	form := "15:04"
	if step < time.Minute {
		form = "15:04:05"
	}
	var out []Tick
	// Midnight of UTC is a multiple of every step up to a day since year 1.
	for at := s.First.Truncate(step); !at.After(s.end()); at = at.Add(step) {
		if at.Before(s.First) {
			continue
		}
		t := Tick{Value: Seconds(at), Label: at.Format(form), Day: at.Equal(at.Truncate(day))}
		if t.Day {
			t.Label = at.Format("2 Jan")
		}
		out = append(out, t)
	}
	return out
}

// form returns how moments of the span are written, and whether it reaches over midnight: with seconds when it is short.
func (s *Span) form() (form string, days bool) {
	form = "15:04"
	if s.length() < 15*time.Minute {
		form = "15:04:05"
	}
	return form, !s.First.Truncate(day).Equal(s.end().Truncate(day))
}

// Clock writes moments of a span, with the date when it reaches over midnight.
func (s *Span) Clock(at time.Time) string {
	form, days := s.form()
	if days {
		form = "2 Jan " + form
	}
	return at.UTC().Format(form)
}

// FromTo writes a stretch of the span.
func (s *Span) FromTo(from, to time.Time) string { return s.Clock(from) + " to " + s.Clock(to) }

// Title writes the whole span: "2026-11-20 02:00 to 06:10 UTC".
func (s *Span) Title() string {
	form, days := s.form()
	text, end := s.First.UTC().Format("2006-01-02 "+form), form
	if days {
		end = "2006-01-02 " + form
	}
	if s.First.Before(s.Last) {
		text += " to " + s.Last.UTC().Format(end)
	}
	return text + " UTC"
}
