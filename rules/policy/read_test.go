package policy_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// known are rules of the tests, which do not change with the real ones.
var known = []*rule.Rule{
	{ID: "H001"},
	{ID: "N001"},
	{ID: "N005", Thresholds: []rule.Threshold{
		{Name: "seriousShare", Default: 0.1, Unit: rule.Share, Least: 0, Most: 1},
		{Name: "nodes", Default: 2, Unit: rule.Count, Least: 1, Most: 16},
	}},
	{ID: "N006", Thresholds: []rule.Threshold{
		{Name: "minutes", Default: 5, Unit: rule.Minutes, Least: 0, Most: 60},
		{Name: "remote", Default: 4, Unit: rule.GiB, Least: 1, Most: 64},
	}},
}

func TestParse(t *testing.T) {
	got, err := policy.Parse("homenode.yaml", []byte(`# ours
thresholds:
  N005.seriousShare: 15 %
  n005.nodes: 4
  N006.minutes: 10 min
  N006.remote: 16 GB
severities:
  N001: medium
  H001: off
suppress:
  - rules: [N001, n005]
    vm: [sap*, erp01]
    cluster: prod
    reason: licensed by socket
    until: 2027-01-31
  - rules: all
    folder: /dc/vm/lab
    reason: laboratory
    until: "2026-12-31"
fix:
  owned: owner=terraform
  apart: [dc*, sql*]
  failures: 3
  shutdown: 20 min
  probe: '{name}.example.com:1433'
`), known)
	if err != nil {
		t.Fatal(err)
	}
	want := &policy.Policy{
		File:       "homenode.yaml",
		Thresholds: map[string]float64{"N005.seriousShare": 0.15, "N005.nodes": 4, "N006.minutes": 10, "N006.remote": 16},
		Severities: map[string]finding.Severity{"N001": finding.Medium},
		Off:        map[string]bool{"H001": true},
		Suppress: []policy.Suppression{
			{Rules: []string{"N001", "N005"}, VM: []string{"sap*", "erp01"}, Cluster: []string{"prod"}, Reason: "licensed by socket", Until: "2027-01-31", At: "homenode.yaml:11:5"},
			{Folder: []string{"/dc/vm/lab"}, Reason: "laboratory", Until: "2026-12-31", At: "homenode.yaml:16:5"},
		},
		Fix: policy.Fix{Owned: []string{"owner=terraform"}, Apart: []string{"dc*", "sql*"}, Failures: 3, Shutdown: 20 * time.Minute, Probe: "{name}.example.com:1433"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Parse() = %+v\nwant      %+v", got, want)
	}
	filled := want.Fix
	if filled.Start, filled.Journal = 10*time.Minute, "."; !reflect.DeepEqual(got.Fixing(), filled) {
		t.Errorf("Fixing() = %+v, want %+v", got.Fixing(), filled)
	}
	if f := (*policy.Policy)(nil).Fixing(); f.Failures != 1 || f.Shutdown != 10*time.Minute {
		t.Errorf("without a configuration: %+v", f)
	}
}

// TestParseNothing: an empty configuration changes nothing.
func TestParseNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "thresholds: {}\n"} {
		p, err := policy.Parse("c.yaml", []byte(text), known)
		if err != nil || len(p.Thresholds)+len(p.Severities)+len(p.Off)+len(p.Suppress) != 0 {
			t.Errorf("Parse(%q) = %+v, %v", text, p, err)
		}
	}
}

