package answer

import (
	"testing"

	"example.org/homenode/rules/finding"
)

// A host with several findings of a rule is one name; two VMs of one name are two.
func TestNamed(t *testing.T) {
	f := &Findings{Subject: func(f *finding.Finding) Subject {
		name := f.VM + f.Host
		return Subject{Name: f.Cluster + "/" + name, Short: name, Group: f.Cluster}
	}}
	for _, c := range []struct {
		name     string
		findings []*finding.Finding
		want     string
	}{
		{"one host twice", []*finding.Finding{{Cluster: "a", Host: "h1"}, {Cluster: "a", Host: "h1"}, {Cluster: "a", Host: "h2"}}, "a/h1 +1"},
		{"lists of hosts overlap", []*finding.Finding{{Cluster: "a", Host: "h1", About: []string{"h1", "h2"}}, {Cluster: "a", Host: "h2", About: []string{"h2", "h3"}}}, "a/h1 +2"},
		{"VMs of one name", []*finding.Finding{{Cluster: "a", VM: "db", VMID: "vm-1"}, {Cluster: "a", VM: "db", VMID: "vm-2"}}, "a/db +1"},
		{"groups", []*finding.Finding{{Cluster: "a", VM: "db", VMID: "vm-1"}, {Cluster: "b", VM: "db", VMID: "vm-2"}}, "a/db, b/db"},
	} {
		if got := f.Named(c.findings); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
