package stat

import (
	"math"
	"testing"
)

// TestStudent compares with the table of Student's t, and with the normal distribution for many degrees.
func TestStudent(t *testing.T) {
	for _, tt := range []struct {
		share   float64
		freedom int
		want    float64
	}{
		{0.95, 1, 12.706}, {0.95, 2, 4.303}, {0.95, 10, 2.228}, {0.99, 1, 63.657}, {0.99, 5, 4.032}, {0.60, 10, 0.879}, {0.60, 2, 1.061}, {0.95, 100_000, 1.960},
	} {
		if got := Student(tt.share, tt.freedom); math.Abs(got-tt.want) > 0.0006 {
			t.Errorf("Student(%v, %d) = %.4f, want %v", tt.share, tt.freedom, got, tt.want)
		}
	}
	if got := Within(math.Inf(1), 7); math.Abs(got-1) > 1e-9 {
		t.Errorf("%v of the distribution lies anywhere, want 1", got)
	}
}
