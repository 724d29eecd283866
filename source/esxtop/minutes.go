package esxtop

import (
	"slices"
	"time"
)

// maxMinute is the most rows of one minute that are spread over it: esxtop writes at most 30.
const maxMinute = 120

// A spread assigns seconds to rows whose stamps lack them, at equal distances within the minute.
// Rows of the first and the last minute get the distance of their neighbours.
//
//	10:00 10:00 10:01 10:01 10:01 10:02  ──►  10:00:20 :40 10:01:00 :20 :40 10:02:00
type spread struct {
	open   []Row // of the current minute
	exact  bool  // it is one row that has seconds
	first  []Row // of the first minute, until the second is complete
	begun  bool
	before int   // number of rows of the previous minute
	ready  []Row // with their times
	out    int   // number of ready rows already returned
}

// waiting reports whether rows are buffered.
func (s *spread) waiting() bool {
	return len(s.open)+len(s.first) > 0 || s.out < len(s.ready)
}

// next moves the next ready row to row.
func (s *spread) next(row *Row) bool {
	if s.out == len(s.ready) {
		s.ready, s.out = s.ready[:0], 0
		return false
	}
	*row = s.ready[s.out]
	s.out++
	return true
}

// add buffers a copy of a row.
func (s *spread) add(row *Row, exact bool, w *warnings) {
	if n := len(s.open); n > 0 && (exact || s.exact || n == maxMinute || !s.open[0].Time.Equal(row.Time)) {
		s.close(w)
	}
	s.exact = exact
	s.open = append(s.open, row.clone())
}

// close ends the current minute.
func (s *spread) close(w *warnings) {
	rows := s.open
	s.open = nil
	switch {
	case !s.begun && !s.exact:
		s.begun, s.first, s.before = true, rows, len(rows)
		return
	case s.first != nil:
		s.place(s.first, max(len(s.first), len(rows)), true, w)
		s.first = nil
	}
	s.begun = true
	if s.exact {
		s.ready = append(s.ready, rows...)
		return
	}
	s.place(rows, len(rows), false, w)
	s.before = len(rows)
}

// end ends the file.
func (s *spread) end(w *warnings) {
	first, rows := s.first, s.open
	s.first, s.open = nil, nil
	if len(first) > 0 {
		s.place(first, max(len(first), len(rows)), len(rows) > 0, w)
	}
	if s.exact {
		s.ready = append(s.ready, rows...)
		return
	}
	s.place(rows, max(len(rows), s.before), false, w)
}

// place distributes rows of a minute with room for n of them at its beginning or its end.
func (s *spread) place(rows []Row, n int, late bool, w *warnings) {
	at := 0
	if late {
		at = n - len(rows)
	}
	for i := range rows {
		if n > 1 {
			w.add(kindMinute, rows[i].Line, 1, func() string {
				return "found several rows of one minute without seconds: they are spread evenly over it, so times within a minute are assumed"
			})
		}
		rows[i].Time = rows[i].Time.Add((time.Minute * time.Duration(at+i) / time.Duration(n)).Truncate(time.Millisecond))
	}
	s.ready = append(s.ready, rows...)
}

// clone returns a row with its own memory.
func (r *Row) clone() Row {
	c := *r
	c.Values, c.homes, c.known = slices.Clone(r.Values), slices.Clone(r.homes), slices.Clone(r.known)
	return c
}
