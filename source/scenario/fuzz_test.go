package scenario

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"example.org/homenode/numa"
)

// FuzzRead demands a fleet that Check accepts or an error with a place inside the
// input. Ranges of more than three digits are left to TestErrors: they are slow.
func FuzzRead(f *testing.F) {
	f.Add([]byte("Words.\n-- note --\nx\n-- in --\nrelease 7.0U3\ncluster prod\nhost esx[01-03] nodes=2 cores=18 memory=1024GB\nvm a[1-9] vcpus=8 stored=4\n"))
	long := regexp.MustCompile(`\d{4,}\s*\]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if long.Match(data) {
			return
		}
		fleet, err := Read("fleet.txt", data)
		if err == nil {
			if err := fleet.Check(); err != nil {
				t.Fatal(err)
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
