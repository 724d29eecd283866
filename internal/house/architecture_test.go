package house

import (
	"example.org/homenode/internal/golden"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture checks that what docs/architecture.md names is there: folders, files, and
// what packages export.
func TestArchitecture(t *testing.T) {
	page := golden.Read(t, filepath.Join(root, "docs/architecture.md"))
	dirs := sources(t)
	exported := regexp.MustCompile(`^([a-z]{2,})\.([A-Z]\w*)(\.[A-Z]\w*)?(\(.*\))?$`)
	names := 0
	page = regexp.MustCompile("(?s)```.*?```").ReplaceAll(page, nil)
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(string(page), -1) {
		name := m[1]
		switch found := exported.FindStringSubmatch(name); {
		case found != nil:
			names++
			if !declared(t, dirs, found[1], found[2]) {
				t.Errorf("%s: no package %s declares %s", name, found[1], found[2])
			}
		case floor(roomOf(name)) >= 0 && !strings.ContainsAny(name, "<* "):
			names++
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s is not there", name)
			}
		}
	}
	if names < 40 {
		t.Errorf("found %d names: the test looks at nothing", names)
	}
}

// declared reports whether a package of this name declares an exported name.
func declared(t *testing.T, dirs map[string][]string, pkg, name string) bool {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |const |\t)` + name + `\b`)
	for dir, files := range dirs {
		if filepath.Base(dir) == pkg && slices.ContainsFunc(files, func(file string) bool {
			b := golden.Read(t, filepath.Join(root, file))
			return declaration.Match(b)
		}) {
			return true
		}
	}
	return false
}
