package tables

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dateKey is the column with the date of a row. Scripts that run every night append to one table.
const dateKey = "Date"

// A dated is the object of a row, and the date of the row.
type dated struct {
	vcenter, id, name, date string
}

// sameRun: rows whose dates differ by less are of one run of a script, which may read the clock for each row.
const sameRun = time.Hour

// newest removes the rows of an object that are older than its others by the column of dates. It adds notes about them, and about objects that only older
// rows have.
func newest[R any](t *table, noun string, rows []R, of func(*R) dated) []R {
	if !t.has(dateKey) {
		return rows
	}
	var texts []string
	for i := range rows {
		texts = append(texts, of(&rows[i]).date)
	}
	times := timesOf(texts)
	last, end := map[[2]string]time.Time{}, time.Time{}
	who := func(i int) [2]string { d := of(&rows[i]); return [2]string{d.vcenter, cmp.Or(d.id, d.name)} }
	for i, at := range times {
		if at.After(last[who(i)]) {
			last[who(i)] = at
		}
		if at.After(end) {
			end = at
		}
	}
	var older, gone tally
	var kept []R
	for i, at := range times {
		if last[who(i)].Sub(at) >= sameRun {
			older.add(of(&rows[i]).name)
			continue
		}
		if end.Sub(at) >= sameRun {
			gone.add(of(&rows[i]).name)
		}
		kept = append(kept, rows[i])
	}
	if older.count > 0 { // else the dates are of the objects, not of the rows
		t.notes.tallied(t.sheet.place(), older, "row is", "rows are", "older than another of its "+noun+" by column "+t.place(dateKey).header+": left out")
		t.notes.tallied(t.sheet.place(), gone, noun+" is", noun+"s are", "in older rows only, and may no longer exist")
	}
	return kept
}

// days are the forms of dates, and of those with slashes the two orders.
var days = [][]string{{"2006-1-2", "2006/1/2", "20060102", "2.1.2006", "1/2/2006"}, {"2006-1-2", "2006/1/2", "20060102", "2.1.2006", "2/1/2006"}}

// timesOf parses dates in the first order that they all have and by which they run in one direction: rows are appended. Without one, they are equal.
func timesOf(texts []string) []time.Time {
	for _, layouts := range days {
		times := make([]time.Time, len(texts))
		ok := true
		for i, s := range texts {
			var parsed bool
			times[i], parsed = timeOf(s, layouts)
			ok = ok && parsed
		}
		back := slices.Clone(times)
		slices.Reverse(back)
		if ok && (!strings.Contains(strings.Join(texts, ""), "/") || slices.IsSortedFunc(times, time.Time.Compare) || slices.IsSortedFunc(back, time.Time.Compare)) {
			return times
		}
	}
	return make([]time.Time, len(texts))
}

// timeOf parses a date with or without a time of day; a number is a date of Excel.
func timeOf(s string, layouts []string) (time.Time, bool) {
	if n, err := strconv.ParseFloat(s, 64); err == nil && len(s) != len("20060102") {
		return excelTime(n)
	}
	day, clock, _ := strings.Cut(strings.Replace(s, "T", " ", 1), " ")
	for _, layout := range layouts {
		at, err := time.Parse(layout, day)
		if err != nil {
			continue
		}
		for _, form := range []string{"15:04:05", "15:04", "3:04:05 PM", "3:04 PM", "15:04:05Z07:00"} {
			if c, err := time.Parse(form, strings.TrimSpace(clock)); err == nil {
				return at.Add(c.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, c.Location()))), true
			}
		}
		return at, true
	}
	return time.Time{}, false
}
