package latency

import (
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/source/measured"
)

// TestInside places what homenode measure measured: huge pages before small ones, nodes before levels, and two kinds of pages
// before nodes, which mix them.
func TestInside(t *testing.T) {
	run := func(where string, metrics ...string) (out []Measurement) {
		for i, m := range metrics {
			out = append(out, Measurement{Tool: "homenode measure", Metric: m, Unit: "ns", Value: 100 + float64(i), Where: where})
		}
		return out
	}
	two := run("a.json:1", "idle latency node 0 → node 0", measured.MetricNear, measured.MetricFar, "latency RAM, huge pages", "latency L3, small pages")
	for _, tt := range []struct {
		name string
		in   []Measurement
		want []Step
	}{
		{"levels", run("a.json:1", "latency L1, small pages", "latency L3, small pages", "latency L3, huge pages", "latency RAM, huge pages"), []Step{L1, L3, RAM}},
		{"small pages alone", run("a.json:1", "latency RAM, small pages"), []Step{RAM}},
		{"nodes", run("a.json:1", "latency RAM, huge pages", "idle latency node 0 → node 0", "idle latency node 0 → node 1", "idle latency node 1 → node 0"), []Step{RAM, RAMFar, RAMFar}},
		{"two kinds of pages", two, []Step{RAM, RAMFar, L3}},
		{"runs apart", append(run("a.json:90", "idle latency node 0 → node 0"), two...), []Step{RAM, RAM, RAMFar, L3}},
		{"steps", run("a.json:1", "syscall", "pipe, other node", "unix, one vCPU", "tcp, same L3", "http", "rpc-like", "fsync, ext4", "pread", "rpc", "connect", "write+fdatasync", "core 0 ↔ 1", "loaded latency, delay 0 ns"),
			[]Step{Syscall, Switch, Unix, TCP, HTTP, RPCLike, FSync}},
		{"the same words of another tool", []Measurement{{Tool: "fio", Metric: "syscall", Unit: "ns", Value: 1, Where: "f:1"}}, nil},
	} {
		if got := steps(t, tt.in, Options{}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: found %v, want %v", tt.name, got, tt.want)
		}
	}
	_, notes, err := Place(two, Options{})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "101 and 102 ns count as local and far RAM") {
		t.Errorf("found %q, %v", notes, err)
	}
	// Steps that nothing publishes stand on the ladder when they were measured.
	r, err := Study(&Ask{Samples: []Sample{{Step: TCP, Value: 17e-6}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Get(`join(step == "tcp" && published == nil && value == 17e-6 || step == "unix", step)`); got != "tcp" {
		t.Errorf("found %v, want tcp alone", got)
	}
}
