package open

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"testing"
)

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
