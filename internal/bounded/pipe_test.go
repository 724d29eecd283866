//go:build unix

package bounded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipe reads what comes through a pipe, and waits neither for a pipe without a writer nor, for long, for one that does not end.
func TestPipe(t *testing.T) {
	patience = 50 * time.Millisecond
	defer func() { patience = time.Minute }()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	want := func(want string) {
		t.Helper()
		if b, err := File(path, 10); b != nil || err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("File = %q, %v; want %s", b, err, want)
		}
	}
	want("it is a pipe, and nothing came through it")
	if f, err := Open(path); f != nil || err == nil || !strings.HasSuffix(err.Error(), "it is no regular file") {
		t.Errorf("Open = %v, %v", f, err)
	}
	if b := Head(path, 10); b != nil {
		t.Errorf("Head = %q", b)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0) // which does not wait
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("text")
	want("its end did not come within 50ms")
	write(strings.Repeat("x", 20))
	want("found more than 0 KB, want at most that")
	patience = time.Minute
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := pipe.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	pipe.Close()
	if b, err := File(fmt.Sprintf("/dev/fd/%d", r.Fd()), 10); string(b) != "text" || err != nil {
		t.Errorf("of a shell: %q, %v", b, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
