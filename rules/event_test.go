package rules_test

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
)

// TestValidCookie: a stored size with a valid cookie is no fault when an event sizes the VM afresh.
func TestValidCookie(t *testing.T) {
	r := runText(t, "release 7.0U3\nhost h nodes=2 cores=18 memory=512GB\nvm v host=h vcpus=24 memory=96GB hw=19 stored=12 numa.vcpu.preferHT=TRUE\n")
	v := r.Clusters[0].VMs[0]
	l := vnuma.Predict(&v.Guest, &v.Home.Machine, &vnuma.Case{Event: vnuma.VCPUsChanged})
	for _, f := range r.There(v, v.Host, &v.Home.Machine, &l) {
		if f.Rule == "N016" {
			t.Errorf("%s", f.Message)
		}
	}
	if l.Why == vnuma.ByStored {
		t.Error("the event does not size it afresh: the test shows nothing")
	}
}
