package fleet

import (
	"testing"

	"homenode/rules/finding"
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
		got := exampleVM([]finding.Finding{{VM: tt.name, VMID: tt.id}}, false)
		if got != tt.want {
			t.Errorf("exampleVM(%q, %q) = %s, want %s", tt.name, tt.id, got, tt.want)
		}
	}
}
