package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"homenode/capture"
	"homenode/numa"
)

var midnight = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// Ticks every 20 s in buckets of 8 s hang together; a stretch longer than the gap does not.
func TestSteps(t *testing.T) {
	line := capture.Timeline[capture.VMBucket]{Width: 8 * time.Second, Start: midnight.Unix() / 8, Buckets: make([]capture.VMBucket, 40)}
	for _, at := range []int{3, 23, 43, 203, 223} { // seconds
		line.Buckets[at/8].Ticks = 1
	}
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

func TestClock(t *testing.T) {
	for _, tt := range []struct {
		from, length time.Duration
		want, title  string
	}{
		{90 * time.Minute, 4 * time.Hour, "01:30 02:00 02:30 03:00 03:30 04:00 04:30 05:00 05:30", "2026-11-20 01:30 to 05:30 UTC"},
		{22 * time.Hour, 10 * time.Hour, "22:00 23:00 21 Nov 01:00 02:00 03:00 04:00 05:00 06:00 07:00 08:00", "2026-11-20 22:00 to 2026-11-21 08:00 UTC"},
		{time.Hour, time.Minute, "01:00:00 01:00:10 01:00:20 01:00:30 01:00:40 01:00:50 01:01:00", "2026-11-20 01:00:00 to 01:01:00 UTC"},
		{0, 10 * day, "20 Nov 21 Nov 22 Nov 23 Nov 24 Nov 25 Nov 26 Nov 27 Nov 28 Nov 29 Nov 30 Nov", "2026-11-20 00:00 to 2026-11-30 00:00 UTC"},
		{5 * time.Second, 0, "00:00:05 00:00:06", "2026-11-20 00:00:05 UTC"},
	} {
		s := spanOf(&capture.Recording{First: midnight.Add(tt.from), Last: midnight.Add(tt.from + tt.length)})
		var got []string
		for _, k := range s.ticks(12) {
			got = append(got, k.label)
		}
		if text := strings.Join(got, " "); text != tt.want || s.title() != tt.title {
			t.Errorf("%v of %v: %s, %s; want %s, %s", tt.length, tt.from, text, s.title(), tt.want, tt.title)
		}
	}
}

func TestScales(t *testing.T) {
	for _, tt := range []struct {
		most numa.Bytes
		want string
	}{
		{0, "0 1 MB"}, {3 * numa.MiB, "0 1 MB 2 MB 3 MB"}, {184 * numa.GiB, "0 64 GB 128 GB 192 GB"}, {numa.TiB, "0 256 GB 512 GB 768 GB 1 TB"},
	} {
		_, marks := memoryScale(tt.most)
		var got []string
		for _, m := range marks {
			got = append(got, m.label)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.most, s, tt.want)
		}
	}
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
