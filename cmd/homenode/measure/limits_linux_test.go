package measure_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/measured"
)

// TestForbiddenCalls measures where a profile of a container forbids to place memory and to ask where it is.
func TestForbiddenCalls(t *testing.T) {
	r := measure(t, "calls", "memory", "--time", "12s", "--memory", "64MiB")
	if len(r.Machine.Topology.Nodes) == 0 {
		t.Skip("this kernel knows no nodes")
	}
	for part, m := range map[string]*measured.Matrix{"latency from node to node": r.Latency, "bandwidth from node to node": r.Bandwidth} {
		switch why := missing(r, part); {
		case m == nil && late(why):
			t.Log("this machine is too busy: ", why)
		case m == nil || m.Placed:
			t.Errorf("%s: %+v, missing: %q", part, m, why)
		}
	}
	if r := measure(t, "calls", "hidden", "--quick", "--memory", "64MiB"); r.Hidden == nil || r.Hidden.Pages == 0 {
		t.Errorf("hidden: %+v, missing: %+v", r.Hidden, r.Missing)
	}
}

// late reports whether this is the reason of a part that was not measured in time, on a machine that is busy.
func late(why string) bool {
	return strings.Contains(why, "more than twice the planned time") || strings.Contains(why, "no time was left") || strings.Contains(why, "do not run at the same time") || strings.Contains(why, "want 20 or more")
}

// TestOneProcessor measures where this process may use one processor alone.
func TestOneProcessor(t *testing.T) {
	testdeps.Proving(t) // it measures for long, and wants a calm machine
	r := measure(t, "one", "--quick", "--time", "10s", "--memory", "64MiB")
	if len(r.Machine.Topology.Processors) < 2 {
		t.Skip("this machine has one processor")
	}
	if r.Cores != nil || !strings.Contains(missing(r, "pairs of logical processors"), "two logical processors") {
		t.Errorf("cores %+v, missing: %+v", r.Cores, r.Missing)
	}
	if r.Hidden == nil || r.Hidden.Answer == measured.SeveralNodes || r.Hidden.Says == "" {
		t.Errorf("hidden: %+v", r.Hidden)
	}
	if p := r.Machine.Limits.Partial; !slices.ContainsFunc(p, func(s string) bool { return strings.HasPrefix(s, "this process may use 1 of ") }) {
		t.Errorf("limits: %q", p)
	}
	for _, s := range r.Steps {
		if s.Where != "" && s.Where != "one vCPU" {
			t.Errorf("step %s, %s", s.Name, s.Where)
		}
	}
}

// memoryGroup makes a control group with a limit of memory, or skips the test. Its folder is returned.
func memoryGroup(t *testing.T, bytes int) (folder string) {
	parent, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat(filepath.Join(parent, limit)); errors.Is(err, fs.ErrNotExist) {
		parent, limit = "/sys/fs/cgroup", "memory.max"
	}
	folder = filepath.Join(parent, "homenode-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Skip("control groups: ", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(folder, limit), []byte(strconv.Itoa(bytes)), 0); err != nil {
		t.Skip("control groups: ", err)
	}
	return folder
}

// killed reports how often the control group was short of memory, and how often a process of it was killed for that.
func killed(t *testing.T, folder string) string {
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		if b, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			for line := range strings.Lines(string(b)) {
				if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
					return strings.TrimSpace(n)
				}
			}
		}
	}
	t.Error("the control group does not say how many were killed")
	return ""
}

// TestMemoryGroup measures in a control group of 128 MiB: it takes half of what is left, and nothing is killed.
func TestMemoryGroup(t *testing.T) {
	testdeps.Proving(t) // it measures for long, and wants a calm machine
	const limit = 128 << 20
	folder := memoryGroup(t, limit)
	r := measure(t, "group "+folder, "--quick", "--time", "10s")
	l := r.Machine.Limits
	if l.MemoryLimit.Value != limit || l.MemoryLeft.Value > limit || len(l.Partial) == 0 {
		t.Errorf("limits %+v", l)
	}
	if n := killed(t, folder); n != "0" {
		t.Errorf("%s processes were killed", n)
	}
	for _, g := range r.Rungs {
		if g.Bytes > limit/2 {
			t.Errorf("a working set of %d MiB", g.Bytes>>20)
		}
	}
	// Half of what is left may touch only little: then it is said why, else there are rungs.
	if why := missing(r, "latency by working set, huge pages"); len(r.Rungs) == 0 && !strings.Contains(why, "control group") && !strings.Contains(why, "huge pages") {
		t.Errorf("no rungs, missing: %+v", r.Missing)
	}
	if r.Hidden == nil || len(r.Steps) == 0 {
		t.Errorf("hidden %+v, %d steps; missing %+v", r.Hidden, len(r.Steps), r.Missing)
	}
}