func TestErrors(t *testing.T) {
	const complete = "reason: r, until: 2027-01-31"
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key", "treshold:\n  N005.nodes: 4\n", `c.yaml:1:1: found "treshold", which is unknown: alike is thresholds`},
		{"unlike any", "rules: 1\n", `c.yaml:1:1: found "rules", which is unknown: want thresholds, severities, suppress, expect or fix`},
		{"twice", "severities: {}\nseverities: {}\n", `c.yaml:2:1: found severities again, line 1 has it`},
		{"no mapping", "- a\n", "c.yaml:1:1: found a list, want a mapping with thresholds, severities, suppress, expect or fix"},
		{"nothing where a mapping is", "severities:\n", "c.yaml:1:12: found nothing, want a mapping with H001, N001, N005 or N006"},
		{"threshold unknown", "thresholds:\n  N005.seriusShare: 1\n", `c.yaml:2:3: found "N005.seriusShare", which is unknown: alike is N005.seriousShare`},
		{"threshold no number", "thresholds:\n  N005.seriousShare: much\n", `c.yaml:2:22: found N005.seriousShare = "much", want a share such as 0.15 or 15 % from 0 to 1`},
		{"threshold beyond", "thresholds:\n  N005.seriousShare: 15\n", `c.yaml:2:22: found N005.seriousShare = "15", want a share such as 0.15 or 15 % from 0 to 1`},
		{"threshold no whole number", "thresholds:\n  N005.nodes: 2.5\n", `c.yaml:2:15: found N005.nodes = "2.5", want a whole number from 1 to 16`},
		{"threshold percent of a count", "thresholds:\n  N005.nodes: 200 %\n", `c.yaml:2:15: found N005.nodes = "200 %", want a whole number from 1 to 16`},
		{"threshold not a number", "thresholds:\n  N005.nodes: .nan\n", `c.yaml:2:15: found N005.nodes = ".nan", want a whole number from 1 to 16`},
		{"threshold of another time", "thresholds:\n  N006.minutes: 2 h\n", `c.yaml:2:17: found N006.minutes = "2 h", want minutes such as 5 or 5 min from 0 to 60`},
		{"threshold of too much memory", "thresholds:\n  N006.remote: 128 GB\n", `c.yaml:2:16: found N006.remote = "128 GB", want memory such as 12 or 12 GB from 1 to 64`},
		{"threshold a list", "thresholds:\n  N005.nodes: [1]\n", "c.yaml:2:15: found a list, want a text"},
		{"severity", "severities:\n  N001: urgent\n", `c.yaml:2:9: found N001: "urgent", want info, low, medium, high or off`},
		{"rule of a severity", "severities:\n  X999: low\n", `c.yaml:2:3: found "X999", which is unknown: want H001, N001, N005 or N006`},
		{"tab", "thresholds:\n\tN005.nodes: 4\n", "c.yaml:2:1: found a tab, want blanks: YAML indents with blanks alone"},
		{"tab after blanks", "severities:\n  N005: high\n  \tN001: low\n", "c.yaml:3:3: found a tab, want blanks: YAML indents with blanks alone"},
		{"long word", strings.Repeat("x", 100) + ": 1\n", "c.yaml:1:1: found \"" + strings.Repeat("x", 60) + "…\", which is unknown: want thresholds, severities, suppress, expect or fix"},
		{"no list", "suppress: N001\n", `c.yaml:1:11: found "N001", want a list of suppressions`},
		{"no reason", "suppress:\n  - {rules: N001, vm: a, until: 2027-01-31}\n", "c.yaml:2:5: found a suppression without reason: say why the findings are accepted"},
		{"empty reason", "suppress:\n  - {rules: N001, vm: a, until: 2027-01-31, reason: ' '}\n", "c.yaml:2:53: found an empty reason: say why the findings are accepted"},
		{"no until", "suppress:\n  - {rules: N001, vm: a, reason: r}\n", "c.yaml:2:5: found a suppression without until: say until which day it holds, such as 2027-01-31"},
		{"no date", "suppress:\n  - {rules: N001, vm: a, reason: r, until: 31.1.2027}\n", `c.yaml:2:44: found until = "31.1.2027", want a date such as 2027-01-31`},
		{"no such day", "suppress:\n  - {rules: N001, vm: a, reason: r, until: 2027-02-30}\n", `c.yaml:2:44: found until = "2027-02-30", want a date such as 2027-01-31`},
		{"no rules", "suppress:\n  - {vm: a, " + complete + "}\n", "c.yaml:2:5: found a suppression without rules: name them, such as [N001, N015], or all"},
		{"no such rule", "suppress:\n  - {rules: [N002], vm: a, " + complete + "}\n", `c.yaml:2:14: found rule "N002", which does not exist: homenode rules lists them`},
		{"everything", "suppress:\n  - {rules: N001, " + complete + "}\n", "c.yaml:2:5: found a suppression of everything: want vm, tag, folder, cluster or host; severities switch a rule off for all"},
		{"everything by patterns", "suppress:\n  - {rules: all, cluster: '*', vm: ['**'], " + complete + "}\n", "c.yaml:2:5: found a suppression of everything: want vm, tag, folder, cluster or host; severities switch a rule off for all"},
		{"empty pattern", "suppress:\n  - {rules: N001, vm: , " + complete + "}\n", "c.yaml:2:23: found no pattern, want one such as sql*"},
		{"long pattern", "suppress:\n  - {rules: N001, vm: [b, " + strings.Repeat("a", 1001) + "], " + complete + "}\n", "c.yaml:2:27: found a pattern of 1001 bytes, want at most 1000"},
		{"key of a suppression", "suppress:\n  - {rules: N001, vms: a, host: h, " + complete + "}\n", `c.yaml:2:19: found "vms", which is unknown: alike is vm`},
		{"suppression a text", "suppress:\n  - N001\n", `c.yaml:2:5: found "N001", want a mapping with rules, vm, tag, folder, cluster, host, reason or until`},
		{"failures", "fix: {failures: 0}\n", `c.yaml:1:17: found failures = "0", want a whole number from 1 to 1e+06`},
		{"probe", "fix: {probe: sql}\n", `c.yaml:1:14: found probe = "sql", want an address with a port, such as '{name}.example.com:1433'`},
		{"alias", "severities: &a {}\nthresholds: *a\n", "c.yaml:2:13: found an alias (*a), want a mapping with N005.nodes, N005.seriousShare, N006.minutes or N006.remote"},
		{"two documents", "severities: {}\n---\nseverities: {}\n", "c.yaml:2:1: found a second document, want one"},
		{"two faults", "severities:\n  N001: x\n  H001: y\n", "c.yaml:2:9: found N001: \"x\", want info, low, medium, high or off\nc.yaml:3:9: found H001: \"y\", want info, low, medium, high or off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := policy.Parse("c.yaml", []byte(tt.text), known)
			if err == nil {
				t.Fatalf("Parse() = %+v, want an error", p)
			}
			if err.Error() != tt.want {
				t.Errorf("error:\n%v\nwant:\n%s", err, tt.want)
			}
		})
	}
}

