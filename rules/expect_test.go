package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/rules"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/scenario"
)

// TestExpect: an expectation is met, broken, cannot be told, or fails; only the first says nothing.
func TestExpect(t *testing.T) {
	const fleet = `release 8.0U3
cluster c
host esx01 nodes=2 cores=16 memory=512GB
host esx02 nodes=2 cores=32 memory=1024GB
vm big host=esx01 vcpus=32 memory=64GB hotAdd=on
vm small host=esx01 vcpus=4 memory=8GB hotAdd=on numa.vcpu.preferHT=TRUE
vm odd host=esx01 vcpus=32 memory=64GB hotAdd=?
vm golden host=esx01 vcpus=32 memory=64GB hotAdd=on template=yes power=off
vm homeless cluster=none vcpus=12 memory=64GB hotAdd=off
`
	for _, tt := range []struct {
		name, that, more string
		want             []string // VM, hosts and message
		failed           string
	}{
		{"of the VM", "vcpus <= 8 || !hotAdd", "", []string{"big [] not as expected: M", "odd [] it cannot be told whether it is as expected (M): unknown: hotAdd"}, ""},
		{"of the layout", "guestNodes == clients && powersOn", "", []string{"big [esx01] not as expected: M",
			"homeless [] it cannot be told whether it is as expected (M): unknown: guestNodes, clients, powersOn"}, ""},
		{"of findings", `!("N001" in findings)`, "", []string{"big [] not as expected: M"}, ""},
		{"of settings", `settings["numa.vcpu.preferHT"] != "TRUE"`, "", []string{"small [] not as expected: M"}, ""},
		{"of the host", "hostNodes == 2 && release >= 8.0", "    for: cluster == \"c\"\n", nil, ""},
		{"of some", "vcpus < 4", "    for: name startsWith \"sm\"\n", []string{"small [] not as expected: M"}, ""},
		{"over", "vcpus < 4", "    until: 2026-11-20\n", nil, ""},
		{"an error", `int(name) > 3`, "    for: name == \"big\"\n", []string{"big [] it cannot be evaluated: invalid operation: int(big) (1:1)"},
			"c.yaml:2:5: the expectation own cannot be evaluated for VM big: invalid operation: int(big) (1:1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := scenario.Read("fleet", []byte(fleet))
			if err != nil {
				t.Fatal(err)
			}
			p, err := policy.Parse("c.yaml", fmt.Appendf(nil, "expect:\n  - name: own\n    that: %q\n    message: M\n    severity: high\n%s", tt.that, tt.more), rules.All)
			if err != nil {
				t.Fatal(err)
			}
			r := rules.Run(f, rules.Options{Policy: p, Today: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)})
			var got []string
			for i := range r.Findings {
				if one := &r.Findings[i]; one.Rule == "own" {
					got = append(got, fmt.Sprintf("%s %v %s", one.VM, one.On, one.Message))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if failed := fmt.Sprint(r.Failed); r.Failed != nil && failed != tt.failed || (r.Failed == nil) != (tt.failed == "") {
				t.Errorf("failed: %v, want %s", r.Failed, tt.failed)
			}
			if r.Rule("own") == nil || tt.name == "over" && len(r.PolicyNotes) != 1 {
				t.Errorf("the rule is not listed, or nothing is noted: %v", r.PolicyNotes)
			}
		})
	}
}

// TestExpectPolicy: what names rules can name those of the owner, wherever they stand.
func TestExpectPolicy(t *testing.T) {
	f, err := scenario.Read("fleet", []byte("cluster c\nhost h nodes=2 cores=16 memory=512GB release=8.0U3\nvm a vcpus=4 memory=8GB\nvm b vcpus=4 memory=8GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse("c.yaml", []byte(`severities: {own: low}
suppress: [{rules: own, vm: a, reason: r, until: 2027-01-01}]
expect: [{name: own, that: vcpus > 4, message: M}]
`), rules.All)
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{Policy: p, Today: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)})
	if len(r.Findings) != 1 || r.Findings[0].VM != "b" || r.Findings[0].Severity.String() != "low" || len(r.Suppressed) != 1 {
		t.Errorf("%+v, suppressed %d", r.Findings, len(r.Suppressed))
	}
}
