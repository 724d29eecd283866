package bounded

import (
	"bytes"
	"errors"
	"example.org/homenode/internal/golden"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReader(t *testing.T) {
	for size, fits := range map[int]bool{0: true, 9: true, 10: true, 11: false, 5000: false} {
		text := strings.Repeat("x", size)
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)), "error with data": iotest.DataErrReader(strings.NewReader(text))} {
			b, err := io.ReadAll(Reader(r, 10))
			if larger := (*LimitError)(nil); errors.As(err, &larger) == fits || len(b) != min(size, 10) {
				t.Errorf("%s of %d bytes: %d, %v", name, size, len(b), err)
			}
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(2<<30), f.Close()); err != nil { // holes: it takes no room
		t.Fatal(err)
	}
	want := path + ": found more than 1 MB, want at most that"
	if b, err := File(path, List); b != nil || err == nil || err.Error() != want {
		t.Errorf("File = %d bytes, %v; want %s", len(b), err, want)
	}
	golden.Write(t, path, []byte("text"))
	if b, err := File(path, Secret); !bytes.Equal(b, []byte("text")) || err != nil {
		t.Errorf("File = %q, %v", b, err)
	}
}

// TestOpen refuses folders and devices.
func TestOpen(t *testing.T) {
	if f, err := Open(t.TempDir()); err == nil {
		f.Close()
		t.Error("a folder was opened")
	}
	if f, err := Open(os.DevNull); err == nil {
		f.Close()
		t.Error("a device was opened")
	}
}

// TestSecret takes files of each mode: what others may read is none, and root reads no file that it lends.

// TestFileIf asks about the open file and reads that one, also when another file takes its place meanwhile.
func TestFileIf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	golden.Write(t, path, []byte("first"))
	b, err := FileIf(path, Secret, func(info os.FileInfo) error {
		if info.Size() != int64(len("first")) {
			t.Errorf("it is asked about a file of %d bytes", info.Size())
		}
		if err := os.Rename(path, path+".old"); err != nil && os.PathSeparator == '/' {
			t.Fatal(err)
		}
		return os.WriteFile(path+".new", []byte("other text"), 0o644)
	})
	if err != nil || string(b) != "first" {
		t.Errorf("FileIf = %q, %v", b, err)
	}
	if b, err := FileIf(path+".new", Secret, func(os.FileInfo) error { return errors.New("no") }); b != nil || err == nil || err.Error() != "no" {
		t.Errorf("FileIf of a refused file = %q, %v", b, err)
	}
}
