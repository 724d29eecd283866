package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

var (
	today  = time.Date(2026, 11, 21, 23, 30, 0, 0, time.UTC)
	fewVMs = &numa.Fleet{VMs: []numa.VM{
		{ID: "1", Name: "sap01", Folder: "/dc/vm/SAP/prod", Tags: []string{"numa-ok", "gold"}},
		{ID: "2", Name: "erp01", Folder: "/dc/vm/sapling"},
	}}
	fewFindings = []finding.Finding{
		{Rule: "N001", VM: "sap01", VMID: "1", Cluster: "prod", Host: "esx01.example.com", Severity: finding.High},
		{Rule: "N005", VM: "sap01", VMID: "1", Cluster: "prod", Host: "esx01.example.com", Severity: finding.Medium},
		{Rule: "N001", VM: "erp01", VMID: "2", Cluster: "prod", Host: "esx02.example.com", Severity: finding.High},
		{Rule: "H001", Cluster: "prod", Host: "esx01.example.com", Severity: finding.High},
		{Rule: "H006", Cluster: "lab", Host: "esx03.example.com", About: []string{"esx03.example.com", "esx04.example.com"}, Severity: finding.Low},
	}
)

// names lists findings as "N001 sap01".
func names(all []finding.Finding) string {
	var out []string
	for _, f := range all {
		out = append(out, f.Rule+" "+f.Severity.String()+" "+f.Subject())
	}
	return strings.Join(out, ", ")
}