// TestMalformed: what YAML itself refuses has a position too.
func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"severities: [N001\n":            "c.yaml:2:1: ",
		"a: b: c\n":                      "c.yaml:1:5: ",
		"severities:\n\tN001: low\n":     "c.yaml:2:1: ",
		"suppress: *nobody\n":            "c.yaml:1:",
		"severities: \"\xff\"\n":         "c.yaml:1:",
		strings.Repeat("[", 200_000):     "c.yaml:1:",
		"severities: {N001: low}}\n":     "c.yaml:1:",
		"severities: 'no closing quote ": "c.yaml:",
	} {
		_, err := policy.Parse("c.yaml", []byte(text), known)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%.30q): %v, want an error at %s", text, err, want)
		}
	}
}

// TestDocument checks that the example of the documentation is understood, and that the
// page names every threshold with its default.
func TestDocument(t *testing.T) {
	page := golden.Read(t, filepath.Join("..", "..", "docs", "checks.md"))
	examples := 0
	for _, part := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		if _, err := policy.Parse("docs/checks.md", []byte(text), rules.All); err != nil {
			t.Errorf("example: %v", err)
		}
		examples++
	}
	if examples == 0 {
		t.Error("docs/checks.md has no example")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("thresholds: {N005.nodes: 4}\nseverities: {N001: off}\nsuppress: [{rules: all, vm: a*, reason: r, until: 2027-01-31}]\n"))
	f.Add([]byte("severities: &a {N001: low}\nsuppress: *a\n"))
	f.Add([]byte("a: [b, {c: !!binary d}]\n---\n? [x]\n: y\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := policy.Parse("fuzz", data, known)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		for _, s := range p.Suppress {
			if s.Reason == "" || s.Until == "" || len(s.VM)+len(s.Tag)+len(s.Folder)+len(s.Cluster)+len(s.Host) == 0 {
				t.Errorf("incomplete suppression: %+v", s)
			}
		}
		p.Apply(fewFindings, fewVMs, today)
	})
}
