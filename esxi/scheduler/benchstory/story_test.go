package benchstory_test

import (
	"context"
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/scheduler/benchstory"
	"example.org/homenode/numa"
)

// TestKinds checks that the days are what they are said to be, in every tick of 20 s.
func TestKinds(t *testing.T) {
	for _, kind := range benchstory.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			s := benchstory.Story(kind, 2, 100, 24*time.Hour)
			remote := map[string]numa.Bytes{}
			checked := 0
			check := func(_ int, x *numa.Tick, _ *scheduler.Look) {
				for _, n := range x.Nodes {
					// The capacity of a node is reached when it is overloaded.
					if overloaded := n.Util > 0.999; n.Has&numa.HasUtil != 0 && overloaded != (kind == benchstory.Busy) {
						t.Errorf("%s: the use of node %d is %.3f", x.Time, n.ID, n.Util)
					}
				}
				for i := range x.VMs {
					v := &x.VMs[i]
					before, seen := remote[v.Name]
					if moves := v.Remote < before; seen && moves != (kind == benchstory.Moving) && kind != benchstory.Busy {
						t.Errorf("%s: remote memory of %s is %d, was %d", x.Time, v.Name, v.Remote, before)
					}
					remote[v.Name] = v.Remote
					checked++
				}
			}
			out, err := scheduler.Run(context.Background(), s, scheduler.Options{Observe: check})
			if err != nil || len(out.Problems) > 0 {
				t.Fatal(err, out.Problems)
			}
			if want := 100 * (24*180 + 1); checked != want {
				t.Errorf("%d VMs in ticks, want %d", checked, want)
			}
		})
	}
}

// TestShared checks the utilisation that CloudSim Plus 8.5.7 prints for the same fleets
// (cloudsimbench, and with -seconds 600 -interval 2).
func TestShared(t *testing.T) {
	for _, tt := range []struct {
		seconds int
		want    float64
	}{{24 * 3600, 0.186916812717}, {600, 0.083291156250}} {
		f := benchstory.Shared{Hosts: 100, VMs: 1000, Cores: 64, VCPUs: 4, Seconds: tt.seconds, Hold: 300}
		out, err := scheduler.Run(context.Background(), f.Story(), scheduler.Options{})
		if err != nil || len(out.Problems) > 0 {
			t.Fatal(err, out.Problems)
		}
		run := int64(0)
		for i := range out.VMs {
			run += out.VMs[i].Run
		}
		got := float64(run) / 1e4 / float64(tt.seconds/2*100*64)
		if diff := got - tt.want; diff > 1e-12 || diff < -1e-12 {
			t.Errorf("%d s: mean utilisation %.12f, want %.12f", tt.seconds, got, tt.want)
		}
	}
}
