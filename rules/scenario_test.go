package rules_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"homenode/capture"
	"homenode/internal/golden"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/source/demo"
	"homenode/source/incident"
	"homenode/source/scenario"
	"homenode/source/text"
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
				run := findings
				if r.Watch != nil {
					run = watched
				}
				got := run(t, path, r.ID)
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
	f, err := text.ReadFile(path, scenario.Read)
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
	return findingsText(r.Findings, id, other)
}

// watched returns the findings of one rule about an incident as text, with the inventory
// of the section "fleet" when there is one.
func watched(t *testing.T, path, id string) []byte {
	t.Helper()
	in, err := text.ReadFile(path, incident.Read)
	if err != nil {
		t.Fatal(err)
	}
	recorders := capture.NewRecorders(rules.CaptureOptions(nil))
	recorders.Open(filepath.Base(path), "incident")
	if err := in.Ticks(func(tick *numa.Tick) error { recorders.Add(tick); return nil }); err != nil {
		t.Fatal(err)
	}
	w := rules.Watch(recorders.Recordings(), inventory(t, path), rules.Options{})
	other := map[string][]string{} // what other rules say of the same VM
	for _, f := range w.Findings {
		checkWatched(t, w, &f)
		if f.Rule != id && f.VM != "" {
			key := f.Host + " " + f.VM
			other[key] = append(other[key], fmt.Sprintf("  also: %s %s\n", f.Rule, f.Severity))
		}
	}
	return findingsText(w.Findings, id, other)
}

// amount matches the numbers of a message that have to be evidence.
var amount = regexp.MustCompile(`\d+(\.\d+)? ([KMGT]B|%)`)

// checkWatched checks what every finding about a recording has: a time, a severity that
// its rule allows, and evidence for each number.
func checkWatched(t *testing.T, w *rules.Watched, f *finding.Finding) {
	t.Helper()
	one := w.Rule(f.Rule)
	if f.From.IsZero() || f.To.Before(f.From) || f.Severity > one.Severity {
		t.Errorf("%s %s from %s to %s, %s; the rule reports up to %s", f.Rule, f.Subject(), f.From, f.To, f.Severity, one.Severity)
	}
	for _, number := range amount.FindAllString(f.Message, -1) {
		if !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return strings.Contains(e.Value, number) }) {
			t.Errorf("%s %s: no evidence for %s in %q", f.Rule, f.Subject(), number, f.Message)
		}
	}
}

// inventory returns the judged fleet of the section "fleet"; nil when there is none.
func inventory(t *testing.T, path string) *rules.Result {
	t.Helper()
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "fleet" })
	if i < 0 {
		return nil
	}
	f, err := scenario.Read(path, ar.Files[i].Data)
	if err != nil {
		t.Fatal(err)
	}
	return rules.Run(f, rules.Options{})
}

// findingsText writes the findings of one rule, and what others say of the same subject.
func findingsText(all []finding.Finding, id string, other map[string][]string) []byte {
	var b bytes.Buffer
	for i := range all {
		f := &all[i]
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
			fmt.Fprintf(&b, "  %s = %s, %s", e.Name, e.Value, e.Origin)
			if !f.From.IsZero() { // a recording: when, too
				fmt.Fprintf(&b, " (%s)", e.At)
			}
			b.WriteByte('\n')
		}
		for _, a := range f.Assumes {
			fmt.Fprintf(&b, "  assumed: %s\n", a)
		}
		key := f.VMID + " " + f.HostID
		if !f.From.IsZero() {
			key = f.Host + " " + f.VM
		}
		for _, also := range other[key] {
			b.WriteString(also)
		}
	}
	return b.Bytes()
}

// TestRulesExplainThemselves checks that there is no rule without its words and sources.
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
		if len(r.Sources) == 0 || len(r.Book) == 0 || (r.Check == nil) == (r.Watch == nil) {
			t.Errorf("%s lacks Sources or Book, or has not one of Check and Watch", r.ID)
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

// TestDemoFiresEveryRule keeps the demo a tour of all rules that judge fleets.
func TestDemoFiresEveryRule(t *testing.T) {
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{})
	for _, one := range rules.All {
		if one.Check != nil && !slices.ContainsFunc(r.Counts(), func(c rules.RuleCount) bool { return c.Rule == one }) {
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

// TestEveryRuleIsListed checks that each folder with the words of a check is in All.
func TestEveryRuleIsListed(t *testing.T) {
	pages, err := filepath.Glob("*/*.md")
	if err != nil || len(pages) < 40 {
		t.Fatalf("found %d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		name := filepath.Base(filepath.Dir(page))
		if name+".md" == filepath.Base(page) && !slices.ContainsFunc(rules.All, func(r *rule.Rule) bool { return r.Name == name }) {
			t.Errorf("%s: no rule of All is named %s: add it in rules.go", page, name)
		}
	}
}
