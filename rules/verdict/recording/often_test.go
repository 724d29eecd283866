package recording_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/verdict/recording"
	"example.org/homenode/source/incident"
)

// TestOftenLow checks the verdict on N%L that is low again and again, each time for less than the minutes of M001: it does not acquit NUMA when more of
// the memory was remote than in one such time.
func TestOftenLow(t *testing.T) {
	const acquitted, open = "NUMA was not the cause", "NUMA cannot be ruled out"
	for _, tt := range []struct {
		name             string
		used             string
		size             int           // GB
		local            int           // GB of it while it is low
		low, high        time.Duration // in turn
		first, last, end time.Duration
		want             string
	}{
		{"2 of 4 minutes", "30%", 60, 3, 2 * time.Minute, 2 * time.Minute, 0, time.Hour, time.Hour, open},
		{"4 of 9 minutes", "30%", 60, 3, 4 * time.Minute, 5 * time.Minute, 0, time.Hour, time.Hour, open},
		{"100 seconds of 5 minutes", "30%", 60, 1, 100 * time.Second, 200 * time.Second, 0, time.Hour, time.Hour, open},
		{"in a short capture", "30%", 60, 3, 4 * time.Minute, 3 * time.Minute, 0, 15 * time.Minute, 15 * time.Minute, open},
		{"in one hour of a day", "30%", 60, 3, 2 * time.Minute, 3 * time.Minute, 10 * time.Hour, 11 * time.Hour, 24 * time.Hour, open},
		{"most of the time", "30%", 60, 30, 4 * time.Minute, 20 * time.Second, 0, time.Hour, time.Hour, open},
		{"once", "30%", 60, 3, 4 * time.Minute, 2 * time.Hour, 20 * time.Minute, time.Hour, time.Hour, acquitted},
		{"every half an hour", "30%", 60, 3, 4 * time.Minute, 26 * time.Minute, 10 * time.Minute, 3 * time.Hour, 3 * time.Hour, acquitted},
		{"an idle VM", "0.2%", 60, 3, 2 * time.Minute, 2 * time.Minute, 0, time.Hour, time.Hour, acquitted},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "host esx01\nnode 0 memory=512GB free=60GB busy=10%%\nnode 1 memory=512GB free=60GB busy=12%%\nvm db01 gid=101 vcpus=8 memory=64GB homes=0 local=%dGB remote=0 used=%s\n", tt.size, tt.used)
		for at := tt.first; at < tt.last; at += tt.low + tt.high {
			fmt.Fprintf(&b, "%s vm db01 local=%dGB remote=%dGB\n", at, tt.local, tt.size-tt.local)
			if at+tt.low < tt.end {
				fmt.Fprintf(&b, "%s vm db01 local=%dGB remote=0\n", at+tt.low, tt.size)
			}
		}
		fmt.Fprintf(&b, "%s end\n", tt.end)
		in, err := incident.Read(tt.name, []byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		r := capture.NewRecorders(rules.CaptureOptions(nil))
		if err := in.Ticks(func(k *numa.Tick) error { r.Add(k); return nil }); err != nil {
			t.Fatal(err)
		}
		verdict, _ := recording.Of(rules.Watch(r.Recordings(), nil, rules.Options{})).Verdict()
		if !strings.HasPrefix(verdict, tt.want) {
			t.Errorf("%s: %s, want %q", tt.name, verdict, tt.want)
		}
	}
}
