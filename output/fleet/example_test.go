package fleet

import (
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

func TestExampleVM(t *testing.T) {
	for _, tt := range []struct {
		name, id string
		want     string
	}{
		{"sql01", "vm-1", "sql01"},
		{"größe-01.example.com", "vm-1", "größe-01.example.com"},
		{"a b", "vm-1", "'a b'"},
		{"it's", "vm-1", `'it'\''s'`},
		{"$(reboot)", "vm-1", "'$(reboot)'"},
		{"#1", "vm-1", "'#1'"},
		{"~root", "vm-1", "'~root'"},
		{"a!b", "vm-1", "'a!b'"},
		{"--host=x", "vm-1", "vm-1"},
		{"a\nb", "vm-1", "vm-1"},
		{"\u202eabc", "vm-1", "vm-1"},
		{"a\nb", "a\nb", ""},
		{"", "", ""}, // a finding about a host
	} {
		got := exampleVM(found(tt.name, tt.id), false)
		if got != tt.want {
			t.Errorf("exampleVM(%q, %q) = %s, want %s", tt.name, tt.id, got, tt.want)
		}
	}
	r := found("app", "vm-2")
	r.Fleet.VMs = []numa.VM{{ID: "vm-1", Name: "app"}, {ID: "vm-2", Name: "app"}}
	if got := exampleVM(r, false); got != "vm-2" {
		t.Errorf("of two VMs of one name: %s, want vm-2", got)
	}
}

// found returns a judgement with a finding about a VM.
func found(name, id string) *rules.Result {
	r := &rules.Result{Fleet: &numa.Fleet{VMs: []numa.VM{{ID: id, Name: name}}}}
	r.Findings = []finding.Finding{{VM: name, VMID: id}}
	return r
}
