package hostcmd

import (
	"bytes"
	"strings"
	"time"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// Date is the output of date between other outputs, in the forms that people use in loops such as
//
//	while sleep 60; do date; sched-stats -t numa-clients; sched-stats -t numa-pnode; done
const Date = "date"

// A Moment is the result of date.
type Moment struct {
	Time time.Time // UTC
	// Zone is as stated: "UTC", "+0100"; empty when it is missing. Time is then read as UTC, the
	// time zone of every ESXi.
	Zone string
	// Foreign reports that Zone is a name shared by several time zones, or of one that changes with
	// the season: the Time is unknown.
	Foreign bool
}

// dateFrame are the characters that scripts put around a date: "=== … ===", "# …".
const dateFrame = "=#*-: \t"

// dateForms are the layouts of date, without the zone; it is at the end of the line or before the year.
var dateForms = []string{
	"Mon Jan 2 15:04:05 2006",    // date, C locale: the zone stood before the year
	"Mon 2 Jan 15:04:05 2006",    // en_GB
	"Mon 2 Jan 2006 15:04:05",    // date of newer systems
	"Mon 2 Jan 2006 03:04:05 PM", // en_US of newer systems
	"Mon Jan 2 03:04:05 PM 2006", // en_US
	"Mon, 2 Jan 2006 15:04:05",   // date -R
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04",
	"2006-01-02 15:04",
}

var (
	// dateLike matches all forms; other lines are not tried.
	dateLike = pattern.Of(`^(?:[A-Z][a-z]{2},? |\d{4}-\d\d-\d\d[T ])[\w :,.+-]*\d\d:\d\d`)
	// dateZone is a time zone after the time; it may be before the year.
	dateZone = pattern.Of(`(\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: [AP]M)?(?: \d{4})?) ?(Z|[+-]\d\d(?::?\d\d)?|[A-Z]{2,5})( \d{4})?$`)
	fraction = pattern.Of(`(:\d\d)[.,]\d+`)
)

// momentOf parses a line printed by date.
func momentOf(line string) (m Moment, ok bool) {
	line = strings.Trim(line, dateFrame)
	if len(line) > 60 || !dateLike.MatchString(line) {
		return Moment{}, false
	}
	line = strings.Join(strings.Fields(fraction.ReplaceAllString(line, "$1")), " ")
	offset := time.UTC
	if z := dateZone.FindStringSubmatchIndex(line); z != nil && line[z[4]:z[5]] != "AM" && line[z[4]:z[5]] != "PM" {
		m.Zone = line[z[4]:z[5]]
		year := ""
		if z[6] >= 0 {
			year = line[z[6]:z[7]]
		}
		line = line[:z[3]] + year
		if m.Zone[0] == '+' || m.Zone[0] == '-' {
			for _, form := range []string{"-07:00", "-0700", "-07"} {
				if t, err := time.Parse(form, m.Zone); err == nil {
					offset = t.Location()
					break
				}
			}
		}
		m.Foreign = m.Zone[0] >= 'A' && m.Zone != "Z" && m.Zone != "UTC" && m.Zone != "GMT"
	}
	for _, form := range dateForms {
		if t, err := time.ParseInLocation(form, line, offset); err == nil {
			m.Time = t.UTC()
			return m, true
		}
	}
	return Moment{}, false
}

// HasDates reports whether one of the lines, decoded text, was printed by date.
func HasDates(head []byte) bool {
	for raw := range bytes.Lines(head) {
		if _, ok := momentOf(strings.TrimSpace(string(raw))); ok {
			return true
		}
	}
	return false
}

func (o *Output) readDate(lines []text.Line) {
	l := lines[0]
	m, _ := momentOf(l.Text)
	o.Result = m
	switch {
	case m.Foreign:
		o.file.Add(l.N, l.Col, "host", "time", strings.Trim(l.Text, dateFrame), "")
		o.file.Warn(l.N, l.Col, "the time zone %s stands for several, or changes with the season: print dates with date -u", m.Zone)
	default:
		o.file.Add(l.N, l.Col, "host", "time", m.Time.Format(time.RFC3339), "")
	}
}
