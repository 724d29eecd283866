package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	put := func(text string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	fault := errors.New("disk on fire")
	if err := WriteNew(path, func(io.Writer) error { return fault }); !errors.Is(err, fault) {
		t.Errorf("error %v, want %v", err, fault)
	}
	if err := WriteNew(path, put("one")); err != nil {
		t.Fatal(err)
	}
	err := WriteNew(path, put("two"))
	if !errors.Is(err, fs.ErrExist) || err.Error() != "create "+path+": file already exists" {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q, %v; want what was written first", got, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v; want the file alone", left, err)
	}
}
