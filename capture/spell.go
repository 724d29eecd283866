package capture

import "time"

// Spells grow tick by tick at their Tail. A state at a tick (low locality) lasts until the next
// tick: hold(at, at) at the tick, reach(next) when the next one follows. A change between two
// ticks (a spill) is hold(before, after). A spell that does not continue is cut. cut loses
// nothing: it only resets Tail.
//
//	tick    1     2     3     4          hold(1,1) reach(2) hold(2,2) reach(3) cut
//	holds   yes   yes   no    no
//	spell   |-----------|                one spell of 2 ticks from 1 to 3

// A worse reports whether a is worse than b.
type worse func(a, b float64) bool

func less(a, b float64) bool { return a < b }
func more(a, b float64) bool { return a > b }

// none reports whether there is no spell.
func (s *Spell) none() bool { return s.Ticks == 0 }

// hold records that the condition was true between from and to. first is the start of the
// stretch.
func (s *Spells) hold(from, to, first time.Time, value float64, is worse) {
	if s.Tail.none() {
		s.Count++
		s.Tail = Spell{From: from, To: from, Worst: value, At: to}
	} else if is(value, s.Tail.Worst) {
		s.Tail.Worst, s.Tail.At = value, to
	}
	s.Ticks++
	s.Tail.Ticks++
	s.reach(to)
	if s.Tail.From.Equal(first) {
		s.Head = s.Tail
	}
}

// reach extends the current spell to to.
func (s *Spells) reach(to time.Time) {
	if s.Tail.none() {
		return
	}
	s.Time += to.Sub(s.Tail.To)
	s.Tail.To = to
	s.Last = s.Tail
	s.longest(&s.Tail)
	if !s.Head.none() && s.Head.From.Equal(s.Tail.From) {
		s.Head = s.Tail
	}
}

// repeat extends the current spell by n ticks, up to one at this time, at which the condition was true with the same value.
func (s *Spells) repeat(n int, to time.Time) {
	if s.Tail.none() {
		return
	}
	s.Ticks += n
	s.Tail.Ticks += n
	s.reach(to)
}

// cut ends the current spell.
func (s *Spells) cut() {
	if !s.Tail.none() {
		s.Tail = Spell{}
	}
}

func (s *Spells) longest(one *Spell) {
	if one.none() {
		return
	}
	if s.Longest.none() || one.From.Equal(s.Longest.From) || one.Length() > s.Longest.Length() {
		s.Longest = *one
	}
}

// join adds the spells of the next stretch. A spell that reaches its beginning (after reach or
// cut) and one that starts there become one spell.
func (s *Spells) join(next *Spells, is worse) {
	s.Time += next.Time
	s.Ticks += next.Ticks
	s.Count += next.Count
	if !next.Last.none() {
		s.Last = next.Last
	}
	if s.Tail.none() || next.Head.none() {
		s.Tail = next.Tail
		s.longest(&next.Longest)
		return
	}
	s.Count--
	one := s.Tail
	one.To = next.Head.To
	one.Ticks += next.Head.Ticks
	if is(next.Head.Worst, one.Worst) {
		one.Worst, one.At = next.Head.Worst, next.Head.At
	}
	if !s.Head.none() && s.Head.From.Equal(one.From) {
		s.Head = one
	}
	if next.Last.From.Equal(next.Head.From) {
		s.Last = one
	}
	s.Tail = next.Tail
	if !next.Tail.none() && next.Tail.From.Equal(next.Head.From) {
		s.Tail = one
	}
	s.longest(&one)
	s.longest(&next.Longest)
}
