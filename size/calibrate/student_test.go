package calibrate

import (
	"math"
	"testing"
)

// TestQuantile checks the two-sided 95 % column of the table of Student's t that every
// textbook prints.
func TestQuantile(t *testing.T) {
	for freedom, want := range map[int]float64{
		1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
		15: 2.131, 20: 2.086, 29: 2.045, 30: 2.042, 60: 2.000, 120: 1.980, 1000: 1.962,
	} {
		if got := quantile(freedom); math.Round(got*1000)/1000 != want {
			t.Errorf("%d degrees of freedom: %.4f, want %.3f", freedom, got, want)
		}
	}
}

func TestMeanOf(t *testing.T) {
	mean, deviation := meanOf([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if mean != 5 || math.Abs(deviation-math.Sqrt(32.0/7)) > 1e-12 {
		t.Errorf("mean %v, deviation %v; want 5, %v", mean, deviation, math.Sqrt(32.0/7))
	}
}
