package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestSweep simulates a grid as one machine does, then by a queue and two workers. The
// reports are the same. (Package sweep kills workers.)
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	report := func(args ...string) string {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"sweep", "../../measure/replay/testdata/day.txtar", "--hours", "12", "--format", "json",
			"--grid", "nodesPerSocket=today,2", "--grid", "cpu=x0.5,x1,x2", "--grid", "seed=1..4"}, args...), nil, &out, &errs)
		if code != exitFindings {
			t.Fatalf("exit %d, want %d: %s", code, exitFindings, errs.String())
		}
		return out.String()
	}
	want := report()
	line := process(t, "queue", "--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "store")).first
	_, rest, _ := strings.Cut(line, "homenode: queue on ")
	url, _, found := strings.Cut(rest, ",")
	if !found {
		t.Fatalf("the queue said %q, want its address", line)
	}
	process(t, "work", "--queue", url, "--at-once", "1")
	process(t, "work", "--queue", url, "--at-once", "1")
	if got := report("--queue", url); got != want {
		t.Errorf("the report by a queue differs from that of one machine:\n%.500s\nwant\n%.500s", got, want)
	}
}
