package house

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// read are the documents that are written to be read from beginning to end, and how many words they have together at most.
var read = []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/start.md", "docs/checks.md", "docs/captures.md", "docs/watch.md", "docs/fix.md", "docs/plan.md", "docs/security.md"}

const mostWords = 25_000

// TestDocuments checks that the guides stay short, that nothing else stands beside them, and that every link of a document leads to a
// file and a heading that are there. A picture that no document shows is an error too.
func TestDocuments(t *testing.T) {
	pages := documents(t)
	words := 0
	for _, p := range read {
		words += len(strings.Fields(pages[p]))
	}
	if words > mostWords {
		t.Errorf("%v have %d words together, want at most %d", read, words, mostWords)
	}
	script, err := os.ReadFile(filepath.Join(root, "scripts/release"))
	if err != nil {
		t.Fatal(err)
	}
	_, archived, _ := strings.Cut(string(script), "\ncp -r")
	archived, _, found := strings.Cut(archived, `"$common/"`)
	if !found {
		t.Fatal("scripts/release copies no documents")
	}
	shown, links := map[string]bool{}, 0
	for _, p := range slices.Sorted(maps.Keys(pages)) {
		if path.Dir(p) == "docs" && !slices.Contains(read, p) {
			t.Errorf("%s: a page beside the guides: docs/reference and docs/evidence have the others", p)
		}
		for _, link := range linksOf(pages[p]) {
			links++
			file, heading, _ := strings.Cut(link, "#")
			to := p
			if file != "" {
				to = path.Join(path.Dir(p), file)
			}
			shown[to] = true
			if top, below, _ := strings.Cut(to, "/"); below != "" && !strings.Contains(archived, " "+top+" ") || strings.HasSuffix(to, ".go") {
				t.Errorf("%s: %s is in no archive of a release", p, link)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: %s is not there", p, link)
			} else if heading != "" && strings.HasSuffix(to, ".md") && !slices.Contains(headingsOf(pages[to]), heading) {
				t.Errorf("%s: %s: no such heading", p, link)
			}
		}
	}
	if links < 500 {
		t.Errorf("found %d links: the test looks at nothing", links)
	}
	pictures, err := filepath.Glob(filepath.Join(root, "docs/img/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		if name := path.Join("docs/img", filepath.Base(p)); !shown[name] {
			t.Errorf("no document shows %s", name)
		}
	}
}

// documents returns the text of each document by its path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, top := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"} {
		err := fs.WalkDir(os.DirFS(root), top, func(p string, _ fs.DirEntry, err error) error {
			if err != nil || path.Ext(p) != ".md" {
				return err
			}
			b, err := os.ReadFile(filepath.Join(root, p))
			pages[p] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

var (
	code     = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]*`")
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headed   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	outside  = regexp.MustCompile(`^[a-z]+:`)
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	wordLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// linksOf returns where a document leads to within the project.
func linksOf(page string) (links []string) {
	for _, m := range linked.FindAllStringSubmatch(code.ReplaceAllString(page, ""), -1) {
		if !outside.MatchString(m[1]) {
			links = append(links, m[1])
		}
	}
	return links
}

// headingsOf returns the names by which headings are linked, as GitHub and GitLab make them.
func headingsOf(page string) (names []string) {
	for _, m := range headed.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, wordLink.ReplaceAllString(m[1], "$1")))
	}
	return names
}
