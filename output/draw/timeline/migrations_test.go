package timeline

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
)

// TestMigrations draws the migrations of all VMs of a host where they happened, and none without.
func TestMigrations(t *testing.T) {
	o := capture.Options{Locality: 0.8, Remote: numa.GiB, BusyNode: 0.8, IdleNode: 0.4, Ready: 0.1, SpillFree: numa.GiB, SpillStep: numa.GiB, Lopsided: 0.9, Window: time.Minute, Gap: 5 * time.Minute, Buckets: 64}
	r := capture.NewRecorder(o)
	r.Open("test", "test")
	start := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	for i := range 60 {
		r.Add(&numa.Tick{Host: "esx01", Time: start.Add(time.Duration(i) * time.Minute), Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasUtil, Util: 0.5}, {ID: 1, Has: numa.HasUtil, Util: 0.5}}})
	}
	rec := r.Recording()
	draw := func(counts []capture.Count) string {
		var b bytes.Buffer
		if err := picture.Write(&b, Host(rec, Options{Migrations: counts}), true); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := draw([]capture.Count{{Time: start.Add(30 * time.Minute), N: 3}, {Time: start.Add(30*time.Minute + time.Second), N: 2}, {Time: start.Add(59 * time.Minute), N: 1}})
	if !strings.Contains(text, "NUMA migrations of all VMs: 6, at most 5 in a step") || strings.Count(text, `class="event"`) != 2 {
		t.Errorf("not drawn: %d events", strings.Count(text, `class="event"`))
	}
	if text := draw([]capture.Count{}); !strings.Contains(text, "NUMA migrations of all VMs: none") || strings.Contains(text, `class="event"`) {
		t.Error("none happened, and some are drawn")
	}
	if strings.Contains(draw(nil), "NUMA migrations of all VMs") {
		t.Error("drawn although it is unknown")
	}
}
