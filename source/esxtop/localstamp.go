package esxtop

import (
	"bytes"
	"time"
)

// localStamp parses a date and a time as programs write them in the format of a country. The numbers of the date stand between slashes, dashes or points,
// the year first or last; those of the time between colons or points; the date may end in a point or comma:
//
//	3/26/2015 22:42   02/11/26 23:45   02-11-2026 23.45   02. 11. 2026 23:45:00   2026.11.02. 23:45:00   2026-11-03T02:00:00Z   11/2/2026 1:45:00 PM
func localStamp(cell []byte) (ms int64, form stampForm) {
	s := stampScanner{rest: cell}
	var date, clock [3]int
	var widths [3]int
	separator := byte(0)
	for i := range date {
		if date[i], widths[i] = s.number(); widths[i] == 0 {
			return 0, noStamp
		}
		if i == 0 && s.at(':') { // no date
			ms, form = s.time(date[0], &clock)
			if form != full {
				return 0, noStamp
			}
			return ms, undated
		}
		if i == 2 {
			break
		}
		if c := s.one("/-."); c == 0 || i == 1 && c != separator {
			return 0, noStamp
		} else {
			separator = c
		}
		s.blanks()
	}
	s.one(".")
	s.one(",")
	if s.blanks() == 0 && s.one("Tt") == 0 {
		return 0, noStamp
	}
	hour, width := s.number()
	if width == 0 {
		return 0, noStamp
	}
	ms, form = s.time(hour, &clock)
	if form == noStamp {
		return 0, noStamp
	}
	midnight, order, ok := dateOf(date, widths, separator)
	if !ok {
		return 0, noStamp
	}
	return midnight + ms, form | order
}

// dateOf returns the milliseconds from 1970 to the midnight at which a date begins, and the order of day and month as far as it is known.
func dateOf(date, widths [3]int, separator byte) (ms int64, order stampForm, ok bool) {
	year, month, date1 := date[2], date[0], date[1]
	switch {
	case widths[0] == 4 && widths[1] <= 2 && widths[2] <= 2:
		year, month, date1 = date[0], date[1], date[2]
	case widths[0] > 2 || widths[1] > 2 || widths[2] != 4 && widths[2] != 2:
		return 0, 0, false
	case separator == '.':
		month, date1 = date[1], date[0]
	case date[0] > 12:
		month, date1, order = date[1], date[0], slashed|dayFirst|resaved
	default:
		order = slashed | resaved
		if date[1] > 12 {
			order |= monthFirst
		}
	}
	if separator == '-' && order&slashed != 0 {
		order |= dashed
	}
	if year < 100 {
		year += 2000
	}
	t := time.Date(year, time.Month(month), date1, 0, 0, 0, 0, time.UTC)
	return t.UnixMilli(), order, month >= 1 && month <= 12 && date1 >= 1 && t.Day() == date1
}

// A stampScanner reads the parts of a stamp.
type stampScanner struct{ rest []byte }

func (s *stampScanner) at(c byte) bool { return len(s.rest) > 0 && s.rest[0] == c }

// one reads a character that is in set; 0 if the next one is not.
func (s *stampScanner) one(set string) byte {
	if len(s.rest) == 0 || bytes.IndexByte([]byte(set), s.rest[0]) < 0 {
		return 0
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	return c
}

// number reads digits, and returns how many there are.
func (s *stampScanner) number() (n, width int) {
	for width < len(s.rest) && s.rest[width]-'0' <= 9 {
		width++
	}
	n, ok := smallNumber(s.rest[:width])
	if !ok {
		return 0, 0
	}
	s.rest = s.rest[width:]
	return n, width
}

// blanks reads blanks, and returns how many bytes they have.
func (s *stampScanner) blanks() int {
	before := len(s.rest)
	for len(s.rest) > 0 {
		rest := s.rest
		for _, blank := range []string{" ", "\u00a0", "\u202f"} {
			rest = bytes.TrimPrefix(rest, []byte(blank))
		}
		if len(rest) == len(s.rest) {
			break
		}
		s.rest = rest
	}
	return before - len(s.rest)
}

// time reads the rest of a stamp after the hour.
func (s *stampScanner) time(hour int, clock *[3]int) (ms int64, form stampForm) {
	clock[0], form = hour, minutes
	milli := 0
	for i := 1; i < 3; i++ {
		if s.one(":.") == 0 {
			if i == 1 {
				return 0, noStamp
			}
			break
		}
		width := 0
		if clock[i], width = s.number(); width != 2 {
			return 0, noStamp
		}
		if i == 2 {
			form = full
		}
	}
	if form == full && s.one(".,") != 0 {
		n, width := s.number()
		if width == 0 || width > 3 {
			return 0, noStamp
		}
		for milli = n; width < 3; width++ {
			milli *= 10
		}
	}
	s.blanks()
	switch rest := string(bytes.ToUpper(bytes.Map(letters, s.rest))); {
	case rest == "" && len(s.rest) == 0:
	case rest == "Z" && len(s.rest) == 1:
		form |= absolute
	case (rest == "AM" || rest == "PM") && clock[0] >= 1 && clock[0] <= 12:
		clock[0] %= 12
		if rest == "PM" {
			clock[0] += 12
		}
	default:
		return 0, noStamp
	}
	if clock[0] > 23 || clock[1] > 59 || clock[2] > 59 {
		return 0, noStamp
	}
	return int64((clock[0]*60+clock[1])*60+clock[2])*1000 + int64(milli), form
}

// letters drops the points and blanks of "a. m.".
func letters(r rune) rune {
	if r == '.' || r == ' ' || r == '\u00a0' || r == '\u202f' {
		return -1
	}
	return r
}
