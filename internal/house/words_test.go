package house

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// avoided are words that read badly on screens, in comments and documents, and what to
// write instead.
var avoided = []struct{ pattern, instead string }{
	{`nobody`, "unknown, is not stated, is not published"},
	{`pass(es|ed|ing)? over`, "skips"},
	{`bears?`, "has, can take"},
	{`twins?`, "the simulated scheduler, the simulation"},
	{`confronted`, "checked against, compared with"},
	{`holds that`, "checks that"},
	{`told apart`, "distinguished"},
	{`sums of (an architect|capacity)`, "capacity calculations"},
}

// allowed are phrases with such words that are right: the last is a verdict.
var allowed = regexp.MustCompile(`(?i)\b(a|one|first|each|last) pass over\b|\bnot told apart\b`)

// TestWords checks that the avoided words are in no comment, screen or document.
func TestWords(t *testing.T) {
	var all []string
	for _, a := range avoided {
		all = append(all, a.pattern)
	}
	words := regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
	files := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && p != "." && (name == "testdata" || name == "bin" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go") || path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		case p == "CHANGELOG.md":
			return nil
		}
		files++
		b, err := os.ReadFile(path.Join(root, p))
		if err != nil {
			return err
		}
		line := 0
		for text := range strings.Lines(string(b)) {
			line++
			if found := words.FindString(allowed.ReplaceAllString(text, "")); found != "" {
				t.Errorf("%s:%d: %q: write %s", p, line, found, instead(found))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("read %d files: the walk is broken", files)
	}
}

// instead returns what to write for an avoided word.
func instead(word string) string {
	for _, a := range avoided {
		if regexp.MustCompile(`(?i)^(` + a.pattern + `)$`).MatchString(word) {
			return a.instead
		}
	}
	return "something else"
}

// TestInstead checks that each pattern finds what it is for.
func TestInstead(t *testing.T) {
	for _, word := range []string{"Nobody", "passed over", "bears", "twin", "told apart", "holds that"} {
		if instead(word) == "something else" {
			t.Errorf("%s is not found", word)
		}
	}
}
