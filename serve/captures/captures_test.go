package captures

import (
	"errors"
	"example.org/homenode/internal/golden"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// TestOnly opens what a question names, and nothing else of the folder.
func TestOnly(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "ab.csv", "night/1.csv", "night/deep/2.csv", "nights/3.csv", ".secret.csv", "night/.secret", "night/.git/config"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, filepath.Join(dir, name), []byte(name))
	}
	s, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	files, err := s.Only("a.csv", "night")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a.csv": true, "night": true, "night/1.csv": true, "night/deep/2.csv": true, "night/.secret": false, "night/.git/config": false, "ab.csv": false, "nights/3.csv": false, ".": false, "": false, "..": false, "night/../ab.csv": false, "/a.csv": false, dir + "/a.csv": false, "./a.csv": false} {
		f, err := files.Open(name)
		if (err == nil) != want {
			t.Errorf("%q opens: %v, want %v", name, err, want)
		}
		if err == nil {
			_ = f.Close()
		}
		if err != nil && name != dir+"/a.csv" && strings.Contains(err.Error(), dir) {
			t.Errorf("%q: the error names the folder: %v", name, err)
		}
	}
	all, err := s.Only(".")
	for name, want := range map[string]bool{".": true, "a.csv": true, "night/deep/2.csv": true, ".secret.csv": false, "night/.secret": false, "..": false} {
		if f, err := all.Open(name); (err == nil) != want {
			t.Errorf("of all files, %q opens: %v, want %v", name, err, want)
		} else if err == nil {
			_ = f.Close()
		}
	}
	if entries, _, listed := s.List(); err != nil || listed != nil || entries[0].Name != "." || entries[0].Files != 2 {
		t.Errorf("the folder is not listed: %+v, %v, %v", entries, err, listed)
	}
	for _, name := range []string{"none.csv", "..", "-x", "", ".secret.csv", "night/.secret"} {
		if _, err := s.Only("a.csv", name); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := s.Take("x", strings.NewReader("x")); err == nil {
		t.Error("an upload was taken where none is")
	}
	if _, err := Open(filepath.Join(dir, "none"), 0); err == nil {
		t.Error("a folder that is not there was opened")
	}
}

// TestTake keeps uploads up to the limit, under names that lead nowhere, and removes them at the end.
func TestTake(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Open("", 10)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.csv": "a.csv", "../../etc/passwd": "passwd", `C:\x\y.csv`: "y.csv", "": "capture", "..": "capture", ".x.csv": "x.csv", strings.Repeat("ä", 100) + ".csv": strings.Repeat("ä", 58) + ".csv", "a\x00b\nc": "a\uFFFDb\uFFFDc"} {
		e, err := s.Take(name, strings.NewReader("0123456789"))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if _, got, _ := strings.Cut(e.Name, "/"); got != want || e.Size != 10 || !e.Uploaded {
			t.Errorf("%q: %+v, want %q", name, e, want)
		}
		files, err := s.Only(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := fs.ReadFile(files, e.Name); err != nil || string(b) != "0123456789" {
			t.Errorf("%q: %q, %v", name, b, err)
		}
		if err := s.Remove(e.Name); err != nil {
			t.Error(err)
		}
		if _, err := files.Open(e.Name); err == nil {
			t.Errorf("%q is there after it was removed", name)
		}
	}
	if _, err := s.Take("a.csv", strings.NewReader("0123456789x")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an upload beyond the limit: %v", err)
	}
	if _, err := s.Take("a.csv", io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an upload that is cut off: %v", err)
	}
	left, err := fs.ReadDir(s.temp.FS(), ".")
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	var all sync.WaitGroup
	for range 2 * mostUploads {
		all.Go(func() { _, _ = s.Take("a.csv", strings.NewReader("x")) })
	}
	all.Wait()
	entries, _, err := s.List()
	if err != nil || len(entries) != mostUploads {
		t.Errorf("%d uploads at a time, want %d: %v", len(entries), mostUploads, err)
	}
	temp := s.temp.Name()
	s.uploads[0].end.Reset(0) // a day is over
	for range 1000 {
		if entries, _, _ = s.List(); len(entries) < mostUploads {
			break
		}
	}
	for len(entries) == mostUploads {
		entries, _, _ = s.List()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(temp); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", temp, err)
	}
	if _, err := s.Take("a.csv", strings.NewReader("x")); err == nil {
		t.Error("an upload was taken after the end")
	}
}

// TestSweep removes what a killed server left more than a day ago, and takes an upload when its own folder is gone.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for name, age := range map[string]time.Duration{temps + "old": Kept + time.Hour, temps + "new": time.Hour, "other": 100 * Kept} {
		if err := os.MkdirAll(filepath.Join(temp, name, "upload-1"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(temp, name), time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open("", 10)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{temps + "old": false, temps + "new": true, "other": true} {
		if _, err := os.Stat(filepath.Join(temp, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err, want)
		}
	}
	s.old[0].Reset(0) // its day is over
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err = os.Stat(filepath.Join(temp, temps+"new")); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("it is there after its day")
	}
	e, err := s.Take("a.csv", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Remove(e.Name), os.RemoveAll(s.temp.Name())); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take("a.csv", strings.NewReader("x")); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
