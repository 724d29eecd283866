package story

import (
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/word"
)

// duration parses "90s", "42m", "1h42m" or "2d12h" at the column: 0 or a multiple of the grid of all events.
func duration(col int, s string) (time.Duration, error) {
	d, err := word.Duration(col, s)
	if err == nil && d%numa.Step != 0 {
		err = word.Errorf(col, "found %s, want a multiple of %s, the period of the NUMA scheduler", word.Short(s), numa.Step)
	}
	return d, err
}

var clockForm = pattern.Of(`^\d{1,2}:\d{2}(:\d{2})?$`)

// clock parses a time of day, "14:30" or "14:30:20".
func clock(s string) (time.Duration, bool) {
	if !clockForm.MatchString(s) {
		return 0, false
	}
	if strings.Count(s, ":") == 1 {
		s += ":00"
	}
	t, err := time.Parse("15:04:05", s)
	if err != nil {
		return 0, false
	}
	return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), true
}

// moment parses the time of an event, as the time since the start: a duration since the start such
// as 42m, the first such time of day at or after the start such as 14:30, or a time such as
// 2018-01-10T11:42:00Z.
func moment(col int, s string, start time.Time) (time.Duration, error) {
	var at time.Duration
	switch {
	case strings.Contains(s, "T"):
		t, err := instant(col, s)
		if err != nil {
			return 0, err
		}
		if t.Before(start) {
			return 0, word.Errorf(col, "found %s, want a time from the start on, %s", word.Short(s), start.Format(time.RFC3339))
		}
		at = t.Sub(start)
	case strings.Contains(s, ":"):
		of, ok := clock(s)
		if !ok {
			return 0, word.Errorf(col, "found %q, want a time of day such as 14:30", word.Short(s))
		}
		midnight := start.Truncate(24 * time.Hour) // UTC days
		if at = midnight.Add(of).Sub(start); at < 0 {
			at += 24 * time.Hour
		}
	default:
		return duration(col, s)
	}
	if at%numa.Step != 0 {
		return 0, word.Errorf(col, "found %s, %s after the start: want a multiple of %s, the period of the NUMA scheduler", word.Short(s), at, numa.Step)
	}
	return at, nil
}

// instant parses a time in UTC.
func instant(col int, s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || !strings.HasSuffix(s, "Z") || t.Year() < 1 {
		return t, word.Errorf(col, "found %q, want a time in UTC such as 2018-01-10T11:42:00Z", word.Short(s))
	}
	return t.UTC(), nil
}
