package capture_test

import (
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
)

// TestSpill: new memory that goes remote counts, memory that leaves the home node or
// follows it does not.
func TestSpill(t *testing.T) {
	const g = numa.GiB
	for _, tt := range []struct {
		name                        string
		local, remote, local2, rem2 numa.Bytes
		homes                       numa.NodeSet
		free                        numa.Bytes // on node 0 after
		want                        numa.Bytes
	}{
		{"new and remote", 50 * g, 0, 50 * g, 5 * g, 1, 20 * g, 5 * g},
		{"new here and there", 50 * g, 0, 52 * g, 5 * g, 1, 20 * g, 5 * g},
		{"moved away", 50 * g, 0, 45 * g, 5 * g, 1, 20 * g, 0},
		{"half of it moved away", 50 * g, 0, 47 * g, 6 * g, 1, 20 * g, 3 * g},
		{"new and local", 50 * g, 0, 60 * g, 0, 1, 20 * g, 0},
		{"filled meanwhile", 50 * g, 0, 69 * g, 5 * g, 1, 1 * g, 0},
		{"wide", 50 * g, 0, 52 * g, 5 * g, 0b11, 20 * g, 5 * g},
		{"wide, one of its nodes is full", 50 * g, 0, 52 * g, 5 * g, 0b101, 20 * g, 0},
		{"wide, one of its nodes is unknown", 50 * g, 0, 52 * g, 5 * g, 0b1001, 20 * g, 0},
	} {
		r := capture.NewRecorder(capture.Options{
			Locality: 0.8, Remote: 4 * g, BusyNode: 0.8, IdleNode: 0.2, Ready: 0.1, SpillFree: 12 * g, SpillStep: g / 8,
			Lopsided: 0.9, Window: 10 * time.Minute, Gap: 6 * time.Minute, Buckets: 64,
		})
		at := time.Date(2026, 11, 2, 1, 0, 0, 0, time.UTC)
		for i, m := range [][2]numa.Bytes{{tt.local, tt.remote}, {tt.local2, tt.rem2}} {
			r.Add(&numa.Tick{
				Host: "esx01", Time: at.Add(time.Duration(i) * 20 * time.Second),
				Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasFree, Free: []numa.Bytes{20 * g, tt.free}[i]}, {ID: 1, Has: numa.HasFree, Free: 90 * g}, {ID: 2, Has: numa.HasFree}},
				VMs:   []numa.VMTick{{GID: 1, Name: "db01", Has: numa.HasHomes | numa.HasMemory, Homes: tt.homes, Local: m[0], Remote: m[1]}},
			})
		}
		want := capture.Spill{}
		if tt.want > 0 {
			want = capture.Spill{Time: at.Add(20 * time.Second), Node: 0, Free: 20 * g, Grown: tt.want, Remote: tt.rem2}
		}
		if got := r.Recording().VMs[0].Spilled; got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}
