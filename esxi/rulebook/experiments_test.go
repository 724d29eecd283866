package rulebook_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
)

// TestRecord checks that each entry of the record is whole, and that names and former ids
// find it.
func TestRecord(t *testing.T) {
	if n := strings.Count(rulebook.Record, "\n### "); len(rulebook.Experiments) != n || n < 40 {
		t.Fatalf("found %d experiments under %d headings", len(rulebook.Experiments), n)
	}
	for _, e := range rulebook.Experiments {
		if e.Text == "" || e.Title == "" || e.Article == "" || e.Host == "" || e.Former != "" && e.Name[0]+'A'-'a' != e.Former[0] {
			t.Errorf("%+v is not whole", e)
		}
		names := []string{e.Name, strings.ToUpper(e.Name)}
		if e.Former != "" { // of the articles that had ids before
			names = append(names, "exp "+e.Former, "Exp "+strings.ToLower(e.Former))
		}
		for _, name := range names {
			if found, ok := rulebook.FindExperiment(name); !ok || found != e {
				t.Errorf("%s finds %q, want %s", name, found.Name, e.Name)
			}
		}
	}
	if e, ok := rulebook.FindExperiment("E-1"); ok {
		t.Errorf("E-1 finds %s: without exp it is a statement", e.Name)
	}
}

var (
	former = regexp.MustCompile(`\b(?:[Ee]xp|[Ee]xperiments?)\.? [A-Z]-\d`)
	named  = regexp.MustCompile("(?:^|[\\s(“\"'`|/])([a-f]-[a-z][a-z0-9]{2,}(?:-[a-z0-9]+)*)")
	// ordinary are cases of several experiments, words, and differences in code.
	ordinary = []string{"d-hotadd", "e-story", "e-mail", "a-from", "a-node-0", "b-exact", "b-from", "b-part", "c-first"}
)

// TestNamed checks that every experiment which code, pages and cases name is in the
// record, and that none has its former id.
func TestNamed(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "fuzz" || d.Name() == "corpus"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".txtar", ".txt"}, filepath.Ext(path)) || strings.HasSuffix(path, "experiments_test.go") || d.Name() == "CHANGELOG.md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range former.FindAllString(string(text), -1) {
			t.Errorf("%s: found %q, want the name of the experiment", path, m)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			name := string(m[1])
			_, ok := rulebook.FindExperiment(name)
			if found[name] = found[name] || ok; !ok && !slices.Contains(ordinary, name) {
				t.Errorf("%s names %s, which the record lacks", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 35 {
		t.Errorf("found %d experiments: the test looks at too little", len(found))
	}
}
