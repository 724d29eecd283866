package rulebook_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/golden"
	"example.org/homenode/rules"
)

var citation = regexp.MustCompile(`\b[A-G]-\d{1,2}\b`)

// TestCited checks that every id which the program prints can be looked up.
func TestCited(t *testing.T) {
	known := map[string]bool{}
	for _, s := range rulebook.Statements {
		if s.Text == "" || s.Source == "" || known[s.ID] {
			t.Errorf("%s is repeated, or lacks its text or source", s.ID)
		}
		known[s.ID] = true
	}
	for _, c := range vnuma.ChoiceList {
		known[c.ID] = true
	}
	// These change no prediction: F-3 is advice, F-19 unexplained, the others are
	// the scheduler's.
	for _, id := range []string{"F-3", "F-7", "F-11", "F-15", "F-17", "F-19", "F-21"} {
		known[id] = true
	}
	for _, r := range rules.All {
		for _, id := range r.Book {
			if !known[id] {
				t.Errorf("rule %s cites %s, which the rule book lacks", r.ID, id)
			}
		}
	}
	checked := 0
	for _, pattern := range []string{"../vnuma/*.go", "../../rules/*.go", "../../rules/*/*.go", "../../rules/*/*.md", "../scheduler/*.go", "../../output/*/*.go", "../../output/*/*/*.go", "../../cmd/homenode/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || files == nil {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			src := golden.Read(t, file)
			for _, id := range citation.FindAllString(string(src), -1) {
				if checked++; !known[id] {
					t.Errorf("%s cites %s, which the rule book lacks", file, id)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("found %d citations: the test looks at too little", checked)
	}
}

// TestConflictsHaveSources: each conflict names the statement that takes its default.
func TestConflictsHaveSources(t *testing.T) {
	for _, c := range vnuma.ChoiceList {
		if s, ok := rulebook.Find(c.Book); !ok || s.Source == "" {
			t.Errorf("%s names the statement %q, which the rule book lacks", c.ID, c.Book)
		}
	}
}
