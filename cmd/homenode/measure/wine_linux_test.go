package measure_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// TestWine runs the program for Windows under Wine: its calls, not what they would say of NUMA, of which Wine knows nothing.
func TestWine(t *testing.T) {
	testdeps.Proving(t) // it takes a minute of a calm machine
	program := filepath.Join(t.TempDir(), "homenode.exe")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "example.org/homenode/cmd/homenode")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := testdeps.Wine(t, program)

	result := func(parts ...string) *measured.Document {
		t.Helper()
		out, _ := run(append([]string{"measure", "--force", "--format", "json"}, parts...)...)
		all, err := measured.Read("stdout", bytes.NewReader(out))
		if err != nil || len(all) != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		return all[0]
	}
	r, steps := result("topology", "memory", "cores", "hidden"), result("ladder", "--fsync", ".")
	top := &r.Machine.Topology
	if !strings.Contains(r.Machine.Identity.OS, "Windows") || len(top.Processors) == 0 || len(top.Nodes) != 1 || len(top.Nodes[0].CPUs) != len(top.Processors) || len(top.Caches) == 0 {
		t.Errorf("%+v, %+v", r.Machine.Identity, top)
	}
	small := slices.ContainsFunc(r.Levels, func(l measured.Level) bool { return l.Name == "L1" && l.Pages == measured.Small })
	got := map[string]bool{"latency by working set, small pages": small, "hidden nodes": r.Hidden != nil,
		"bandwidth by threads": len(r.Threads) > 0, "latency from node to node": r.Latency != nil && some(r.Latency) && r.Latency.Placed,
		"bandwidth from node to node": r.Bandwidth != nil && some(r.Bandwidth) && r.Bandwidth.Placed}
	if len(top.Processors) > 1 {
		got["pairs of logical processors"] = r.Cores != nil && len(r.Cores.Pairs) > 0
	}
	for _, name := range []string{"syscall", "pread", "channel", "pipe", "tcp", "connect", "rpc", "http", "rpc-like", "fsync"} {
		got[name] = slices.ContainsFunc(steps.Steps, func(s measured.Step) bool { return s.Name == name && s.Latency.Median > 0 })
	}
	for part, ok := range got {
		// A busy machine may leave parts out: then they are said to be missing, for that reason.
		isIt := func(m machine.Missing) bool {
			return (m.Part == part || strings.HasPrefix(m.Part, part+", ")) && late(m.Reason)
		}
		if !ok && !slices.ContainsFunc(slices.Concat(r.Missing, steps.Missing), isIt) {
			t.Errorf("no %s", part)
		}
	}
	for _, m := range slices.Concat(r.Missing, steps.Missing) {
		if late(m.Reason) {
			continue
		}
		switch name, _, _ := strings.Cut(m.Part, ","); name {
		case "size of nodes", "distances", "latency under load", "lost time", "unix", "write+fdatasync": // as on Windows
		case "latency by working set":
			if m.Part != "latency by working set, huge pages" || !strings.HasPrefix(m.Reason, "large pages: ") || !strings.Contains(m.Remedy, "Lock pages in memory") {
				t.Errorf("missing %+v", m)
			}
		default:
			t.Errorf("missing %+v", m)
		}
	}
	if out, code := run("measure", "--dry-run"); code != 0 || !bytes.Contains(out, []byte("nothing was measured")) {
		t.Errorf("dry run: %d, %s", code, out)
	}
	t.Logf("%d levels, %d steps, in %.0f s", len(r.Levels), len(steps.Steps), r.Seconds+steps.Seconds)
}
