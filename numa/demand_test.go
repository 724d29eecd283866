package numa

import (
	"math"
	"testing"
	"time"
)

func TestMost(t *testing.T) {
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	office := Demand{Low: 0.05, High: 0.25, Peak: 14 * time.Hour, Noise: 0.25}
	night := Demand{Low: 0.75, High: 0.25, Peak: 12 * time.Hour}
	recorded := Demand{Points: []DemandPoint{{time.Minute, 0.5}, {time.Hour, 0.75}, {2 * time.Hour, 0.25}}}
	for _, tt := range []struct {
		name     string
		d        Demand
		start    time.Time
		from, to time.Duration
		want     float64
	}{
		{"a day", office, start, 0, 24 * time.Hour, 0.5},
		{"to the lowest", office, start.Add(14 * time.Hour), 12 * time.Hour, 12 * time.Hour, 0.3},
		{"half way up", office, start, 0, 8 * time.Hour, 0.4},
		{"the peak in the middle", office, start, 13 * time.Hour, 15 * time.Hour, 0.5},
		{"the peak of tomorrow", office, start, 15 * time.Hour, 40 * time.Hour, 0.5},
		{"downhill", office, start, 20 * time.Hour, 26 * time.Hour, 0.4},
		{"lowest at its peak", night, start, 22 * time.Hour, 26 * time.Hour, 0.75},
		{"half way to midnight", night, start, 12 * time.Hour, 18 * time.Hour, 0.5},
		{"recorded", recorded, start, 0, 2 * time.Hour, 0.75},
		{"before the first point", recorded, start, 0, 30 * time.Second, 0.5},
		{"after the last", recorded, start, 2 * time.Hour, 9 * time.Hour, 0.25},
		{"at most a core", Demand{Low: 0.9, High: 0.9, Noise: 0.5}, start, 0, time.Hour, 1},
	} {
		if got := tt.d.Most(tt.start, tt.from, tt.to); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
