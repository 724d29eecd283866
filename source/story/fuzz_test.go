package story

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// FuzzRead demands a story that Check accepts and to which nothing can be added, or an
// error with a place inside the input. Ranges of more than three digits are left to the
// tests of scenarios: they are slow.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no stories", err)
	}
	for _, file := range files {
		b := golden.Read(f, file)
		f.Add(b)
	}
	f.Add([]byte(errorFleet + "at 5m fail esx*\nat 6m repair esx02\nat 14:00 power-on db0?\nat 2h hot-add web[1-2] vcpus=12\n"))
	long := regexp.MustCompile(`\d{4,}\s*\]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if long.Match(data) {
			return
		}
		s, err := Read("story.txt", data)
		if err == nil {
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			same := *s
			if err := Add(&same, "", "--at"); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(&same, s) {
				t.Fatalf("nothing is added, and the story is\n%s\nwant\n%s", dump(&same), dump(s))
			}
			return
		}
		var e *numa.SyntaxError
		lines := bytes.Split(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n"))
		if !errors.As(err, &e) || e.Line < 1 || e.Line > len(lines) || e.Col < 1 || e.Col > len(lines[e.Line-1])+1 {
			t.Fatalf("the error names no place of the input: %v", err)
		}
	})
}
