package change_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/output/change"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestOneHost moves a VM to a cluster of unlike hosts: the headline, the reason and the drawing are about the same hosts, which give the
// worst layout, and the answer states how many hosts these are and how it is on the others.
func TestOneHost(t *testing.T) {
	f := given.Fleet(t, "fleet.txt", []byte(`release 8.0U3
cluster c
host a nodes=2 cores=16 memory=512GB
vm db host=a vcpus=8 coresPerSocket=1 memory=64GB hotAdd=on hw=19
cluster large
host e1 nodes=2 cores=32 memory=1024GB
host e2 nodes=2 cores=32 memory=1024GB
host e3 nodes=2 cores=32 memory=1024GB
host small1 nodes=4 cores=16 memory=1024GB
host small2 nodes=4 cores=16 memory=1024GB
`))
	for _, tt := range []struct{ vcpus, hosts, host string }{
		{"48", "small1 and small2 (2 of 5 hosts; 50 % remote on the others)", "small1"},
		{"24", "small1 and small2 (2 of 5 hosts; 0 % remote on the others)", "small1"},
	} {
		c, err := whatif.Parse("vm=db vcpus=" + tt.vcpus + " host=large")
		if err != nil {
			t.Fatal(err)
		}
		r, err := whatif.Judge(t.Context(), nil, f, []whatif.Change{c}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := change.WhatIf(r, change.Options{})
		if headline := strings.Join(a.Verdict, " "); !strings.Contains(headline, " on "+tt.hosts) {
			t.Errorf("%s vCPUs: found the headline %q\nwant it to be about %s", tt.vcpus, headline, tt.hosts)
		}
		if why := fmt.Sprint(r.VMs[0].Why); !strings.Contains(why, "when on "+tt.hosts) {
			t.Errorf("%s vCPUs: found the reasons %s\nwant them to be about %s", tt.vcpus, why, tt.hosts)
		}
		if about := a.Drawings[len(a.Drawings)-1].About; !strings.HasSuffix(about, " on "+tt.host) {
			t.Errorf("%s vCPUs: found the drawing %q, want it of %s", tt.vcpus, about, tt.host)
		}
	}
}
