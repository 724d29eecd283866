package ticks

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// walked reads what lies at path and returns its ticks and warnings, without the folder.
func walked(t *testing.T, path string) (ticks int, warnings []string) {
	t.Helper()
	dir := filepath.Dir(path) + string(filepath.Separator)
	_, err := Walk(t.Context(), path, Options{}, Visit{
		Tick: func(*numa.Tick) error { ticks++; return nil },
		Done: func(f *File, err error) error {
			for _, w := range f.Warnings {
				warnings = append(warnings, strings.ReplaceAll(w, dir, ""))
			}
			if err != nil {
				warnings = append(warnings, strings.ReplaceAll(err.Error(), dir, ""))
			}
			return nil
		},
	})
	if err != nil {
		warnings = append(warnings, strings.ReplaceAll(err.Error(), dir, ""))
	}
	return ticks, warnings
}

// A file among others of which no answer can be read is told.
func TestAnswersThatCannotBeRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"esx01-counterinfo.txt":       info,
		"esx01-fetchstats-100000.txt": answer(0),
		"esx01-fetchstats-100005.txt": "==NUM-OF-OBJ==\n|Server|Sched,1|\n==COUNTER-VALUE==\n|Server|1005000000|\n",
		"esx01-fetchstats-100010.txt": answer(10),
	} {
		golden.Write(t, filepath.Join(dir, name), []byte(text))
	}
	ticks, warnings := walked(t, dir)
	want := "in/esx01-fetchstats-100005.txt:1: the answer is left out: line 4: found a row Server of 1 fields, CounterInfo has 2: it is cut off, or CounterInfo is of another host"
	if ticks != 2 || len(warnings) != 2 || !slices.Contains(warnings, want) {
		t.Errorf("%d ticks, want 2, and warnings\n%s\nwant among them\n%s", ticks, strings.Join(warnings, "\n"), want)
	}
}

// Of two members of one name in an archive the first one counts, and that is told.
func TestMemberTwice(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, text := range []string{answer(0), answer(10)} {
		text = info + text
		if err := w.WriteHeader(&tar.Header{Name: "esx01-fetchstats.txt", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in.tar")
	golden.Write(t, path, b.Bytes())
	ticks, warnings := walked(t, path)
	want := "in.tar/esx01-fetchstats.txt: there twice: the second is left out"
	if ticks != 1 || !slices.Contains(warnings, want) {
		t.Errorf("%d ticks, want 1, and warnings\n%s\nwant among them\n%s", ticks, strings.Join(warnings, "\n"), want)
	}
}
