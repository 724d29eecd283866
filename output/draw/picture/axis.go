package picture

import (
	"math"
	"strconv"
	"time"
)

// An Axis has a label with its unit. Its numbers are printed by Text.
type Axis struct {
	Label string
	Log   bool // logarithmic; all values are above 0
	Bytes bool // values are bytes: marked at powers of two
	Time  bool // values are seconds since 1970: marked as clocks are
	Text  func(float64) string
}

// Print returns a value as the axis prints it.
func (a *Axis) Print(v float64) string {
	switch {
	case a.Text != nil:
		return a.Text(v)
	case a.Time:
		return Moment(v).Format("2 Jan 15:04:05")
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Moment returns the time of a value.
func Moment(v float64) time.Time { return time.UnixMilli(int64(v * 1000)).UTC() }

// Seconds returns a time as a value of an axis.
func Seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

// Has reports whether the value has a place on the axis.
func (a *Axis) Has(v float64) bool {
	size := math.Abs(v)
	return v == 0 && !a.Log || size >= 1e-100 && size <= 1e100 && (!a.Log || v > 0)
}

// A Reach is from the least to the greatest of some values.
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

// Span adds a range as far as it has a place; both ends 0 are none.
func (r *Reach) Span(a *Axis, low, high float64) {
	for _, v := range []float64{low, high} {
		if (low != 0 || high != 0) && a.Has(v) {
			r.Add(v)
		}
	}
}

// A Ticked scale places the values of an axis, some of which are marked.
type Ticked struct {
	Scale
	Axis  *Axis
	Ticks []Tick
}

// A Tick is a value that is marked.
type Tick struct {
	Value float64
	Label string
	Day   bool // a clock's midnight
}

// Near is how much two values differ that count as one.
const Near = 1e-9

// Scale returns a scale for the values, with about most ticks. It begins at 0 when zero
// says so, or when the values are near it; its ends are ticks when round says so.
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
		if size == 0 {
			size = 1
		}
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

// step returns the least of 1, 2, 5, 10, 20 … or, for bytes, power of two that is not below
// the value.
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

// times returns i × step without the dust of 3 × 0.1.
func times(i, step float64) float64 {
	if step < 1 {
		return i / math.Round(1/step)
	}
	return i * step
}

// logarithmic gives the scale its ends and ticks: powers of ten, with 2 and 5 between them
// where there is room, or powers of two for bytes.
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
	if round { // the ends are the Nearest ticks
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
