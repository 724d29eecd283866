//go:build unix

package ticks

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.org/homenode/numa"
)

// TestPipe reads a named pipe, as a shell makes for <(…): it can be opened once.
func TestPipe(t *testing.T) {
	p := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Skip(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(p, []byte(batch), 0o600) }()
	n := 0
	_, err := Walk(context.Background(), p, Options{Workers: 2}, Visit{Tick: func(*numa.Tick) error { n++; return nil }})
	if err != nil || n != 2 {
		t.Errorf("%d ticks, %v", n, err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}
