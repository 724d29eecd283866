package chart

import (
	"math"
	"strconv"

	"homenode/output/draw/picture"
)

// text returns a value as the axis prints it.
func (a *Axis) text(v float64) string {
	if a.Text == nil {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return a.Text(v)
}

// has reports whether the value has a place on the axis.
func (a *Axis) has(v float64) bool {
	size := math.Abs(v)
	return v == 0 && !a.Log || size >= 1e-100 && size <= 1e100 && (!a.Log || v > 0)
}

// A reach is from the least to the greatest of some values.
type reach struct {
	low, high float64
	any       bool
}

func (r *reach) add(v float64) {
	if !r.any {
		r.low, r.high, r.any = v, v, true
	}
	r.low, r.high = min(r.low, v), max(r.high, v)
}

// span adds a range as far as it has a place; both ends 0 are none.
func (r *reach) span(a *Axis, low, high float64) {
	for _, v := range []float64{low, high} {
		if (low != 0 || high != 0) && a.has(v) {
			r.add(v)
		}
	}
}

// A scale places the values of an axis.
type scale struct {
	picture.Scale
	axis  *Axis
	ticks []float64
}

// near is how much two values differ that count as one.
const near = 1e-9

// scaleOf returns a scale for the values, with about most ticks. It begins at 0 when zero
// says so, or when the values are near it; its ends are ticks when round says so.
func scaleOf(a *Axis, r reach, most int, zero, round bool) scale {
	s := scale{axis: a, Scale: picture.Scale{Low: r.low, High: r.high, Log: a.Log}}
	if a.Log {
		s.logarithmic(r, most, round)
		return s
	}
	if !r.any {
		s.Low, s.High = 0, 1
	}
	if zero || s.Low > 0 && s.Low <= 0.4*s.High {
		s.Low, s.High = min(s.Low, 0), max(s.High, 0)
	}
	if size := max(math.Abs(s.Low), math.Abs(s.High)); s.High-s.Low <= near*size {
		if size == 0 {
			size = 1
		}
		s.Low, s.High = s.Low-size/2, s.High+size/2
		if s.Low < 0 && r.low >= 0 {
			s.Low = 0
		}
	}
	step := a.step((s.High - s.Low) / float64(most))
	from, to := math.Floor(s.Low/step+near), math.Ceil(s.High/step-near)
	if round {
		s.Low, s.High = times(from, step), times(to, step)
	}
	for i := from; i <= to; i++ {
		if v := times(i, step); v >= s.Low && v <= s.High {
			s.ticks = append(s.ticks, v)
		}
	}
	return s
}

// step returns the least of 1, 2, 5, 10, 20 … or, for bytes, power of two that is not below
// the value.
func (a *Axis) step(v float64) float64 {
	if a.Bytes && v >= 1 {
		return math.Exp2(math.Ceil(math.Log2(v) - near))
	}
	k := math.Floor(math.Log10(v) + near)
	for _, m := range []float64{1, 2, 5} {
		if s := power(m, k); s >= v*(1-near) {
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
func (s *scale) logarithmic(r reach, most int, round bool) {
	if !r.any {
		s.Low, s.High = 1, 10
	}
	if s.High <= s.Low*(1+near) {
		s.Low, s.High = s.Low/2, s.High*2
	}
	log, between := math.Log10, []float64{1, 2, 5}
	tick := power
	if s.axis.Bytes {
		log, between = math.Log2, []float64{1}
		tick = func(_, k float64) float64 { return math.Exp2(k) }
	}
	first, last := math.Floor(log(s.Low)+near), math.Ceil(log(s.High)-near)
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
		for len(all) > 1 && all[1] <= s.Low*(1+near) {
			all = all[1:]
		}
		for len(all) > 1 && all[len(all)-2] >= s.High*(1-near) {
			all = all[:len(all)-1]
		}
		s.Low, s.High = min(all[0], s.Low), max(all[len(all)-1], s.High)
	}
	every := max(1, (len(all)+most)/(most+1))
	for i := 0; i < len(all); i += every {
		if v := all[i]; v >= s.Low*(1-near) && v <= s.High*(1+near) {
			s.ticks = append(s.ticks, v)
		}
	}
}
