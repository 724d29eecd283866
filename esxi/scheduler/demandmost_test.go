package scheduler

import (
	"math"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// TestMost checks that numa.Demand.Most is on the curve that is simulated.
func TestMost(t *testing.T) {
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for _, d := range []numa.Demand{{Low: 0.1, High: 0.9, Peak: 14 * time.Hour}, {Low: 0.8, High: 0.2, Peak: 3 * time.Hour}} {
		c := curveOf(&d)
		for second := int64(0); second < 2*halfDay; second += 600 {
			at := time.Duration(second) * time.Second
			if got, want := d.Most(start, at, at), float64(c.at(second))/full; math.Abs(got-want) > 2.0/full {
				t.Errorf("at %s: %v, want %v", at, got, want)
			}
		}
	}
}
