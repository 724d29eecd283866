package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// files returns what is in the folder, each with its contents.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Name()+"="+string(b))
	}
	return out
}

func TestWrite(t *testing.T) {
	failed := errors.New("no more rows")
	long := strings.Repeat("x", 200<<10) // beyond the buffer: part of it is written before the error
	for _, tt := range []struct {
		name, before string // the contents before; none when empty
		write        func(io.Writer) error
		err          error
		want         []string
	}{
		{"new", "", text("new"), nil, []string{"out.json=new"}},
		{"replaced", "old", text("new"), nil, []string{"out.json=new"}},
		{"replaced by nothing", "old", text(""), nil, []string{"out.json="}},
		{"failed at once", "old", func(io.Writer) error { return failed }, failed, []string{"out.json=old"}},
		{"failed half-way", "old", func(w io.Writer) error { return errors.Join(text(long)(w), failed) }, failed, []string{"out.json=old"}},
		{"failed half-way, new", "", func(w io.Writer) error { return errors.Join(text(long)(w), failed) }, failed, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out.json")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := Write(path, tt.write); !errors.Is(err, tt.err) {
				t.Errorf("Write: %v, want %v", err, tt.err)
			}
			if got := files(t, dir); !slices.Equal(got, tt.want) {
				t.Errorf("the folder has %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPanic leaves nothing behind either.
func TestPanic(t *testing.T) {
	dir := t.TempDir()
	defer func() {
		if recover() == nil {
			t.Error("the panic did not pass")
		}
		if got := files(t, dir); got != nil {
			t.Errorf("the folder has %q, want nothing", got)
		}
	}()
	Write(filepath.Join(dir, "out.json"), func(io.Writer) error { panic("a bug") })
}

func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain") // what the umask makes of a new file
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	path := filepath.Join(dir, "out.json")
	if err := Write(path, text("a")); err != nil || mode(path) != mode(plain) {
		t.Errorf("new: %v, mode %v, want %v", err, mode(path), mode(plain))
	}
	for _, want := range []fs.FileMode{0o600, 0o640, 0o664} {
		if err := os.Chmod(path, want); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, text("b")); err != nil || mode(path) != want {
			t.Errorf("replaced: %v, mode %v, want %v", err, mode(path), want)
		}
	}
}

func TestSymlink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink("out.json", link); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "out.json"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	if got, want := files(t, dir), []string{"link.json=new", "out.json=new"}; !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if target, err := os.Readlink(link); err != nil || target != "out.json" {
		t.Errorf("the link points to %q, %v", target, err)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none", "out.json")
	if err := Write(missing, text("a")); !errors.Is(err, fs.ErrNotExist) || err.Error() != (&fs.PathError{Op: "open", Path: missing, Err: errors.Unwrap(err)}).Error() {
		t.Errorf("missing folder: %v", err)
	}
	if err := Write(dir, text("a")); err == nil || !strings.Contains(err.Error(), dir+": ") {
		t.Errorf("a folder: %v", err)
	}
	if got := files(t, dir); got != nil {
		t.Errorf("the folder has %q, want nothing", got)
	}
	// A disk that fills up fails in the write or in the flush; it is said once.
	if _, err := os.Stat("/dev/full"); err == nil {
		for _, n := range []int{1, 200 << 10} {
			if err := Write("/dev/full", text(strings.Repeat("x", n))); err == nil || strings.Count(err.Error(), "no space") != 1 {
				t.Errorf("%d bytes on a full disk: %v", n, err)
			}
		}
	}
}

// TestDevice writes to what is no regular file as it is.
func TestDevice(t *testing.T) {
	if _, err := os.Stat(os.DevNull); err != nil {
		t.Skip(err)
	}
	if err := Write(os.DevNull, text("a")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is a file now: %v", os.DevNull, err)
	}
}

// TestLongName leaves room for the name of the temporary file.
func TestLongName(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("x", 250)
	if err := Write(filepath.Join(dir, name), text("a")); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{name + "=a"}) {
		t.Errorf("the folder has %q", got)
	}
}
