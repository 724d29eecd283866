package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// inRoot is what may lie in the root of the project, folders of rooms aside.
var inRoot = []string{".ci", ".github", ".gitignore", ".gitlab-ci.yml", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md", "deploy", "docs", "go.mod", "go.sum", "scripts"}

// TestRoot checks that nothing else was committed to the root: what a run left behind, or a file that has its place in a room.
func TestRoot(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skipf("no clone of the repository: %v", err)
	}
	seen := map[string]bool{}
	for path := range strings.Lines(string(out)) {
		name := roomOf(strings.TrimSpace(path))
		if !seen[name] && floor(name) < 0 && !slices.Contains(inRoot, name) {
			t.Errorf("%s lies in the root", name)
		}
		seen[name] = true
	}
	for _, name := range inRoot {
		if !seen[name] {
			t.Errorf("%s is not there any more: take it from the list", name)
		}
	}
}
