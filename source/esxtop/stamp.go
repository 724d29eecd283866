package esxtop

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

// A stampForm is the precision of a stamp, one of the first four, and the facts about a date with slashes.
type stampForm uint8

const (
	noStamp stampForm = iota
	full
	minutes // lacks the seconds
	undated // lacks the date

	absolute   stampForm = 1 << 2 // it is in UTC, whatever the header says
	dashed     stampForm = 1 << 3 // like slashed, with dashes: programs write day-month
	slashed    stampForm = 1 << 4 // the year is last: month/day as esxtop writes it, or day/month
	dayFirst   stampForm = 1 << 5 // it is day/month, as the first number is no month
	monthFirst stampForm = 1 << 6 // it is month/day, as the second number is no month
	resaved    stampForm = 1 << 7 // it is not in esxtop's form
)

// tells returns the precision of the stamp.
func (f stampForm) tells() stampForm { return f & 0x3 }

// day is a day in milliseconds.
const day = 24 * 3600 * 1000

// parseStamp parses MM/DD/YYYY HH:MM:SS with or without milliseconds, and the forms that programs give it when they save a file in the format of their country.
// The result is in milliseconds since 1970, in the zone of the file.
func parseStamp(cell []byte) (ms int64, form stampForm) {
	cell = trim(cell)
	if len(cell) >= 19 && cell[2] == '/' && cell[5] == '/' && cell[10] == ' ' && cell[13] == ':' && cell[16] == ':' {
		if ms, form := fixedStamp(cell); form != noStamp {
			return ms, form
		}
	}
	if len(cell) > 40 {
		return 0, noStamp
	}
	if ms, ok := serialStamp(cell); ok {
		return ms, full
	}
	return localStamp(cell)
}

// serialStamp parses the number of days since 1899-12-30 that a spreadsheet shows for a time without a format: 46328.9895833333.
func serialStamp(cell []byte) (ms int64, ok bool) {
	v, is := parseNumber(cell, decimals{})
	if is != number || v < 36526 || v >= 73051 || bytes.IndexAny(cell, ".,") != 5 { // 2000-01-01 to 2100-01-01
		return 0, false
	}
	const epoch = 25569 // 1970-01-01
	return int64(math.Round((v - epoch) * day)), true
}

// fixedStamp parses MM/DD/YYYY HH:MM:SS[.mmm].
func fixedStamp(c []byte) (ms int64, form stampForm) {
	month, a := smallNumber(c[0:2])
	date, b := smallNumber(c[3:5])
	year, d := smallNumber(c[6:10])
	hour, e := smallNumber(c[11:13])
	minute, f := smallNumber(c[14:16])
	second, g := smallNumber(c[17:19])
	if !(a && b && d && e && f && g) || month < 1 || month > 12 || date < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, noStamp
	}
	milli, ok := 0, false
	switch {
	case len(c) == 19:
	case len(c) == 23 && c[19] == '.':
		if milli, ok = smallNumber(c[20:23]); !ok {
			return 0, noStamp
		}
	default:
		return 0, noStamp
	}
	t := time.Date(year, time.Month(month), date, hour, minute, second, 0, time.UTC)
	switch {
	case t.Day() != date:
		return 0, noStamp
	case date > 12:
		return t.UnixMilli() + int64(milli), full | slashed | monthFirst
	}
	return t.UnixMilli() + int64(milli), full | slashed
}

// A clock converts the stamps of a file, in its order, to times.
type clock struct {
	rolled int64 // milliseconds by which undated stamps have passed midnight
	last   int64 // undated stamp of the previous row
	any    bool
	dates  dateOrder
}

// set sets the time of a row. It returns false for a row whose date contradicts the file's order of day and month.
func (c *clock) set(row *Row, ref *rowRef, h *Header, w *warnings) bool {
	ms := ref.stamp
	switch {
	case ref.form&slashed != 0:
		if c.dates.contradicts(ref.form) {
			w.add(kindStamp, row.Line, 1, func() string {
				return fmt.Sprintf("found %s, want %s as in the rows before: the row is left out", dateText(ref), c.dates)
			})
			return false
		}
		ms = c.dates.read(ref)
	case ref.form == undated:
		w.add(kindDate, row.Line, 1, func() string {
			return "found a time without date: the first day is assumed to be 1970-01-01"
		})
		if c.any && ms < c.last-day/2 {
			c.rolled += day
		}
		c.last, c.any = ms, true
		ms += c.rolled
	}
	if ref.form&absolute == 0 {
		ms += h.Bias.Milliseconds()
	}
	row.Time = time.UnixMilli(ms).UTC()
	return true
}
