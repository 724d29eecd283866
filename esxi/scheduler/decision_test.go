package scheduler

import "testing"

func TestSince(t *testing.T) {
	for _, tt := range []struct {
		steps int64
		want  string
	}{
		{15, "30s after the last change of home"},
		{30, "1m after the last change of home"},
		{395, "13m10s after the last change of home"},
		{0 - longAgo, "without a change of home"}, // in the first step
		{1 << 40, "without a change of home"},
		{-5, "without a change of home"},
	} {
		if got := since(tt.steps); got != tt.want {
			t.Errorf("since(%d) = %q, want %q", tt.steps, got, tt.want)
		}
	}
}

func TestSpilledWhy(t *testing.T) {
	const gib = 1 << 18 // pages
	for _, tt := range []struct {
		from    int
		numbers [7]int64
		want    string
	}{
		{0, [7]int64{64 * gib, 20 * gib, 0, 0}, "of 64 GB that it asked for 44 GB is local, 20 GB is remote: node 0 is full"},
		{1, [7]int64{14 * gib, 13 * gib, 0, 43 * gib}, "of 14 GB that it asked for 1 GB is local, 13 GB is remote: node 1 keeps 43 GB free while another node has more"},
		{0, [7]int64{64 * gib, 5 * gib, 54 * gib, 0}, "of 64 GB that it asked for 5 GB is local, 5 GB is remote, 54 GB is swapped: node 0 is full, and the nodes that it may use have no more"},
		{-1, [7]int64{8 * gib, 0, 6 * gib}, "of 8 GB that it asked for 2 GB is on the nodes, 6 GB is swapped: the host has no more"},
	} {
		d := Decision{Kind: Spilled, From: tt.from, Numbers: tt.numbers}
		if got := d.Why(nil); got != tt.want {
			t.Errorf("Why() = %q, want %q", got, tt.want)
		}
	}
}
