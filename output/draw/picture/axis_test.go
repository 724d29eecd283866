package picture

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var midnight = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

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
		s := Span{First: midnight.Add(tt.from), Last: midnight.Add(tt.from + tt.length)}
		var got []string
		for _, k := range s.Ticks(12) {
			got = append(got, k.Label)
		}
		if text := strings.Join(got, " "); text != tt.want || s.Title() != tt.title {
			t.Errorf("%v of %v: %s, %s; want %s, %s", tt.length, tt.from, text, s.Title(), tt.want, tt.title)
		}
	}
}

// TestAxis checks the ticks of axes of numbers, bytes, logarithms and time.
func TestAxis(t *testing.T) {
	gigabytes := func(v float64) string { return fmt.Sprint(v/(1<<30), " GB") }
	at := Seconds(midnight.Add(23 * time.Hour))
	for _, tt := range []struct {
		axis      Axis
		low, high float64
		most      int
		want      string
	}{
		{Axis{}, 0, 9.3, 5, "0 2 4 6 8 10"}, {Axis{}, 7, 9.3, 5, "7 7.5 8 8.5 9 9.5"}, {Axis{}, 3, 9.3, 5, "0 2 4 6 8 10"}, {Axis{}, 0.1, 0.3, 3, "0 0.1 0.2 0.3"}, {Axis{}, 5, 5, 2, "0 5 10"},
		{Axis{Bytes: true, Text: gigabytes}, 0, 184 << 30, 4, "0 GB 64 GB 128 GB 192 GB"}, {Axis{Bytes: true, Text: gigabytes}, 0, 1 << 40, 4, "0 GB 256 GB 512 GB 768 GB 1024 GB"},
		{Axis{Log: true}, 3, 4000, 6, "1 10 100 1000 1e+04"}, {Axis{Log: true}, 3, 40, 6, "2 5 10 20 50"}, {Axis{Log: true, Bytes: true}, 5, 30, 6, "4 8 16 32"},
		{Axis{Time: true}, at, at + 7200, 9, "23:00 23:15 23:30 23:45 21 Nov 00:15 00:30 00:45 01:00"}, {Axis{Time: true}, at, at, 3, "23:00:00 23:00:01"},
	} {
		s := tt.axis.Scale(Reach{tt.low, tt.high, true}, tt.most, false, true)
		var got []string
		for _, k := range s.Ticks {
			got = append(got, k.Label)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%+v from %v to %v: found %s, want %s", tt.axis, tt.low, tt.high, text, tt.want)
		}
	}
}