// TestLittleMemory touches next to nothing where little was allowed, and says what it left out for that.
func TestLittleMemory(t *testing.T) {
	testdeps.Proving(t) // it measures for long, and wants a calm machine
	for _, profile := range [][]string{{"--quick"}, {"hidden", "memory", "--loaded"}} {
		r := measure(t, "", append(profile, "--time", "10s", "--memory", "32MiB")...)
		if len(r.Rungs) > 0 || len(r.Levels) > 0 || r.Latency != nil || r.Bandwidth != nil || len(r.Threads) > 0 || len(r.Loaded) > 0 {
			t.Errorf("%q: touched more than a little: %d rungs, %+v, %+v, %d, %d", profile, len(r.Rungs), r.Latency, r.Bandwidth, len(r.Threads), len(r.Loaded))
		}
		if why := missing(r, "latency by working set, huge pages"); !strings.Contains(why, "(--memory) may be touched") {
			t.Errorf("%q: missing %+v", profile, r.Missing)
		}
		if r.Hidden == nil || r.Hidden.Pages == 0 {
			t.Errorf("%q: hidden %+v", profile, r.Hidden)
		}
	}
}

// TestNoHugePages measures where the system gives no huge pages: with small ones, unless huge ones were asked for.
func TestNoHugePages(t *testing.T) {
	testdeps.Proving(t) // it measures for long, and wants a calm machine
	const huge, small = "latency by working set, huge pages", "latency by working set, small pages"
	for _, tt := range []struct {
		paging   string
		rungs    bool
		why      string // huge pages are missing
		leftSmal bool   // small pages are said to be missing
	}{
		{"auto", true, "huge pages: the system gave them for 0 of ", false},
		{"yes", false, "huge pages: the system gave them for 0 of ", false},
		{"no", true, "", false},
	} {
		r := measure(t, "thp", "hidden", "memory", "--quick", "--time", "10s", "--memory", "64MiB", "--huge", tt.paging)
		if (len(r.Rungs) > 0) != tt.rungs || (missing(r, small) != "") != tt.leftSmal {
			t.Errorf("--huge %s: %d rungs, missing %+v", tt.paging, len(r.Rungs), r.Missing)
		}
		for _, g := range r.Rungs {
			if g.Pages != measured.Small {
				t.Errorf("--huge %s: a rung with %s pages", tt.paging, g.Pages)
			}
		}
		if why := missing(r, huge); !strings.HasPrefix(why, tt.why) || tt.why == "" && why != "" {
			t.Errorf("--huge %s: %q, want %q", tt.paging, why, tt.why)
		}
		if (r.Hidden != nil) != (tt.paging != "yes") {
			t.Errorf("--huge %s: hidden %+v, missing %+v", tt.paging, r.Hidden, r.Missing)
		}
	}
}

// TestNoFolders runs without the folders that the kernel shows itself in.
func TestNoFolders(t *testing.T) {
	for _, folders := range []string{"/sys", "/sys,/proc"} {
		c := begin(t, "hide "+folders, "--quick", "--force", "--time", "10s", "--format", "json")
		if code := c.code(); code != 2 || !strings.Contains(c.said.String(), "want sysfs at /sys") || c.out.Len() > 0 {
			t.Errorf("without %s: exit code %d, %s%s", folders, code, c.said.Bytes(), c.out.Bytes())
		}
		c.clean()
	}
	r := measure(t, "hide /proc", "--quick", "--time", "10s", "--memory", "64MiB")
	for _, part := range []string{"processor model", "limits", "latency by working set, huge pages"} {
		if missing(r, part) == "" {
			t.Errorf("without /proc: not said to be missing: %s; %+v", part, r.Missing)
		}
	}
	if r.Hidden == nil || len(r.Rungs) == 0 || len(r.Steps) == 0 {
		t.Errorf("without /proc: hidden %+v, %d rungs, %d steps, missing %+v", r.Hidden, len(r.Rungs), len(r.Steps), r.Missing)
	}
}

// TestReadOnly measures where nothing can be written but in a home from which no program may start.
func TestReadOnly(t *testing.T) {
	folder := t.TempDir()
	args := []string{"measure", "ladder", "--quick", "--force", "--time", "10s", "--format", "json"}
	r := beginAt(t, "readonly "+folder, folder, args...).result()
	if len(r.Steps) == 0 {
		t.Errorf("no steps, missing %+v", r.Missing)
	}
	// The folder for writes is a file system in memory there, and the root cannot be written.
	for dir, want := range map[string]string{folder: "keeps files in memory", "/": "read-only file system"} {
		r := beginAt(t, "readonly "+folder, folder, append(args, "--fsync", dir)...).result()
		if why := missing(r, "fsync"); !strings.Contains(why, want) {
			t.Errorf("--fsync %s: %q, want %q", dir, why, want)
		}
	}
}
