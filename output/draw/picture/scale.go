package picture

import "math"

// A Scale maps values to positions on an axis.
type Scale struct {
	Low, High float64
	From, To  Px // positions of Low and High
	Log       bool
}

// At returns the position of a value, limited to the ends of the scale.
func (s *Scale) At(v float64) Px {
	low, high := s.Low, s.High
	if s.Log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(max(v, low))
	}
	share := min(max((v-low)/(high-low), 0), 1)
	return s.From + Px(math.Round(float64(s.To-s.From)*share))
}

// A Stack places blocks on top of each other, starting at the low end of a scale.
type Stack struct {
	Scale
	X, W Px
	sum  float64
}

// Next returns the rectangle of the next block. It can be too small to be visible.
func (s *Stack) Next(v float64) Shape {
	bottom := s.At(s.sum)
	s.sum += v
	top := s.At(s.sum)
	return Shape{X: s.X, Y: top, W: s.W, H: bottom - top}
}
