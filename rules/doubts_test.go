package rules_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario/given"
)

// TestReleaseDoubts says once for each release that is not described whose model counts.
func TestReleaseDoubts(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte(`release 10.0
cluster new
host esx[01-03] nodes=2 cores=18 memory=1024GB
vm a vcpus=4 memory=4GB
cluster known
host esx[11-12] release=8.0U3 nodes=2 cores=18 memory=1024GB
host esx14 release=8.0U9 nodes=2 cores=18 memory=1024GB
host esx13 release=9.5 nodes=2 cores=18 memory=1024GB
vm b vcpus=4 memory=4GB
`))
	want := []numa.Note{
		{Text: "1 host: release 9.5 is not described yet: the model of 9.0 is used"},
		{Text: "3 hosts: release 10.0 is not described yet: the model of 9.0 is used"},
		{Text: "1 host: release 8.0 U9 is not known: it is judged as 8.0 U3, the newest that is"},
	}
	if got := rules.Run(f, rules.Options{}).Unjudged; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestContradicted: a finding of medium or high severity about a VM whose source contradicts itself names what it rests on.
func TestContradicted(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\nhost h nodes=2 cores=12 memory=512GB\nvm v host=h vcpus=18 memory=64GB hotAdd=on coresPerSocket=? hw=19\n"))
	for doubt, want := range map[string]string{"": "reads 100", "CPUs 18, but 2 sockets × 8": "; only if 18 vCPUs are right: its source states CPUs 18, but 2 sockets × 8"} {
		f.VMs[0].Doubt = doubt
		for _, one := range rules.Run(f, rules.Options{}).Findings {
			if one.Severity == finding.High && !strings.HasSuffix(one.Message, want) {
				t.Errorf("%q: %s", doubt, one.Message)
			}
		}
	}
}
