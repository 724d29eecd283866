package owned_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/owned"
)

// TestCheck takes files of each mode: those that others may write are refused.
func TestCheck(t *testing.T) {
	for mode, want := range map[os.FileMode]string{0o600: "", 0o644: "", 0o400: "", 0o664: "others may write", 0o602: "others may write", 0o777: "others may write"} {
		path := filepath.Join(t.TempDir(), "file")
		golden.Write(t, path, nil)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		check(t, path, want)
	}
	check(t, t.TempDir(), "no regular file")
	if os.PathSeparator == '/' && os.Geteuid() == 0 {
		path := filepath.Join(t.TempDir(), "other")
		golden.Write(t, path, nil)
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Skip(err)
		}
		check(t, path, "another user")
	}
}

func check(t *testing.T, path, want string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := owned.Check(f); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", path, err, want)
	}
}

// TestOpen refuses everything but regular files, and does not wait for a pipe.
func TestSecret(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("no owners of the Unix kind")
	}
	for mode, want := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o440: false, 0o604: false, 0o660: false} {
		path := filepath.Join(t.TempDir(), "file")
		golden.Write(t, path, nil)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || owned.Secret(info) != want {
			t.Errorf("mode %04o: %v, want %v (%v)", mode, !want, want, err)
		}
	}
}
