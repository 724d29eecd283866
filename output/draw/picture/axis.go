package picture

import (
	"cmp"
	"math"
	"strconv"
	"time"
)

// An Axis is an axis with a label that includes the unit. Text formats its numbers.
type Axis struct {
	Label string
	Log   bool // logarithmic; all values are positive
	Bytes bool // values are bytes, with ticks at powers of two
	Time  bool // values are seconds since 1970, with ticks at round times
	Text  func(float64) string
}

// Print formats a value as the axis does.
func (a *Axis) Print(v float64) string {
	switch {
	case a.Text != nil:
		return a.Text(v)
	case a.Time:
		return Moment(v).Format("2 Jan 15:04:05")
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Moment converts a value to a time.
func Moment(v float64) time.Time { return time.UnixMilli(int64(v * 1000)).UTC() }

// Seconds converts a time to a value of an axis.
func Seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

// Has reports whether the axis can show the value.
func (a *Axis) Has(v float64) bool {
	size := math.Abs(v)
	return v == 0 && !a.Log || size >= 1e-100 && size <= 1e100 && (!a.Log || v > 0)
}

// A Reach is the range of some values.
type Reach struct {
	Low, High float64
	Any       bool
}

// Add adds a value.
func (r *Reach) Add(v float64) {
	if !r.Any {
		r.Low, r.High, r.Any = v, v, true
	}
	r.Low, r.High = min(r.Low, v), max(r.High, v)
}

// Span adds the ends of a range that the axis can show. If both are 0 there is no range.
func (r *Reach) Span(a *Axis, low, high float64) {
	for _, v := range []float64{low, high} {
		if (low != 0 || high != 0) && a.Has(v) {
			r.Add(v)
		}
	}
}

// A Ticked is a scale with ticks.
type Ticked struct {
	Scale
	Axis  *Axis
	Ticks []Tick
}

// A Tick is a labelled value.
type Tick struct {
	Value float64
	Label string
	Day   bool // midnight on a time axis
}

// Near is the relative difference below which two values count as equal.
const Near = 1e-9

// Scale returns a scale for the values with about most ticks. It begins at 0 if zero is set, or
// if the values are close to 0. If round is set, its ends are ticks.
func (a *Axis) Scale(r Reach, most int, zero, round bool) Ticked {
	s := Ticked{Axis: a, Scale: Scale{Low: r.Low, High: r.High, Log: a.Log}}
	switch {
	case a.Time && r.Any:
		span := Span{First: Moment(r.Low), Last: Moment(r.High)}
		s.High, s.Ticks = Seconds(span.end()), span.Ticks(most)
		return s
	case a.Log:
		s.logarithmic(r, most, round)
		return s
	case !r.Any:
		s.Low, s.High = 0, 1
	}
	if zero || s.Low > 0 && s.Low <= 0.4*s.High {
		s.Low, s.High = min(s.Low, 0), max(s.High, 0)
	}
	if size := max(math.Abs(s.Low), math.Abs(s.High)); s.High-s.Low <= Near*size {
		size = cmp.Or(size, 1)
		s.Low, s.High = s.Low-size/2, s.High+size/2
		if s.Low < 0 && r.Low >= 0 {
			s.Low = 0
		}
	}
	step := a.step((s.High - s.Low) / float64(most))
	from, to := math.Floor(s.Low/step+Near), math.Ceil(s.High/step-Near)
	if round {
		s.Low, s.High = times(from, step), times(to, step)
	}
	for i := from; i <= to; i++ {
		if v := times(i, step); v >= s.Low && v <= s.High {
			s.mark(v)
		}
	}
	return s
}

func (s *Ticked) mark(v float64) { s.Ticks = append(s.Ticks, Tick{Value: v, Label: s.Axis.Print(v)}) }

// step returns the smallest of 1, 2, 5, 10, 20 … or, for bytes, power of two that is at least
// v.
func (a *Axis) step(v float64) float64 {
	if a.Bytes && v >= 1 {
		return math.Exp2(math.Ceil(math.Log2(v) - Near))
	}
	k := math.Floor(math.Log10(v) + Near)
	for _, m := range []float64{1, 2, 5} {
		if s := power(m, k); s >= v*(1-Near) {
			return s
		}
	}
	return power(1, k+1)
}

// power returns m × 10^k, correctly rounded for negative k too.
func power(m, k float64) float64 {
	if k < 0 {
		return m / math.Pow(10, -k)
	}
	return m * math.Pow(10, k)
}

// times returns i × step without rounding errors such as in 3 × 0.1.
func times(i, step float64) float64 {
	if step < 1 {
		return i / math.Round(1/step)
	}
	return i * step
}

// logarithmic sets the ends and ticks: powers of ten, with 2 and 5 in between if they fit, or
// powers of two for bytes.
func (s *Ticked) logarithmic(r Reach, most int, round bool) {
	if !r.Any {
		s.Low, s.High = 1, 10
	}
	if s.High <= s.Low*(1+Near) {
		s.Low, s.High = s.Low/2, s.High*2
	}
	log, between := math.Log10, []float64{1, 2, 5}
	tick := power
	if s.Axis.Bytes {
		log, between = math.Log2, []float64{1}
		tick = func(_, k float64) float64 { return math.Exp2(k) }
	}
	first, last := math.Floor(log(s.Low)+Near), math.Ceil(log(s.High)-Near)
	if (last-first)*float64(len(between)) > float64(most) {
		between = between[:1]
	}
	var all []float64
	for k := first; k <= last; k++ {
		for _, m := range between {
			all = append(all, tick(m, k))
		}
	}
	if round { // the ends are the nearest ticks
		for len(all) > 1 && all[1] <= s.Low*(1+Near) {
			all = all[1:]
		}
		for len(all) > 1 && all[len(all)-2] >= s.High*(1-Near) {
			all = all[:len(all)-1]
		}
		s.Low, s.High = min(all[0], s.Low), max(all[len(all)-1], s.High)
	}
	every := max(1, (len(all)+most)/(most+1))
	for i := 0; i < len(all); i += every {
		if v := all[i]; v >= s.Low*(1-Near) && v <= s.High*(1+Near) {
			s.mark(v)
		}
	}
}
