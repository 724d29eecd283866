package rules_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario"
)

// TestHostWays: what advice about a host says is data too, and a change of an option that it names is an edit, unless its cause is not known.
func TestHostWays(t *testing.T) {
	set := regexp.MustCompile(`[Ss]et ([A-Z]\w+(?:\.\w+)+) = (\w+)`)
	ways, edits := 0, 0
	advised(t, func(path string, f *finding.Finding) {
		if f.Severity > 0 && strings.HasPrefix(f.Rule, "H") && f.Advice != "" {
			ways++
			edits += check(t, path, f, set)
		}
	})
	if ways < 20 || edits < 4 {
		t.Errorf("%d findings with advice, %d edits: too few", ways, edits)
	}
}

// TestSizeNotices: advice that gives a VM another size says which one the guest gets.
func TestSizeNotices(t *testing.T) {
	sizes := 0
	advised(t, func(path string, f *finding.Finding) {
		for _, w := range f.Ways {
			for _, e := range w.Edits {
				if !w.Plan && (e.Kind == numa.EditVCPUs || e.Kind == numa.EditMemory) {
					sizes++
					if !strings.Contains(f.Notice, "the guest gets ") {
						t.Errorf("%s: %s %s: %q has the notice %q", path, f.Rule, f.VM, w.Do, f.Notice)
					}
				}
			}
		}
	})
	if sizes < 20 {
		t.Errorf("only %d sizes were advised: the test looks at nothing", sizes)
	}
}

// advised calls see with each finding about the fleets of all scenarios.
func advised(t *testing.T, see func(path string, f *finding.Finding)) {
	t.Helper()
	paths, err := filepath.Glob("check/*/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range a.Files {
			f, err := scenario.Read(path, file.Data)
			if file.Name != "in" || err != nil {
				continue // of another form
			}
			found := rules.Run(f, rules.Options{}).Findings
			for i := range found {
				see(path, &found[i])
			}
		}
	}
}

func check(t *testing.T, path string, f *finding.Finding, set *regexp.Regexp) (edits int) {
	t.Helper()
	if len(f.Ways) == 0 {
		t.Errorf("%s: %s: %q is no way", path, f.Rule, f.Advice)
	}
	for _, w := range f.Ways {
		if m := set.FindStringSubmatch(w.Do); m != nil && !strings.HasPrefix(w.Do, "find out") && !strings.HasPrefix(w.Do, "make sure") {
			edits++
			if !slices.ContainsFunc(w.Edits, func(e numa.Edit) bool { return e.Kind == numa.EditHostOption && e.Key == m[1] && e.To.Text == m[2] }) {
				t.Errorf("%s: %s: %q has the edits %v", path, f.Rule, w.Do, w.Edits)
			}
		}
	}
	return edits
}

// TestNoWayFarther checks that no advice brings the memory farther from the vCPUs for a less severe finding: ESX 4.1 interleaves the memory of a VM that is divided.
func TestNoWayFarther(t *testing.T) {
	r := runText(t, "release 4.1\nhost o nodes=2 cores=6 memory=128GB\nvm v host=o vcpus=4 memory=80GB hw=7\n")
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "N005" })
	if i < 0 || r.Findings[i].Advice != "Give the VM at most 64 GB" {
		t.Errorf("found %+v", r.Findings)
	}
}
