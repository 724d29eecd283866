package open

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestPipesInFolder reads folders with pipes that nobody writes, under the names of each kind of file: they are not waited for.
func TestPipesInFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.tsv", "c.json", "d.txt", "e.xml", "f.yaml", "g.conf", "h.vmx", "vmware.log", "i.zip", "j.csv.gz", "k.xlsx", "inventory.json", "RVTools_tabvInfo.csv", "fetchstats.txt"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = File(dir) // an error is an answer
		_ = Anything(dir, nil)
		_, _, _ = Captures(dir, nil, nil)
		_, _, _ = Benchmarks(t.Context(), []string{dir})
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		stack := make([]byte, 1<<20)
		t.Fatalf("it waits:\n%s", stack[:runtime.Stack(stack, true)])
	}
}

// TestNoPermission reads a folder that it has no permission to read. The administrator has it: the test runs as another user then.
func TestNoPermission(t *testing.T) {
	dir, err := os.MkdirTemp("", "homenode-test-") // no other user may look into that of the test
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		const noUser = 65534
		runtime.LockOSThread() // the thread ends with the test
		if err := syscall.Setfsuid(noUser); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	if _, err := File(dir); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("no permission: %v", err)
	}
}
