package recording

import (
	"strings"
	"time"
)

// A Clock formats the times of a recording in UTC: with the date if it spans days, with seconds
// if it is short.
type Clock struct{ form string }

// NewClock returns the Clock for a period.
func NewClock(first, last time.Time) Clock {
	form := "15:04"
	if last.Sub(first) < 15*time.Minute {
		form = "15:04:05"
	}
	if first.UTC().Format(time.DateOnly) != last.UTC().Format(time.DateOnly) {
		form = "2006-01-02 " + form
	}
	return Clock{form}
}

// At formats a time; "" for the zero time.
func (c Clock) At(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(c.form)
}

// Span formats a period, with the date of the end only if it differs; without dates, midnight
// at the end of the day is 24:00.
func (c Clock) Span(from, to time.Time) string {
	end := c.form
	if from.UTC().Format(time.DateOnly) == to.UTC().Format(time.DateOnly) {
		end = strings.TrimPrefix(end, "2006-01-02 ")
	}
	if next := to.UTC(); !c.dated() && next.Truncate(24*time.Hour).Equal(next) && from.Before(to) {
		return c.At(from) + " to " + strings.Replace(next.Format(c.form), "00:", "24:", 1)
	}
	return c.At(from) + " to " + to.UTC().Format(end)
}

func (c Clock) dated() bool { return strings.HasPrefix(c.form, "2006") }

// Dated formats a period with its date: "2026-11-20 22:00 to 2026-11-21 02:10 UTC", and a
// single time once.
func Dated(first, last time.Time) string {
	if first.Equal(last) {
		return first.UTC().Format(time.DateTime) + " UTC"
	}
	c := NewClock(first, last)
	text := c.Span(first, last)
	if !c.dated() {
		text = first.UTC().Format("2006-01-02 ") + text
	}
	return text + " UTC"
}
