package open

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// TestNoPermission reads a folder that nobody may read. The administrator may: the test is nobody then.
func TestNoPermission(t *testing.T) {
	dir, err := os.MkdirTemp("", "homenode-test-") // in that of the test nobody may look
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		const nobody = 65534
		runtime.LockOSThread() // the thread ends with the test
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	if _, err := File(dir); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("no permission: %v", err)
	}
}
