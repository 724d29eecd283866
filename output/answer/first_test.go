package answer

import (
	"slices"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

// The first action is about the VM with the most remote memory, then with the most vCPUs, whatever the VMs are called.
func TestFirstNamesTheLargest(t *testing.T) {
	one := func(vm string, remote numa.Bytes, vcpus int) finding.Finding {
		return finding.Finding{Rule: "N001", Severity: finding.High, VM: vm, Remote: remote, VCPUs: vcpus}
	}
	f := &Findings{Judgement: &rules.Judgement{}, Subject: func(f *finding.Finding) Subject { return Subject{Name: f.VM} }}
	for _, c := range []struct {
		name     string
		findings []finding.Finding
		want     string
	}{
		{"remote memory", []finding.Finding{one("a", 8, 40), one("b", 64, 24), one("c", 32, 64)}, "b"},
		{"vCPUs", []finding.Finding{one("a", 8, 20), one("b", 8, 24), one("c", 8, 24)}, "b"},
		{"a VM that is off", []finding.Finding{{Rule: "N001", Severity: finding.High, VM: "a", Remote: 64, Off: true}, one("b", 8, 24)}, "b"},
		{"hosts", []finding.Finding{one("x", 0, 0), one("y", 0, 0)}, "x"},
	} {
		f.Findings = c.findings
		if first := f.First(); len(first) != 1 || first[0].Subject.Name != c.want || first[0].Alike != len(c.findings)-1 {
			t.Errorf("%s: %+v, want %s", c.name, first, c.want)
		}
	}
	f.Findings = []finding.Finding{one("a", 8, 40), one("b", 64, 24), one("c", 32, 64), one("c", 16, 64)}
	if first := f.First(); !slices.Equal(first[0].Also, []string{"a", "c"}) {
		t.Errorf("others of the first action: %q", first[0].Also)
	}
	// Each VM is named once, as long as the rule has others.
	about := func(rule, id string, remote numa.Bytes) finding.Finding {
		return finding.Finding{Rule: rule, Severity: finding.High, VM: id, VMID: id, Remote: remote}
	}
	f.Findings = []finding.Finding{about("N001", "a", 64), about("N001", "b", 8), about("N005", "a", 64), about("N005", "b", 8), about("N013", "a", 64)}
	var got []string
	for _, first := range f.First() {
		got = append(got, first.Subject.Name)
	}
	if want := []string{"a", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
