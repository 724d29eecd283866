package answer_test

import (
	"testing"

	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
)

// TestObjects: the count of a row is that of the VMs and hosts which the row names.
func TestObjects(t *testing.T) {
	all := []*finding.Finding{{Cluster: "a", Host: "esx1", About: []string{"esx1", "esx2", "esx3"}}, {Cluster: "b", VM: "sql"}}
	named := answer.Findings{Subject: func(f *finding.Finding) answer.Subject { return answer.Subject{Name: f.Subject(), Group: f.Cluster} }}
	if got, n := named.Named(all), answer.Objects(all); got != "a/esx1 +2, b/sql" || n != 4 {
		t.Errorf("named %q, counted %d", got, n)
	}
}
