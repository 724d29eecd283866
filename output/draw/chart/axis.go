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

// A scale places values between two ends of an axis.
type scale struct {
	axis      *Axis
	low, high float64
	from, to  picture.Px // where low and high are
	ticks     []float64
}

// at returns where the value is; one beyond the ends is at the end.
func (s *scale) at(v float64) picture.Px {
	low, high := s.low, s.high
	if s.axis.Log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(max(v, low))
	}
	share := min(max((v-low)/(high-low), 0), 1)
	return s.from + picture.Px(math.Round(float64(s.to-s.from)*share))
}

// scaleOf returns a scale for the values, with about most ticks. It begins at 0 when zero
// says so, or when the values are near it; its ends are ticks when round says so.
func scaleOf(a *Axis, r reach, most int, zero, round bool) scale {
	s := scale{axis: a, low: r.low, high: r.high}
	if a.Log {
		s.logarithmic(r, most, round)
		return s
	}
	if !r.any {
		s.low, s.high = 0, 1
	}
	if zero || s.low > 0 && s.low <= 0.4*s.high {
		s.low, s.high = min(s.low, 0), max(s.high, 0)
	}
	if size := max(math.Abs(s.low), math.Abs(s.high)); s.high-s.low <= 1e-9*size {
		if size == 0 {
			size = 1
		}
		s.low, s.high = s.low-size/2, s.high+size/2
		if s.low < 0 && r.low >= 0 {
			s.low = 0
		}
	}
	step := a.step((s.high - s.low) / float64(most))
	from, to := math.Floor(s.low/step+1e-9), math.Ceil(s.high/step-1e-9)
	if round {
		s.low, s.high = times(from, step), times(to, step)
	}
	for i := from; i <= to; i++ {
		if v := times(i, step); v >= s.low && v <= s.high {
			s.ticks = append(s.ticks, v)
		}
	}
	return s
}

// step returns the least of 1, 2, 5, 10, 20 … or, for bytes, power of two that is not below
// the value.
func (a *Axis) step(v float64) float64 {
	if a.Bytes && v >= 1 {
		return math.Exp2(math.Ceil(math.Log2(v) - 1e-9))
	}
	k := math.Floor(math.Log10(v) + 1e-9)
	for _, m := range []float64{1, 2, 5} {
		if s := power(m, k); s >= v*(1-1e-9) {
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
		s.low, s.high = 1, 10
	}
	if s.high <= s.low*(1+1e-9) {
		s.low, s.high = s.low/2, s.high*2
	}
	base := 10.0
	between := []float64{1, 2, 5}
	if s.axis.Bytes {
		base, between = 2, []float64{1}
	}
	first := math.Floor(math.Log(s.low)/math.Log(base) + 1e-9)
	last := math.Ceil(math.Log(s.high)/math.Log(base) - 1e-9)
	powers := last - first
	if powers*float64(len(between)) > float64(most) {
		between = between[:1]
	}
	var all []float64
	for k := first; k <= last; k++ {
		for _, m := range between {
			all = append(all, logTick(m, base, k))
		}
	}
	if round { // the ends are the nearest ticks
		for len(all) > 1 && all[1] <= s.low*(1+1e-9) {
			all = all[1:]
		}
		for len(all) > 1 && all[len(all)-2] >= s.high*(1-1e-9) {
			all = all[:len(all)-1]
		}
		s.low, s.high = min(all[0], s.low), max(all[len(all)-1], s.high)
	}
	every := 1
	for len(all) > every*(most+1) {
		every++
	}
	for i := 0; i < len(all); i += every {
		if v := all[i]; v >= s.low*(1-1e-9) && v <= s.high*(1+1e-9) {
			s.ticks = append(s.ticks, v)
		}
	}
}

func logTick(m, base, k float64) float64 {
	if base == 2 {
		return math.Exp2(k)
	}
	return power(m, k)
}
