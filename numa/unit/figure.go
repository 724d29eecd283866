package unit

// An Origin is the kind of evidence for a figure.
type Origin string

// The origins, the best first.
const (
	Measured  Origin = "measured"  // by the user: a benchmark, a capture, the inventory
	Published Origin = "published" // by others, on the named hardware
	Derived   Origin = "derived"   // computed from figures of the origins above
	Given     Origin = "given"     // by the user, as a flag
	Assumed   Origin = "assumed"
)

// A Figure is a published, measured or assumed number: its value, its range, and its source. The
// zero value states nothing.
type Figure[T ~float64] struct {
	Value T `json:"value"`
	// Low and High are its range: measured or printed values of similar cases, or the confidence
	// interval of a fit. Equal to Value if no range is stated.
	Low      T      `json:"low"`
	High     T      `json:"high"`
	Origin   Origin `json:"origin"`
	Source   string `json:"source"`             // experiment, article or file
	Hardware string `json:"hardware,omitempty"` // hardware of the measurement
	Note     string `json:"note,omitempty"`     // derivation and doubts
}

// Exactly returns a figure without a range.
func Exactly[T ~float64](v T, origin Origin, source, hardware string) Figure[T] {
	return Figure[T]{Value: v, Low: v, High: v, Origin: origin, Source: source, Hardware: hardware}
}

// Times returns the figure scaled by f, which is not negative.
func (f Figure[T]) Times(factor float64) Figure[T] {
	f.Value, f.Low, f.High = T(float64(f.Value)*factor), T(float64(f.Low)*factor), T(float64(f.High)*factor)
	return f
}
