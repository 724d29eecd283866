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
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"example.org/homenode/capture"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/incident"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// TestScenarios runs every scenario of every rule and compares the findings of
// that rule, word by word.
func TestScenarios(t *testing.T) {
	for _, r := range rules.All {
		t.Run(r.Name, func(t *testing.T) {
			paths, err := filepath.Glob(filepath.Join("check", r.Name, "testdata", "*.txtar"))
			if err != nil {
				t.Fatal(err)
			}
			fired, silent := false, false
			for _, path := range paths {
				run := findings
				switch {
				case r.Watch != nil:
					run = watched
				case r.Stated != nil:
					run = stated
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
	f := testdeps.Input(t, path, scenario.Read)
	return ofFleet(f, id)
}

// stated returns the findings of one rule about the KVM hosts of a file as text.
func stated(t *testing.T, path, id string) []byte {
	t.Helper()
	return ofFleet(kvmFleet(t, path), id)
}

// kvmFleet reads a bundle of KVM hosts. A section that is named for a host has the words of one, as a scenario, of which the
// capabilities are made; those below evidence/ are what was seen in guests; the others are the files of the bundle.
func kvmFleet(t *testing.T, path string) *numa.Fleet {
	t.Helper()
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, pieces := fstest.MapFS{}, []evidence.Piece(nil)
	for _, f := range ar.Files {
		switch {
		case f.Name == "findings":
		case strings.HasPrefix(f.Name, "evidence/"):
			docs, err := evidence.Documents(f.Name, bytes.NewReader(f.Data))
			if err != nil {
				t.Fatal(err)
			}
			pieces = append(pieces, evidence.Piece{Name: f.Name, Docs: docs})
		case strings.Contains(f.Name, "/"):
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		default:
			files[f.Name+"/capabilities.xml"] = &fstest.MapFile{Data: capabilities(t, f.Name, string(f.Data))}
		}
	}
	fleet, err := kvm.ReadFS("kvm", files)
	if err != nil {
		t.Fatal(err)
	}
	evidence.Join(fleet, pieces)
	if fleet.Notes != nil {
		t.Errorf("notes: %v", fleet.Notes)
	}
	return fleet
}

// capabilities writes those of a host of a scenario: CPUs are numbered by core, then by thread, as Linux numbers them. pages= are
// those of 1 GB that each node has.
func capabilities(t testing.TB, name, words string) []byte {
	t.Helper()
	words, empty, _ := strings.Cut(strings.TrimSpace(words), " empty=") // a node without memory
	words, pools, _ := strings.Cut(words, " pages=")
	pages := strings.Split(pools, ",")
	f := given.Fleet(t, name, []byte("release 8.0\nhost "+name+" "+words))
	h := &f.Hosts[0]
	var b bytes.Buffer
	b.WriteString("<capabilities><host><topology><cells>\n")
	cores := 0
	for _, n := range h.Nodes.Value {
		if fmt.Sprint(n.ID) == empty {
			n.Memory.Value = 0
		}
		fmt.Fprintf(&b, "<cell id='%d'><memory unit='KiB'>%d</memory>\n", n.ID, n.Memory.Value/numa.KiB)
		if pools != "" {
			fmt.Fprintf(&b, "<pages unit='KiB' size='1048576'>%s</pages>\n", pages[n.ID])
		}
		fmt.Fprintf(&b, "<cpus num='%d'>\n", n.Threads)
		for i := range n.Threads {
			fmt.Fprintf(&b, "<cpu id='%d' socket_id='%d' core_id='%d'/>\n", cores+i%n.Cores+i/n.Cores*h.Cores.Value, n.Package, cores+i%n.Cores)
		}
		b.WriteString("</cpus></cell>\n")
		cores += n.Cores
	}
	b.WriteString("</cells></topology></host></capabilities>\n")
	return b.Bytes()
}

// ofFleet returns the findings of one rule about a fleet as text.
func ofFleet(f *numa.Fleet, id string) []byte {
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
	in := testdeps.Input(t, path, incident.Read)
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
	return rules.Run(given.Fleet(t, path, ar.Files[i].Data), rules.Options{})
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
		if len(r.Sources) == 0 || len(r.Book) == 0 || kinds(r) != 1 {
			t.Errorf("%s lacks Sources or Book, or has not one of Check, Watch and Stated", r.ID)
		}
		if i > 0 && rules.All[i-1].ID >= r.ID {
			t.Errorf("%s does not come after %s", r.ID, rules.All[i-1].ID)
		}
		if seen[r.Name] {
			t.Errorf("%s: name %s is used twice", r.ID, r.Name)
		}
		seen[r.Name] = true
		if _, err := os.Stat("check/" + r.Name); err != nil {
			t.Errorf("%s: no folder named for it: %v", r.ID, err)
		}
	}
}

// kinds counts what a rule can judge by.
func kinds(r *rule.Rule) (n int) {
	for _, has := range []bool{r.Check != nil, r.Watch != nil, r.Stated != nil} {
		if has {
			n++
		}
	}
	return n
}

// TestDemoFiresEveryRule keeps the demo a tour of all rules that judge fleets.
func TestDemoFiresEveryRule(t *testing.T) {
	f := given.Demo(t)
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
	pages, err := filepath.Glob("check/*/*.md")
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
