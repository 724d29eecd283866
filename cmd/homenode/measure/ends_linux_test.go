package measure_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/homenode/source/measured"
)

// pinned waits until a thread of the process is pinned to one processor: it measures. It reports false when the process ends before.
func (c *child) pinned() bool {
	c.Helper()
	for {
		statuses, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/status", c.Process.Pid))
		if err != nil {
			c.Fatal(err)
		}
		for _, name := range statuses {
			b, err := os.ReadFile(name)
			if err != nil {
				continue // the thread ended
			}
			_, list, _ := strings.Cut(string(b), "\nCpus_allowed_list:\t")
			if list, _, ok := strings.Cut(list, "\n"); ok && !strings.ContainsAny(list, ",-") {
				return true
			}
		}
		select {
		case <-c.ends:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}

// several skips the test on a machine where no thread is pinned to less than it may use.
func several(t *testing.T) {
	b, err := os.ReadFile("/proc/self/status")
	_, list, _ := strings.Cut(string(b), "\nCpus_allowed_list:\t")
	if list, _, _ = strings.Cut(list, "\n"); err != nil || !strings.ContainsAny(list, ",-") {
		t.Skip("one processor: ", err)
	}
}

// noShared checks that the process maps no shared memory but files of its own.
func (c *child) noShared() {
	c.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", c.Process.Pid))
	if err != nil || len(b) == 0 {
		c.Errorf("maps: %v", err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "/dev/shm") || strings.Contains(line, "/SYSV") || strings.Contains(line, "memfd:") {
			c.Errorf("shared memory: %s", line)
		}
	}
}

// parts are what is interrupted: a part, a task of it that is not done, and options with which it takes long.
var parts = []struct {
	part, task string
	args       []string
	after      time.Duration // since it began to measure, of seconds that it takes; 0 for what two processors are done with at once
}{
	{"hidden", "hidden nodes", nil, 500 * time.Millisecond},
	{"memory", "bandwidth by threads", []string{"--memory", "64MiB"}, 500 * time.Millisecond},
	{"cores", "pairs of logical processors", []string{"--time", "20s"}, 0},
	{"ladder", "rpc-like", nil, 500 * time.Millisecond},
}

// TestInterrupt sends SIGINT while each part measures: the result is whole, says what is missing, and cannot be relied on.
func TestInterrupt(t *testing.T) {
	several(t)
	for _, p := range parts {
		t.Run(p.part, func(t *testing.T) {
			c := begin(t, "", append([]string{p.part, "--force", "--format", "json"}, p.args...)...)
			switch {
			case c.pinned():
			case p.after == 0:
				t.Skip("it was done before it was seen to measure")
			default:
				t.Fatalf("ended before it measured: %s%s", c.said.Bytes(), c.out.Bytes())
			}
			time.Sleep(p.after)
			if err := c.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r := c.result()
			t.Logf("ended %v after the signal", time.Since(began))
			if p.after == 0 && missing(r, p.task) == "" {
				t.Skip("it was done before the signal came")
			}
			if c.ProcessState.ExitCode() != 1 || r.Trust.OK || !strings.Contains(strings.Join(r.Trust.Reasons, "; "), "the run ended early: interrupted") {
				t.Errorf("exit code %d, trust %+v", c.ProcessState.ExitCode(), r.Trust)
			}
			if why := missing(r, p.task); why != "interrupted" {
				t.Errorf("%s: %q; missing %+v", p.task, why, r.Missing)
			}
			for _, m := range []*measured.Matrix{r.Latency, r.Bandwidth} {
				if m != nil && !some(m) {
					t.Errorf("a matrix without a figure: %+v", m)
				}
			}
		})
	}
}

// some reports whether a matrix has a figure.
func some(m *measured.Matrix) bool {
	for _, row := range m.Cells {
		for _, c := range row {
			if c.Stats != nil {
				return true
			}
		}
	}
	return false
}

// TestKill kills the process while it measures, and writes: nothing of it is left.
func TestKill(t *testing.T) {
	several(t)
	for _, p := range parts {
		t.Run(p.part, func(t *testing.T) {
			c := begin(t, "", append([]string{p.part, "--force", "--format", "json", "-o", "result.json"}, p.args...)...)
			switch {
			case c.pinned():
			case p.after == 0:
				t.Skip("it was done before it was seen to measure")
			default:
				t.Fatalf("ended before it measured: %s%s", c.said.Bytes(), c.out.Bytes())
			}
			time.Sleep(p.after)
			c.noShared()
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if code := c.code(); code != -1 {
				t.Errorf("exit code %d", code)
			}
			c.clean()
		})
	}
}

// TestKillWhileItWrites kills the process while it writes to a folder.
func TestKillWhileItWrites(t *testing.T) {
	several(t)
	folder := diskFolder(t)
	c := begin(t, "", "ladder", "--force", "--quick", "--fsync", folder, "--format", "json")
	open := false
	for !open {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/[0-9]*", c.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			to, err := os.Readlink(link)
			open = open || err == nil && strings.HasPrefix(to, folder+"/") && strings.HasSuffix(to, " (deleted)")
		}
		select {
		case <-c.ends:
			t.Skipf("it did not write, or was not seen to: %s", c.out.Bytes())
		default:
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.code()
	c.clean()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// diskFolder returns a folder on a disk, which the folder of temporary files may not be.
func diskFolder(t *testing.T) string {
	folder, err := os.MkdirTemp(".", "fsync-test")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if folder, err = filepath.Abs(folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestBrokenOptions asks for what is impossible.
func TestBrokenOptions(t *testing.T) {
	for _, tt := range []struct{ args, said string }{
		{"--memory 0", `--memory: found "0", want a size such as 256MiB, 1 MiB or more`},
		{"--memory 1000KiB", `--memory: found "1000KiB", want a size such as 256MiB, 1 MiB or more`},
		{"--memory -5MiB", `--memory: found "-5MiB"`},
		{"--cpus 9999", "--cpus: found 9999, which is no logical processor that this process may use: [0"},
		{"--cpus 3-1", `--cpus: found "3-1", want numbers such as 0-3,8`},
		{"--nodes 77", "--nodes: found 77, which is no node that this process may use"},
		{"--nodes x", `--nodes: found "x", want numbers such as 0-3,8`},
		{"--huge maybe", `--huge: found "maybe", want auto, yes or no`},
		{"--time -1s", "--time: found -1s, want a time such as 20s"},
		{"--time soon", `invalid argument "soon" for "--time"`},
		{"--predicted nothing.json", "nothing.json: no such file"},
		{"-o nothing/result.json", "nothing/result.json"},
		{"--format yaml", "yaml"},
	} {
		c := begin(t, "", append([]string{"cores", "--quick", "--force", "--time", "1s"}, strings.Fields(tt.args)...)...)
		if code := c.code(); code != 2 || c.out.Len() > 0 || !strings.Contains(c.said.String(), tt.said) || bytes.Count(c.said.Bytes(), []byte("\n")) > 2 {
			t.Errorf("%s: exit code %d, %s%s", tt.args, code, c.said.Bytes(), c.out.Bytes())
		}
		c.clean()
	}
	for _, dir := range []string{"/nonexistent", "/dev/null"} {
		r := measure(t, "", "ladder", "--quick", "--time", "1s", "--fsync", dir)
		for _, step := range []string{"write+fdatasync", "fsync"} {
			if why := missing(r, step); !strings.Contains(why, dir) {
				t.Errorf("--fsync %s: %s: %q, missing %+v", dir, step, why, r.Missing)
			}
		}
		for _, s := range r.Steps {
			if strings.Contains(s.Name, "sync") {
				t.Errorf("--fsync %s: %+v", dir, s)
			}
		}
	}
}

// TestDryRun measures nothing: no thread is pinned and no file made, and what needs memory is not touched.
func TestDryRun(t *testing.T) {
	for _, format := range []string{"table", "json"} {
		folder := diskFolder(t)
		c := begin(t, "", "--dry-run", "--loaded", "--fsync", folder, "--format", format)
		if code := c.code(); code != 0 || c.said.Len() > 0 || !strings.Contains(c.out.String(), "nothing was measured") {
			t.Errorf("exit code %d, %s%s", code, c.said.Bytes(), c.out.Bytes())
		}
		c.clean()
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
		// A plan of 512 MiB: a process that touched it would have been far larger.
		if use, ok := c.ProcessState.SysUsage().(*syscall.Rusage); !ok || use.Maxrss > 256<<10 {
			t.Errorf("%+v", use)
		}
		if docs, err := measured.Read("plan", bytes.NewReader(c.out.Bytes())); err == nil {
			t.Errorf("a plan is read as a result: %+v", docs)
		}
	}
}
