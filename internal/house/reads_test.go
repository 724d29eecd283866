package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// writer is the package that changes vCenters.
const writer = "example.org/homenode/source/vsphere/write"

// TestServeOnlyReads checks that nothing of serve is built with the package that changes vCenters. The commands that pages ask come from
// the whole program: cmd/homenode/serve refuses their flags that write, and has a test of it.
func TestServeOnlyReads(t *testing.T) {
	for _, files := range sources(t) { // what go list reads is unknown to the cache of tests: a change of any of these files runs the test again
		for _, file := range files {
			imports(t, file)
		}
	}
	all := built(t, "./serve/...", "./cmd/homenode/serve")
	if len(all) < 10 || all["example.org/homenode/serve/site"] == nil || all["example.org/homenode/cmd/homenode/serve"] == nil {
		t.Fatalf("found %d packages: the test looks at nothing", len(all))
	}
	for dir, deps := range all {
		if slices.Contains(deps, writer) {
			t.Errorf("%s imports %s, directly or not", dir, writer)
		}
	}
	for dir, deps := range built(t, "./cmd/homenode/fix") {
		if !slices.Contains(deps, writer) {
			t.Errorf("%s writes, and the test does not find it", dir)
		}
	}
}

// built returns what packages are built with, directly or not.
func built(t *testing.T, patterns ...string) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-f", `{{.ImportPath}} {{join .Deps " "}}`}, patterns...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[words[0]] = words[1:]
	}
	return all
}
