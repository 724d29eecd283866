package archive_test

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/source/archive"
)

// zipOf writes a zip of members with so many zero bytes each.
func zipOf(t *testing.T, members, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	zeros := make([]byte, 1<<20)
	for i := range members {
		w, err := z.Create(strings.Repeat("d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		for left := size; left > 0; left -= len(zeros) {
			if _, err := w.Write(zeros[:min(left, len(zeros))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRatioFrom stops a member that unpacks to too much before the default of 256 MiB, where its reader keeps it.
func TestRatioFrom(t *testing.T) {
	path := zipOf(t, 1, 64<<20)
	read := func(o archive.Options) (n int64, err error) {
		err = archive.Walk(path, o, func(_ string, _ int64, r io.Reader) (failed error) {
			n, failed = io.Copy(io.Discard, r)
			return failed
		})
		return n, err
	}
	if n, err := read(archive.Options{}); err != nil || n != 64<<20 {
		t.Errorf("by default: %d bytes, %v", n, err)
	}
	if n, err := read(archive.Options{RatioFrom: 4 << 20}); err == nil || n > 0 {
		t.Errorf("from 4 MiB on: %d bytes, %v", n, err)
	}
}

// TestStop ends a walk between two members.
func TestStop(t *testing.T) {
	enough, n := errors.New("enough"), 0
	o := archive.Options{Stop: func() error {
		if n == 3 {
			return enough
		}
		return nil
	}}
	err := archive.Walk(zipOf(t, 10, 1), o, func(string, int64, io.Reader) error {
		n++
		return nil
	})
	if !errors.Is(err, enough) || n != 3 {
		t.Errorf("%d members, %v", n, err)
	}
}

// TestCounted reads no member of a zip that has more of them than are read.
func TestCounted(t *testing.T) {
	for most, want := range map[int]int{2: 0, 3: 3} {
		n := 0
		err := archive.Walk(zipOf(t, 3, 1), archive.Options{MaxVisits: most}, func(string, int64, io.Reader) error { n++; return nil })
		if n != want || errors.Is(err, archive.ErrMany) != (want == 0) {
			t.Errorf("at most %d: %d were read, %v", most, n, err)
		}
	}
}
