package rules_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homenode/finding"
	"homenode/internal/golden"
	"homenode/rules"
	"homenode/source/demo"
	"homenode/source/scenario"
)

// TestScenarios runs every scenario of every rule and compares the findings of
// that rule, word by word.
func TestScenarios(t *testing.T) {
	for _, r := range rules.All {
		t.Run(r.Name, func(t *testing.T) {
			paths, err := filepath.Glob(filepath.Join(r.Name, "testdata", "*.txtar"))
			if err != nil {
				t.Fatal(err)
			}
			fired, silent := false, false
			for _, path := range paths {
				got := findings(t, path, r.ID)
				golden.Section(t, got, path, "findings")
				fired = fired || len(got) > 0
				silent = silent || len(got) == 0
			}
			if !fired || !silent {
				t.Errorf("%d scenarios; fired in one: %v, silent in one: %v; want both", len(paths), fired, silent)
			}
		})
	}
}

// findings returns the findings of one rule as text.
func findings(t *testing.T, path, id string) []byte {
	t.Helper()
	f, err := scenario.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{})
	other := map[string][]string{} // what other rules say of the same VM or host
	for _, f := range r.Findings {
		if f.Rule != id && f.Severity > finding.Info {
			key := f.VMID + " " + f.HostID
			other[key] = append(other[key], fmt.Sprintf("  also: %s %s %s\n", f.Rule, f.Severity, f.Message))
		}
	}
	var b bytes.Buffer
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Rule != id {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", f.Rule, f.Severity, f.Subject(), f.Message)
		if f.Advice != "" {
			fmt.Fprintf(&b, "  do: %s\n", f.Advice)
		}
		if f.Notice != "" {
			fmt.Fprintf(&b, "  notice: %s\n", f.Notice)
		}
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "  %s = %s, %s\n", e.Name, e.Value, e.Origin)
		}
		for _, a := range f.Assumes {
			fmt.Fprintf(&b, "  assumed: %s\n", a)
		}
		for _, also := range other[f.VMID+" "+f.HostID] {
			b.WriteString(also)
		}
	}
	return b.Bytes()
}

// TestRulesExplainThemselves holds that there is no rule without its words and sources.
func TestRulesExplainThemselves(t *testing.T) {
	seen := map[string]bool{}
	for i, r := range rules.All {
		for name, text := range map[string]string{"Name": r.Name, "Title": r.Title, "Why": r.Why, "Fix": r.Fix, "Limits": r.Limits} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s has an empty %s", r.ID, name)
			}
		}
		for _, x := range r.Thresholds {
			if x.Name == "" || x.Text == "" || x.Unit == "" || x.Least > x.Default || x.Default > x.Most {
				t.Errorf("%s: threshold %+v is incomplete", r.ID, x)
			}
		}
		if len(r.Sources) == 0 || len(r.Book) == 0 || r.Check == nil {
			t.Errorf("%s lacks Sources, Book or Check", r.ID)
		}
		if i > 0 && rules.All[i-1].ID >= r.ID {
			t.Errorf("%s does not come after %s", r.ID, rules.All[i-1].ID)
		}
		if seen[r.Name] {
			t.Errorf("%s: name %s is used twice", r.ID, r.Name)
		}
		seen[r.Name] = true
		if _, err := os.Stat(r.Name); err != nil {
			t.Errorf("%s: no folder named for it: %v", r.ID, err)
		}
	}
}

// TestDemoFiresEveryRule keeps the demo a tour of all rules.
func TestDemoFiresEveryRule(t *testing.T) {
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{})
	for _, one := range rules.All {
		if !slices.ContainsFunc(r.Counts(), func(c rules.RuleCount) bool { return c.Rule == one }) {
			t.Errorf("%s %s does not fire in the demo", one.ID, one.Name)
		}
	}
	for _, f := range r.Findings {
		one := r.Rule(f.Rule)
		if f.Severity > one.Severity {
			t.Errorf("%s reports %s, above its own %s", f.Rule, f.Severity, one.Severity)
		}
	}
}