func TestSuppress(t *testing.T) {
	const until = "2027-01-31"
	for _, tt := range []struct {
		name string
		s    policy.Suppression
		want string // the findings that are suppressed
	}{
		{"one VM", policy.Suppression{Rules: []string{"N001"}, VM: []string{"sap01"}}, "N001 high prod/sap01"},
		{"a pattern, in any case", policy.Suppression{Rules: []string{"N001"}, VM: []string{"SAP*", "none"}}, "N001 high prod/sap01"},
		{"one character", policy.Suppression{VM: []string{"erp0?"}}, "N001 high prod/erp01"},
		{"not a part of the name", policy.Suppression{VM: []string{"sap"}}, ""},
		{"no regular expression", policy.Suppression{VM: []string{"s.p01"}}, ""},
		{"all rules", policy.Suppression{VM: []string{"sap01"}}, "N001 high prod/sap01, N005 medium prod/sap01"},
		{"tag", policy.Suppression{Tag: []string{"GOLD"}}, "N001 high prod/sap01, N005 medium prod/sap01"},
		{"folder and below", policy.Suppression{Folder: []string{"/dc/vm/sap/"}}, "N001 high prod/sap01, N005 medium prod/sap01"},
		{"host by its short name, its VMs with it", policy.Suppression{Host: []string{"esx01"}}, "N001 high prod/sap01, N005 medium prod/sap01, H001 high prod/esx01.example.com"},
		{"one of the hosts it is about", policy.Suppression{Host: []string{"esx03"}}, ""},
		{"all hosts it is about", policy.Suppression{Host: []string{"esx03", "esx04*"}}, "H006 low lab/esx03.example.com"},
		{"cluster and rule", policy.Suppression{Rules: []string{"H001"}, Cluster: []string{"prod"}}, "H001 high prod/esx01.example.com"},
		{"both must match", policy.Suppression{VM: []string{"sap*"}, Host: []string{"esx02"}}, ""},
		{"hosts have no folder", policy.Suppression{Rules: []string{"H001"}, Folder: []string{"*"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.Until, tt.s.Reason = until, "why"
			p := policy.Policy{Suppress: []policy.Suppression{tt.s}}
			a := p.Apply(fewFindings, fewVMs, today)
			var got []finding.Finding
			for _, s := range a.Suppressed {
				got = append(got, s.Finding)
				if s.By.Reason != "why" {
					t.Errorf("suppressed by %+v", s.By)
				}
			}
			if names(got) != tt.want || len(got)+len(a.Findings) != len(fewFindings) {
				t.Errorf("suppressed %q, want %q; %d are left", names(got), tt.want, len(a.Findings))
			}
		})
	}
}

// TestUntil: the day itself counts, the next does not.
func TestUntil(t *testing.T) {
	s := policy.Suppression{Rules: []string{"N001"}, VM: []string{"*"}, Reason: "a trial", At: "homenode.yaml:3"}
	for until, want := range map[string]string{
		"2026-11-21": "",
		"2026-11-20": "homenode.yaml:3: the suppression of N001 ended on 2026-11-20; findings that count again: 2; renew or remove it (a trial)",
	} {
		s.Until = until
		p := policy.Policy{Suppress: []policy.Suppression{s}}
		a := p.Apply(fewFindings, fewVMs, today)
		got := ""
		for _, n := range a.Notes {
			got += n.String()
		}
		if got != want || (len(a.Suppressed) == 2) != (want == "") {
			t.Errorf("until %s: %d suppressed, notes %q, want %q", until, len(a.Suppressed), got, want)
		}
	}
	// An older one that is over does not hide one that holds.
	over, holds := s, s
	over.Until, holds.Until = "2026-01-01", "2027-01-01"
	p := policy.Policy{Suppress: []policy.Suppression{over, holds}}
	a := p.Apply(fewFindings, fewVMs, today)
	if len(a.Suppressed) != 2 || len(a.Notes) != 1 || a.Notes[0].Text != "the suppression of N001 ended on 2026-01-01 and means no finding that counts: remove it (a trial)" {
		t.Errorf("%d suppressed, notes %v", len(a.Suppressed), a.Notes)
	}
}

func TestMeansNothing(t *testing.T) {
	p := policy.Policy{Suppress: []policy.Suppression{{VM: []string{"gone"}, Reason: "r", Until: "2027-01-01", At: "c.yaml:2"}}}
	a := p.Apply(fewFindings, fewVMs, today)
	if len(a.Notes) != 1 || a.Notes[0].String() != `c.yaml:2: the suppression of all rules means no finding, and the fleet has no VM "gone": correct or remove it (r)` {
		t.Errorf("notes: %v", a.Notes)
	}
}

// TestStrange: a misspelt pattern is told of, also where another one of the list means
// something.
func TestStrange(t *testing.T) {
	fleet := *fewVMs
	fleet.Clusters = []numa.Cluster{{ID: "c1", Name: "prod"}}
	fleet.Hosts = []numa.Host{{ID: "h1", Name: "esx01.example.com"}}
	for _, tt := range []struct {
		name string
		s    policy.Suppression
		want string
	}{
		{"all mean something", policy.Suppression{VM: []string{"sap*", "ERP0?"}, Host: []string{"esx*"}}, ""},
		{"one misspelt", policy.Suppression{VM: []string{"sap*", "epr01"}}, `c.yaml:2: the suppression of all rules: the fleet has no VM "epr01" (r)`},
		{"of every kind", policy.Suppression{VM: []string{"sap[11-12]"}, Tag: []string{"silver"}, Folder: []string{"/dc/vm/sapl"}, Cluster: []string{"prd"}, Host: []string{"esx02"}},
			`c.yaml:2: the suppression of all rules means no finding, and the fleet has no VM "sap[11-12]", tag "silver", folder "/dc/vm/sapl", cluster "prd", host "esx02": correct or remove it (r)`},
		{"names without findings", policy.Suppression{Rules: []string{"N002"}, VM: []string{"sap01"}}, "c.yaml:2: the suppression of N002 means no finding: remove it (r)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.Reason, tt.s.Until, tt.s.At = "r", "2027-01-01", "c.yaml:2"
			p := policy.Policy{Suppress: []policy.Suppression{tt.s}}
			var got []string
			for _, n := range p.Apply(fewFindings, &fleet, today).Notes {
				got = append(got, n.String())
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("notes %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSeverities(t *testing.T) {
	p := policy.Policy{Severities: map[string]finding.Severity{"N001": finding.Low}, Off: map[string]bool{"H001": true}}
	before := slices.Clone(fewFindings)
	a := p.Apply(fewFindings, fewVMs, today)
	if got, want := names(a.Findings), "N001 low prod/sap01, N005 medium prod/sap01, N001 low prod/erp01, H006 low lab/esx03.example.com"; got != want || a.Off != 1 {
		t.Errorf("%q, %d off; want %q, 1 off", got, a.Off, want)
	}
	if names(before) != names(fewFindings) {
		t.Error("Apply changes its argument")
	}
}

// TestRecorded: a suppression for the other kind of rules is not told of as one that
// means nothing, and recordings tell of none but those that are over.
func TestRecorded(t *testing.T) {
	known := []*rule.Rule{{ID: "M001", Watch: func(*rule.Watch) {}}, {ID: "N001"}, {ID: "N005"}}
	p, err := policy.Parse("c.yaml", []byte(`severities: {M001: low}
suppress:
  - {rules: M001, vm: db*, reason: a, until: 2027-01-01}
  - {rules: N005, vm: gone, reason: b, until: 2027-01-01}
  - {rules: all, vm: erp01, cluster: none, reason: c, until: 2027-01-01}
  - {rules: M001, vm: old*, reason: d, until: 2026-01-01}
`), known)
	if err != nil {
		t.Fatal(err)
	}
	seen := []finding.Finding{
		{Rule: "M001", VM: "db01", GID: 7, Host: "esx01", Severity: finding.High},
		{Rule: "M001", VM: "old01", GID: 8, Host: "esx01", Severity: finding.High},
		{Rule: "M001", VM: "web01", GID: 9, Host: "esx01", Severity: finding.High},
	}
	a := p.ApplyRecorded(seen, &numa.Fleet{}, today)
	if got, want := names(a.Findings), "M001 low old01, M001 low web01"; got != want || len(a.Suppressed) != 1 {
		t.Errorf("%q and %d suppressed, want %q and 1", got, len(a.Suppressed), want)
	}
	if got, want := notes(a), "c.yaml:6:5: the suppression of M001 ended on 2026-01-01; findings that count again: 1; renew or remove it (d)\n"; got != want {
		t.Errorf("notes\n%swant\n%s", got, want)
	}
	fleet := *fewVMs
	fleet.Clusters = []numa.Cluster{{ID: "c1", Name: "none"}}
	want := `c.yaml:4:5: the suppression of N005 means no finding, and the fleet has no VM "gone": correct or remove it (b)
c.yaml:5:5: the suppression of all rules means no finding of the fleet: remove it, unless it is for recordings (c)
`
	if got := notes(p.Apply(fewFindings, &fleet, today)); got != want {
		t.Errorf("notes about the fleet\n%swant\n%s", got, want)
	}
}

func notes(a policy.Applied) string {
	var b strings.Builder
	for _, n := range a.Notes {
		b.WriteString(n.String() + "\n")
	}
	return b.String()
}
