package picture

import "time"

// A Span is a time axis. A span without duration is drawn with a length of one second.
type Span struct {
	First, Last time.Time
	From, To    Px // positions of the ends
}

func (s *Span) end() time.Time {
	if s.First.Before(s.Last) {
		return s.Last
	}
	return s.First.Add(time.Second)
}

func (s *Span) length() time.Duration { return s.end().Sub(s.First) }

// Has reports whether the axis includes a time.
func (s *Span) Has(at time.Time) bool { return !at.Before(s.First) && !at.After(s.end()) }

// X returns the position of a time.
func (s *Span) X(at time.Time) Px {
	axis := Scale{High: float64(s.length()), From: s.From, To: s.To}
	return axis.At(float64(at.Sub(s.First)))
}

// Box returns the position and width of a time range. The width is at least the minimum visible width.
func (s *Span) Box(from, to time.Time) (x, w Px) {
	const least = Px(12)
	x = s.X(from)
	w = max(s.X(to)-x, least)
	return min(x, s.To-w), w
}

// clockSteps are the possible distances of ticks on a time axis.
var clockSteps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day, 14 * day, 28 * day, 56 * day, 182 * day, 364 * day,
}

const day = 24 * time.Hour

// Step returns the smallest of clockSteps that divides the span into at most n parts.
func (s *Span) Step(n int) time.Duration {
	whole := s.length()
	for _, step := range clockSteps {
		if whole/step < time.Duration(n) {
			return step
		}
	}
	return whole
}

// Ticks returns at most about n labelled times.
func (s *Span) Ticks(n int) []Tick {
	step := s.Step(n)
	form := "15:04"
	if step < time.Minute {
		form = "15:04:05"
	}
	var out []Tick
	// Midnight UTC is a multiple of every step of up to a day since year 1.
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

// form returns the time format of the span, which includes seconds for a short span, and whether the span includes
// midnight.
func (s *Span) form() (form string, days bool) {
	form = "15:04"
	if s.length() < 15*time.Minute {
		form = "15:04:05"
	}
	return form, !s.First.Truncate(day).Equal(s.end().Truncate(day))
}

// Clock formats a time in the span, with the date if the span includes midnight.
func (s *Span) Clock(at time.Time) string {
	form, days := s.form()
	if days {
		form = "2 Jan " + form
	}
	return at.UTC().Format(form)
}

// FromTo formats a time range in the span.
func (s *Span) FromTo(from, to time.Time) string { return s.Clock(from) + " to " + s.Clock(to) }

// Title formats the whole span: "2026-11-20 02:00 to 06:10 UTC".
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
