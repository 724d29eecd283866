package scheduler_test

import (
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler"
)

// TestVMotionTakesTime plays vMotions over a link: the VM changes over when its memory is
// copied, one after the other, and not at all when it is powered off before.
func TestVMotionTakesTime(t *testing.T) {
	const fleet = "release 7.0\nhost a nodes=2 cores=12 nodeMemory=128GB\nhost b nodes=2 cores=12 nodeMemory=128GB\n" +
		"vm one host=a vcpus=4 memory=40GB\nvm two host=a vcpus=4 memory=40GB\n"
	for _, c := range []struct {
		name, events string
		one, two     time.Duration // of the move, 0 for none
	}{
		{"at once", "at 60s vmotion one host=b\n", 60 * time.Second, 0},
		{"40 GiB over 10 Gb/s", "at 60s vmotion one host=b link=10Gbps\n", 96 * time.Second, 0},
		{"written anew", "at 60s vmotion one host=b link=10Gbps dirty=600MB/s\n", 126 * time.Second, 0},
		{"one after the other", "at 60s vmotion one,two host=b link=10Gbps\n", 96 * time.Second, 132 * time.Second},
		{"powered off before", "at 60s vmotion one host=b link=10Gbps\nat 80s power-cycle one\n", 0, 0},
		{"its host fails before", "at 60s vmotion one,two host=b link=10Gbps\nat 100s fail a\n", 96 * time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, fleet+"run 10m\nload * memory=all over=0s\n"+c.events)
			out, err := scheduler.Run(t.Context(), s, scheduler.Options{Log: true})
			if err != nil {
				t.Fatal(err)
			}
			var at [2]time.Duration
			for _, d := range out.Decisions {
				if d.Kind == scheduler.MovedIn {
					at[d.VM] = d.At
				}
			}
			if at != [2]time.Duration{c.one, c.two} {
				t.Errorf("moved at %v, want %v and %v; %v", at, c.one, c.two, out.Problems)
			}
		})
	}
}
