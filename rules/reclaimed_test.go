package rules_test

import (
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario"
)

// TestReclaimedOfHost: the finding about a host with less memory than its running VMs is medium, and names memory that is ballooned or swapped already, unless the VM's own limit
// does it.
func TestReclaimedOfHost(t *testing.T) {
	for _, tt := range []struct {
		name      string
		reclaimed numa.Bytes
		limit     string
		names     bool
	}{
		{"promised", 0, "", false},
		{"ballooned", 20 * numa.GiB, "", true},
		{"ballooned by its limit", 20 * numa.GiB, " memoryLimit=100GB", false},
	} {
		f, err := scenario.Read("x", []byte("release 8.0U3\nhost h nodes=2 cores=16 memory=256GB\nvm v[1-3] host=h vcpus=4 memory=120GB power=on\nvm w host=h vcpus=4 memory=120GB power=on"+tt.limit+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		for c := range f.VMs {
			if f.VMs[c].Name == "w" {
				f.VMs[c].Reclaimed = numa.ReadAt(tt.reclaimed, "ballooned")
			}
		}
		found := false
		for _, one := range rules.Run(f, rules.Options{}).Findings {
			if one.Rule == "H007" {
				found = true
				if one.Severity != finding.Medium || strings.Contains(one.Message, "20 GB are ballooned or swapped now") != tt.names {
					t.Errorf("%s: %s %s", tt.name, one.Severity, one.Message)
				}
			}
		}
		if !found {
			t.Errorf("%s: no finding", tt.name)
		}
	}
}
