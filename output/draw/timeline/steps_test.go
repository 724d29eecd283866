package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
)

var midnight = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// Ticks every 20 s in buckets of 8 s hang together; a stretch longer than the gap does not.
func TestSteps(t *testing.T) {
	buckets := make([]capture.VMBucket, 40)
	for _, at := range []int{3, 23, 43, 203, 223} { // seconds
		buckets[at/8].Ticks = 1
	}
	line := capture.NewTimeline(8*time.Second, midnight.Unix()/8, buckets)
	rec := &capture.Recording{First: midnight.Add(3 * time.Second), Last: midnight.Add(223 * time.Second), Options: capture.Options{Gap: time.Minute}}
	steps := stepsOf(&line, rec, func(b *capture.VMBucket) int32 { return b.Ticks })
	var got []string
	for _, s := range append(steps, gapsOf(steps)...) {
		got = append(got, fmt.Sprintf("%d: %v-%v", s.bucket, s.from.Sub(midnight), s.to.Sub(midnight)))
	}
	want := "0: 3s-16s|2: 16s-40s|5: 40s-48s|25: 3m20s-3m36s|27: 3m36s-3m43s|0: 48s-3m20s"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("steps and gaps %s\nwant %s", s, want)
	}
}

func TestScales(t *testing.T) {
	for most, want := range map[float64]float64{0: .05, .05: .05, .051: .1, .3: .5, .6: 1, 1: 1, 1.2: 2} {
		if got, _ := shareScale(most); got != want {
			t.Errorf("shares up to %v: %v, want %v", most, got, want)
		}
	}
	for share, want := range map[float64]string{0: "0 %", .004: "0.4 %", .0995: "10 %", .05: "5 %", .876: "88 %", 1.3: "130 %"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}
