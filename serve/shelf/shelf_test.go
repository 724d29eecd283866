package shelf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// write writes a file of a test.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, s *Shelf) (out []string) {
	t.Helper()
	files, _, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out
}

// TestConfined opens the files of the folder and nothing else.
func TestConfined(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "captures")
	write(t, filepath.Join(above, "secret.csv"), "secret")
	write(t, filepath.Join(dir, "a.csv"), "a")
	write(t, filepath.Join(dir, "night", "b.csv.gz"), "b")
	write(t, filepath.Join(dir, ".hidden", "c.csv"), "c")
	write(t, filepath.Join(dir, "1/2/3/4/5/deep.csv"), "d")
	for link, to := range map[string]string{"link.csv": "../secret.csv", "inside.csv": "a.csv", "folder": "..", "absolute.csv": filepath.Join(above, "secret.csv")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err) // not on this system
		}
	}
	s, err := New(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, want := names(t, s), []string{"a.csv", "night/b.csv.gz"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	for _, name := range names(t, s) {
		path, err := s.Path(name)
		if err != nil || path != filepath.Join(dir, filepath.FromSlash(name)) {
			t.Errorf("%s lies at %s: %v", name, path, err)
		}
	}
	for _, name := range []string{"", ".", "..", "../secret.csv", "night/../../secret.csv", "night/../a.csv", "./a.csv", "/etc/passwd", filepath.Join(above, "secret.csv"), `..\secret.csv`, `C:\secret.csv`,
		"link.csv", "inside.csv", "folder/secret.csv", "absolute.csv", "night", "none.csv", "a.csv/x", "a.csv\x00", "sent:a.csv", "sent:../secret.csv", "demo"} {
		if path, err := s.Path(name); err == nil {
			t.Errorf("%q lies at %s", name, path)
		}
	}
	if _, err := s.Add("x.csv", strings.NewReader("x")); err == nil {
		t.Error("a shelf without a limit takes a file")
	}
	if _, err := New(filepath.Join(above, "none"), 0); err == nil {
		t.Error("a folder that is not there")
	}
}

// TestSent keeps what is sent for its owner alone, and removes it in time.
func TestSent(t *testing.T) {
	now := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	s, err := New("", 10)
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return now }
	name, err := s.Add(`..\..//etc/cron.d/ sql<01>.csv.gz.`, strings.NewReader("0123456789"))
	if err != nil || !strings.HasPrefix(name, "sent:") || !strings.HasSuffix(name, "-sql01.csv.gz") {
		t.Fatalf("%q, %v", name, err)
	}
	path, err := s.Path(name)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", at, info.Mode(), err, want)
		}
	}
	if _, err := s.Add("large.csv", bytes.NewReader(make([]byte, 11))); !errors.Is(err, ErrLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := s.Add("empty.csv", strings.NewReader("")); err == nil {
		t.Error("an empty file was kept")
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("%d files lie there, want 1: %v", len(all), err)
	}
	now = now.Add(sentFor + time.Second)
	if _, err := s.Path(name); !errors.Is(err, ErrUnknown) {
		t.Errorf("after a day: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("after a day it lies there: %v", err)
	}
	for range mostSent + 3 {
		if name, err = s.Add("", strings.NewReader("x")); err != nil || !strings.HasSuffix(name, "-capture") {
			t.Fatalf("%q, %v", name, err)
		}
	}
	if n := len(names(t, s)); n != mostSent || names(t, s)[0] != name {
		t.Errorf("%d are kept, want %d, the latest first", n, mostSent)
	}
	if err := s.Remove(name); err != nil {
		t.Error(err)
	}
	if err := s.Remove(name); !errors.Is(err, ErrUnknown) {
		t.Errorf("removed twice: %v", err)
	}
	own := s.own
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Errorf("after the end it lies there: %v", err)
	}
}
