// Package golden compares test output with files that a person has read; it is the only golden
// helper. go test -update rewrites the files. Read and Write are for the other files of tests.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite golden files with what the tests produced")

// Updating reports whether the run rewrites golden files.
func Updating() bool { return *update }

// Equal reports an error when got differs from the file at path.
func Equal(t testing.TB, got []byte, path string) {
	t.Helper()
	if *update {
		record(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	compare(t, path, got, want)
}

// Read returns a file that a test needs.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Section reports an error when got differs from the section of the txtar file at path.
func Section(t testing.TB, got []byte, path, section string) {
	t.Helper()
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ar.Files {
		if ar.Files[i].Name != section {
			continue
		}
		if *update {
			ar.Files[i].Data = got
			record(t, path, txtar.Format(ar))
			return
		}
		compare(t, path+": "+section, got, ar.Files[i].Data)
		return
	}
	if *update {
		ar.Files = append(ar.Files, txtar.File{Name: section, Data: got})
		record(t, path, txtar.Format(ar))
		return
	}
	t.Fatalf("%s: no section %q (go test -update writes it)", path, section)
}

// Write writes a file that a test needs.
func Write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func record(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare shows the first line that differs.
func compare(t testing.TB, name string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(g), len(w)) {
		var a, b []byte
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: line %d differs\n got: %s\nwant: %s\n(go test -update rewrites it)", name, i+1, a, b)
			return
		}
	}
}
