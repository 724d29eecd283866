package measure_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/measured"
)

// limitVariable names the limit under which this program becomes another one.
const limitVariable = "HOMENODE_TEST_LIMIT"

func TestMain(m *testing.M) {
	if name := os.Getenv(limitVariable); name != "" {
		fmt.Fprintln(os.Stderr, under(name, os.Args[1:]))
		os.Exit(notLimited)
	}
	m.Run()
}

// notLimited is the exit code of a program that could not be limited.
const notLimited = 99

// under limits this process and becomes the program of args. It returns when it cannot.
func under(name string, args []string) error {
	limit, of, _ := strings.Cut(name, " ")
	if err := limits[limit](of); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, limitVariable) })
	return syscall.Exec(args[0], args, env)
}

// The limits by name. Each is for this process and what it becomes.
var limits = map[string]func(of string) error{
	"calls": func(string) error {
		return testdeps.Forbid([]uint32{unix.SYS_MBIND, unix.SYS_GET_MEMPOLICY, unix.SYS_SET_MEMPOLICY, unix.SYS_MOVE_PAGES})
	},
	"one": func(string) error {
		var all, one unix.CPUSet
		if err := unix.SchedGetaffinity(0, &all); err != nil {
			return err
		}
		for i := range 1024 {
			if all.IsSet(i) {
				one.Set(i)
				break
			}
		}
		return unix.SchedSetaffinity(0, &one)
	},
	"group": func(folder string) error {
		return os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte("0"), 0)
	},
	"thp": func(string) error { return unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0) },
	"hide": func(folders string) error {
		if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		for folder := range strings.SplitSeq(folders, ",") {
			if err := unix.Mount("none", folder, "tmpfs", unix.MS_RDONLY, ""); err != nil {
				return fmt.Errorf("%s: %w", folder, err)
			}
		}
		return nil
	},
	"readonly": func(home string) error {
		if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := unix.Mount("none", home, "tmpfs", unix.MS_NOEXEC, ""); err != nil {
			return err
		}
		all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &all) // /proc and /sys are mounts of their own
	},
}

// A child is one run of homenode measure in folders of its own.
type child struct {
	*testing.T
	*exec.Cmd
	out, said bytes.Buffer
	ends      chan struct{}
	folder    string // its home, working folder and folder of temporary files
}

// begin starts homenode measure under a limit, if one is named.
func begin(t *testing.T, limit string, args ...string) *child {
	t.Helper()
	return beginAt(t, limit, t.TempDir(), append([]string{"measure"}, args...)...)
}

// beginAt starts homenode in a folder.
func beginAt(t *testing.T, limit, folder string, args ...string) *child {
	t.Helper()
	path, err := testdeps.Homenode()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{T: t, Cmd: exec.Command(path, args...), ends: make(chan struct{}), folder: folder}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // to find what it started
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "XDG_") })
	c.Env = append(env, "HOME="+folder, "TMPDIR="+folder)
	c.Dir = folder
	if limit != "" {
		c.Args = append([]string{os.Args[0], path}, args...)
		c.Path, c.Env = os.Args[0], append(c.Env, limitVariable+"="+limit)
		if strings.HasPrefix(limit, "hide") || strings.HasPrefix(limit, "readonly") {
			c.SysProcAttr.Cloneflags = unix.CLONE_NEWNS
		}
	}
	c.Stdout, c.Stderr = &c.out, &c.said
	if err := c.Start(); errors.Is(err, unix.EPERM) {
		t.Skip("mounts of a process of its own: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // its code is in ProcessState
		close(c.ends)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.ends
	})
	return c
}

// code waits for the end and returns the exit code; −1 for one that was killed. It skips the test when the limit cannot be set here.
func (c *child) code() int {
	c.Helper()
	select {
	case <-c.ends:
	case <-time.After(time.Minute):
		c.Fatalf("does not end: %s", c.said.Bytes())
	}
	if code := c.ProcessState.ExitCode(); code != notLimited {
		return code
	}
	c.Skipf("%s", c.said.Bytes())
	return notLimited
}

// result returns what was measured, and checks that nothing else was printed and nothing left.
func (c *child) result() *measured.Result {
	c.Helper()
	if code := c.code(); code > 1 || code < 0 {
		c.Fatalf("exit code %d: %s%s", code, c.said.Bytes(), c.out.Bytes())
	}
	docs, err := measured.Read("output", bytes.NewReader(c.out.Bytes()))
	if err != nil || len(docs) != 1 {
		c.Fatalf("%d documents, %v: %s", len(docs), err, c.out.Bytes())
	}
	if c.said.Len() > 0 {
		c.Errorf("stderr: %s", c.said.Bytes())
	}
	c.clean()
	r := docs[0].Result
	if r.Trust.OK != (c.ProcessState.ExitCode() == 0) {
		c.Errorf("exit code %d, trusted %v: %v", c.ProcessState.ExitCode(), r.Trust.OK, r.Trust.Reasons)
	}
	return r
}

// clean checks that the process left no file and no process.
func (c *child) clean() {
	c.Helper()
	left, err := os.ReadDir(c.folder)
	if err != nil || len(left) > 0 {
		c.Errorf("left %v, %v", left, err)
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		c.Error(err)
	}
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if words := strings.Fields(rest); len(words) > 3 && words[3] == fmt.Sprint(c.Process.Pid) {
			c.Errorf("left a process: %s", b)
		}
	}
}

// measure runs homenode measure under a limit and returns what it measured. Where the load of others ended the run it tries again, and
// skips the test in the end.
func measure(t *testing.T, limit string, args ...string) *measured.Result {
	t.Helper()
	var r *measured.Result
	for range 3 {
		r = begin(t, limit, append(args, "--force", "--format", "json")...).result()
		if !strings.Contains(strings.Join(r.Trust.Reasons, " "), "the load of other processes rose") {
			return r
		}
	}
	t.Skip(r.Trust.Reasons)
	return nil
}

// missing returns why a part is not there, "" when it is not said to be missing.
func missing(r *measured.Result, part string) string {
	for _, m := range r.Missing {
		if m.Part == part {
			return m.Reason
		}
	}
	return ""
}
