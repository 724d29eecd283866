//go:build unix && !aix && !solaris

package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.org/homenode/internal/filelock"
)

// TestTakeLink refuses a link in the place of the lock file, and makes nothing where it leads to.
func TestTakeLink(t *testing.T) {
	folder := t.TempDir()
	there, lock := filepath.Join(folder, "elsewhere"), filepath.Join(folder, "lock")
	if err := os.Symlink(there, lock); err != nil {
		t.Fatal(err)
	}
	if unlock, err := filelock.Take(lock); err == nil {
		unlock()
		t.Error("a link was locked")
	}
	if _, err := os.Lstat(there); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made where the link leads to: %v", err)
	}
}
