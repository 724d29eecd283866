package cpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/guest/cpu"
)

const cpusetVariable = "HOMENODE_TEST_CPUSET"

// TestCPUSet pins threads in a process of its own whose control group has one processor.
func TestCPUSet(t *testing.T) {
	if group := os.Getenv(cpusetVariable); group != "" {
		inCPUSet(t, group)
		return
	}
	if os.Getenv(emulated) != "" {
		t.Skip("this emulation starts no programs of its own architecture")
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes control groups")
	}
	parent := "/sys/fs/cgroup/cpuset"
	if _, err := os.Stat(parent + "/cpuset.cpus"); err != nil {
		parent = "/sys/fs/cgroup"
	}
	group := filepath.Join(parent, "homenode-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	for _, file := range []string{"cpuset.mems", "cpuset.cpus"} {
		if err := os.WriteFile(filepath.Join(group, file), []byte("0"), 0o644); err != nil {
			t.Skip(err)
		}
	}
	again := exec.Command(os.Args[0], "-test.run=^TestCPUSet$", "-test.v")
	again.Env = append(os.Environ(), cpusetVariable+"="+group)
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS: TestCPUSet") {
		t.Errorf("%v\n%s", err, out)
	}
}

func inCPUSet(t *testing.T, group string) {
	golden.Write(t, filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())))
	if err := cpu.On(0, func() error { return nil }); err != nil {
		t.Error(err)
	}
	err := cpu.On(1, func() error { return nil })
	if err == nil || !strings.Contains(err.Error(), "processor 1: it is offline, there is none, or this process may not use it") {
		t.Errorf("processor 1 is outside of the control group: %v", err)
	}
}
