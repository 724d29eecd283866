package fleet

import (
	"testing"

	"example.org/homenode/numa"
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
		got := example(tt.name, tt.id)
		if got != tt.want {
			t.Errorf("exampleVM(%q, %q) = %s, want %s", tt.name, tt.id, got, tt.want)
		}
	}
	same := numa.VM{ID: "vm-1", Name: "app"}
	if got := example("app", "vm-2", same); got != "vm-2" {
		t.Errorf("of two VMs of one name: %s, want vm-2", got)
	}
}

// example returns the example of a fleet with a finding about a VM, and with other VMs.
func example(name, id string, others ...numa.VM) string {
	fleet := &numa.Fleet{VMs: append(others, numa.VM{ID: id, Name: name})}
	return exampleVM(fleet, []finding.Finding{{VM: name, VMID: id}}, false)
}
