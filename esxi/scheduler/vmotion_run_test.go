package scheduler_test

import (
	"strings"
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

// TestOtherMaker: a VM that runs does not move between processors of Intel and AMD. In a maintenance it moves to a host of the same maker, or stays;
// after a failure it is restarted on any.
func TestOtherMaker(t *testing.T) {
	const amd = "release 8.0\ncluster c\nhost a cluster=c nodes=2 cores=12 nodeMemory=128GB cpu=\"Xeon Gold 6126\"\n" +
		"host b cluster=c nodes=2 cores=32 nodeMemory=128GB cpu=\"EPYC 7543\"\nvm one host=a vcpus=4 memory=40GB\n"
	const intel = "host d cluster=c nodes=2 cores=12 nodeMemory=128GB cpu=\"Xeon Gold 6126\"\n"
	for _, c := range []struct {
		name, fleet, event string
		kind               scheduler.DecisionKind
		to                 int // -1: it stays
		denied             bool
	}{
		{"vMotion", amd, "at 60s vmotion one host=b", scheduler.MovedIn, -1, true},
		{"vMotion over a link", amd, "at 60s vmotion one host=b link=10Gbps", scheduler.MovedIn, -1, true},
		{"maintenance", amd, "at 60s maintenance a", scheduler.MovedIn, -1, false},
		{"maintenance beside the same maker", amd + intel, "at 60s maintenance a", scheduler.MovedIn, 2, false},
		{"failure", amd, "at 60s fail a", scheduler.Restart, 1, false},
	} {
		s := read(t, c.fleet+"run 10m\nload * memory=all over=0s\n"+c.event+"\n")
		out, err := scheduler.Run(t.Context(), s, scheduler.Options{Log: true})
		if err != nil {
			t.Fatal(err)
		}
		to := -1
		for _, d := range out.Decisions {
			if d.Kind == c.kind {
				to = d.Host
			}
		}
		denied := len(out.Denied) == 1 && strings.Contains(out.Denied[0].Why, "between Intel (a) and AMD (b)")
		if to != c.to || denied != c.denied {
			t.Errorf("%s: moved to host %d, want %d; denied %+v", c.name, to, c.to, out.Denied)
		}
	}
}
