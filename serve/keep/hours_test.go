package keep_test

import (
	"fmt"
	"testing"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/serve/keep"
)

// TestHours makes hours of samples, goes on after a restart, and makes none twice.
func TestHours(t *testing.T) {
	open := func(dir string) *store.Store {
		s, err := store.Open(dir, store.Options{Retain: 1000 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ticks := open(t.TempDir())
	defer ticks.Close()
	dir := t.TempDir()
	hours := open(dir)
	now := time.Now().Truncate(time.Hour).Add(20 * time.Minute)
	begin := now.Add(-3*time.Hour - 20*time.Minute)
	l := []string{"vcenter", "vc", "host", "esx1", "vm", "a", "vm_id", "vm-1"}
	ratio, remote, moves := ticks.Series("homenode_vm_numa_local_ratio", l...), ticks.Series("homenode_vm_numa_remote_bytes", l...), ticks.Series("homenode_vm_numa_migrations_total", l...)
	home := []*store.Series{ticks.Series("homenode_vm_numa_home_node", append(l, "node", "0")...), ticks.Series("homenode_vm_numa_home_node", append(l, "node", "1")...)}
	at := begin
	for i := 0; at.Before(now); i++ {
		on := float64(i / 30 % 2) // changes its home every half hour
		x := []store.Sample{{Series: ratio, Number: float64(i%60) / 60}, {Series: remote, Number: float64(i%60) * 1e9}, {Series: moves, Number: float64(2 * i)}, {Series: home[0], Number: 1 - on}, {Series: home[1], Number: on}}
		if i == 70 { // the series end for a moment
			for k := range x {
				x[k].Number = store.Stale
			}
		}
		if _, err := ticks.Append(t.Context(), at, x); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
	}
	read := func() (out map[string][]string) {
		out = map[string][]string{}
		if err := hours.Each(t.Context(), begin.Add(-time.Hour), now, func(r *store.Range) error {
			for r.Next() {
				ms, x := r.At()
				out[r.Label("__name__")] = append(out[r.Label("__name__")], fmt.Sprintf("%v:%.4g", time.UnixMilli(ms).Sub(begin), x))
			}
			if r.Label("vm_id") != "vm-1" || r.Label("node") != "" {
				t.Errorf("labels: %q %q", r.Label("vm_id"), r.Label("node"))
			}
			return r.Err()
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	update := func(now time.Time) {
		if err := keep.NewHours(ticks, hours).Update(t.Context(), now, 10*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	update(now.Add(-15 * time.Minute)) // the third hour is not complete for sure
	if got := read()["homenode_vm_hour_samples"]; fmt.Sprint(got) != "[1h0m0s:60 2h0m0s:59]" {
		t.Errorf("two hours: %v", got)
	}
	if err := hours.Close(); err != nil {
		t.Fatal(err)
	}
	hours = open(dir)
	defer func() {
		if err := hours.Close(); err != nil {
			t.Error(err)
		}
	}()
	update(now)
	update(now)
	got := read()
	for name, want := range map[string]string{
		"homenode_vm_hour_samples":                  "[1h0m0s:60 2h0m0s:59 3h0m0s:60]",
		"homenode_vm_hour_local_ratio_min":          "[1h0m0s:0 2h0m0s:0 3h0m0s:0]",
		"homenode_vm_hour_local_ratio_mean":         "[1h0m0s:0.4917 2h0m0s:0.4972 3h0m0s:0.4917]",
		"homenode_vm_hour_remote_bytes_max":         "[1h0m0s:5.9e+10 2h0m0s:5.9e+10 3h0m0s:5.9e+10]",
		"homenode_vm_hour_remote_bytes_mean":        "[1h0m0s:2.95e+10 2h0m0s:2.983e+10 3h0m0s:2.95e+10]",
		"homenode_vm_hour_migrations":               "[1h0m0s:118 2h0m0s:120 3h0m0s:120]",
		"homenode_vm_hour_home_node_changes":        "[1h0m0s:1 2h0m0s:2 3h0m0s:2]",
		"homenode_vm_hour_ready_seconds_per_second": "[]",
	} {
		if fmt.Sprint(got[name]) != want {
			t.Errorf("%s: %v, want %s", name, got[name], want)
		}
	}
}
