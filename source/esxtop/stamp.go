package esxtop

import (
	"time"
)

// layouts are those of formats that do not fit the form that esxtop writes, which
// parseStamp reads by hand. A day before the month is taken only where a point says so.
var layouts = []struct {
	layout string
	form   stampForm
}{
	{"1/2/2006 15:04:05", full}, {"1/2/2006 15:04", minutes}, {"15:04:05", undated},
	{"2006-01-02 15:04:05", full}, {"2006-01-02T15:04:05", full}, {"2006-01-02 15:04", minutes},
	{"2.1.2006 15:04:05", full}, {"2.1.2006 15:04", minutes},
}

// A stampForm is how much a stamp tells.
type stampForm uint8

const (
	noStamp stampForm = iota
	full
	minutes // lacks the seconds
	undated // lacks the date
)

// day is a day in milliseconds.
const day = 24 * 3600 * 1000

// parseStamp reads MM/DD/YYYY HH:MM:SS with or without milliseconds, and the layouts. The
// result is in milliseconds since 1970, in the zone of the file.
func parseStamp(cell []byte) (ms int64, form stampForm) {
	cell = trim(cell)
	if len(cell) >= 19 && cell[2] == '/' && cell[5] == '/' && cell[10] == ' ' && cell[13] == ':' && cell[16] == ':' {
		if ms, ok := fixedStamp(cell); ok {
			return ms, full
		}
	}
	if len(cell) > 32 {
		return 0, noStamp
	}
	for _, l := range layouts {
		t, err := time.Parse(l.layout, string(cell))
		if err != nil {
			continue
		}
		if l.form == undated {
			return (time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())).Milliseconds(), undated
		}
		return t.UnixMilli(), l.form
	}
	return 0, noStamp
}

// fixedStamp reads MM/DD/YYYY HH:MM:SS[.mmm].
func fixedStamp(c []byte) (ms int64, ok bool) {
	month, a := smallNumber(c[0:2])
	date, b := smallNumber(c[3:5])
	year, d := smallNumber(c[6:10])
	hour, e := smallNumber(c[11:13])
	minute, f := smallNumber(c[14:16])
	second, g := smallNumber(c[17:19])
	if !(a && b && d && e && f && g) || month < 1 || month > 12 || date < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	milli := 0
	switch {
	case len(c) == 19:
	case len(c) == 23 && c[19] == '.':
		if milli, ok = smallNumber(c[20:23]); !ok {
			return 0, false
		}
	default:
		return 0, false
	}
	t := time.Date(year, time.Month(month), date, hour, minute, second, 0, time.UTC)
	return t.UnixMilli() + int64(milli), t.Day() == date
}

// A clock turns the stamps of a file, in its order, into times.
type clock struct {
	rolled int64 // milliseconds that undated stamps have gone past midnight
	last   int64 // stamp of the row before
	any    bool
}

// set sets the time of a row.
func (c *clock) set(row *Row, ref *rowRef, h *Header, w *warnings) {
	ms := ref.stamp
	switch ref.form {
	case minutes:
		if c.any && ms == c.last {
			w.add(kindMinute, row.Line, 1, func() string {
				return "found the stamp of the row before, without seconds: how long the row stands for is unknown"
			})
		}
		c.last = ms
	case undated:
		w.add(kindDate, row.Line, 1, func() string {
			return "found a time without date: the first day is taken for 1970-01-01"
		})
		if c.any && ms < c.last-day/2 {
			c.rolled += day
		}
		c.last = ms
		ms += c.rolled
	}
	c.any = true
	row.Time = time.UnixMilli(ms + h.Bias.Milliseconds()).UTC()
}
