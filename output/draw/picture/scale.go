package picture

import "math"

// A Scale places values between two ends of an axis.
type Scale struct {
	Low, High float64
	From, To  Px // where Low and High are
	Log       bool
}

// At returns where the value is; one beyond the ends is at the end.
func (s *Scale) At(v float64) Px {
	low, high := s.Low, s.High
	if s.Log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(max(v, low))
	}
	share := min(max((v-low)/(high-low), 0), 1)
	return s.From + Px(math.Round(float64(s.To-s.From)*share))
}

// A Stack places blocks on each other, from the low end of a scale on.
type Stack struct {
	Scale
	X, W Px
	sum  float64
}

// Next returns the rectangle of the next block; it can be too small to be seen.
func (s *Stack) Next(v float64) Shape {
	bottom := s.At(s.sum)
	s.sum += v
	top := s.At(s.sum)
	return Shape{X: s.X, Y: top, W: s.W, H: bottom - top}
}
