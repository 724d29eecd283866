package archive

import (
	"context"
	"errors"
	"example.org/homenode/internal/golden"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

func TestHeed(t *testing.T) {
	const text = "what is in there"
	path := filepath.Join(t.TempDir(), "a")
	golden.Write(t, path, []byte(text))
	broken := errors.New("broken")
	for _, tt := range []struct {
		name   string
		open   func(t *testing.T) io.Reader
		random bool
		err    error
	}{
		{"a file", func(t *testing.T) io.Reader {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return f
		}, true, nil},
		{"no file", func(*testing.T) io.Reader { return strings.NewReader(text) }, false, nil},
		{"byte by byte", func(*testing.T) io.Reader { return iotest.OneByteReader(strings.NewReader(text)) }, false, nil},
		{"the error with the last bytes", func(*testing.T) io.Reader { return iotest.DataErrReader(strings.NewReader(text)) }, false, nil},
		{"one that breaks", func(*testing.T) io.Reader {
			return io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))
		}, false, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			r := Heed(ctx, tt.open(t))
			if _, ok := r.(randomAccess); ok != tt.random {
				t.Errorf("it can be read at any place: %v, want %v", ok, tt.random)
			}
			if _, ok := Plainly(r).(syscall.Conn); ok != tt.random {
				t.Errorf("it can be mapped: %v, want %v", ok, tt.random)
			}
			got, err := io.ReadAll(r)
			if string(got) != text || err != tt.err {
				t.Errorf("ReadAll = %q, %v; want %q, %v", got, err, text, tt.err)
			}
			cancel()
			r = Heed(ctx, tt.open(t))
			if n, err := r.Read(make([]byte, 4)); n != 0 || err != context.Canceled {
				t.Errorf("Read = %d, %v behind the end of the context", n, err)
			}
			if at, ok := r.(io.ReaderAt); ok {
				if n, err := at.ReadAt(make([]byte, 4), 0); n != 0 || err != context.Canceled {
					t.Errorf("ReadAt = %d, %v behind the end of the context", n, err)
				}
			}
			if n, err := HeedBetween(ctx, tt.open(t)).Read(make([]byte, 4)); n != 0 || err != context.Canceled {
				t.Errorf("Read = %d, %v behind the end of the context", n, err)
			}
		})
	}
}

// A read that waits for a pipe ends with the context.
func TestHeedWaiting(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if n, err := Heed(ctx, r).Read(make([]byte, 4)); n != 0 || err != context.Canceled {
		t.Errorf("Read = %d, %v; want 0, %v", n, err, context.Canceled)
	}
}
