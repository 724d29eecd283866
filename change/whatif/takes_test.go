package whatif_test

import (
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/rules"
	"example.org/homenode/size/fit"
)

// TestTakesRoom: assess, what-if and size fit count the same VMs on a host, without those that do not power on.
func TestTakesRoom(t *testing.T) {
	f := fleet(t, `release 8.0
cluster c
host a1 nodes=2 cores=8 memory=256GB mhz=2000
host a2 nodes=2 cores=8 memory=256GB mhz=2000
vm runs    host=a1 vcpus=4 memory=16GB
vm vast    host=a1 vcpus=64 memory=64GB
vm reserve host=a1 vcpus=4 memory=200GB reserveAll=on
vm denied  host=a1 vcpus=4 memory=200GB reserveAll=on
vm latency host=a1 vcpus=4 memory=16GB latency=high
vm stays   host=a1 vcpus=40 memory=16GB power=on
vm off     host=a1 vcpus=4 memory=16GB power=off
`)
	r := rules.Run(f, rules.Options{})
	want := 0
	for _, v := range r.Clusters[0].Running(r.Clusters[0].Hosts[0]) {
		want += int(v.Guest.VCPUs)
	}
	if want != 48 { // runs, reserve, stays
		t.Errorf("%d vCPUs run, want 48", want)
	}
	changes, err := whatif.Parse("vm=vast vcpus=8")
	if err != nil {
		t.Fatal(err)
	}
	w, err := whatif.Judge(t.Context(), nil, f, []whatif.Change{changes}, rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := w.Capacity; len(c) == 0 || c[0].Before.VCPUs != want || c[0].After.VCPUs != want+8 || c[0].Stopped != 0 {
		t.Errorf("what-if counts %+v, want %d vCPUs, and 8 more", c, want)
	}
	c, err := fit.Find(f, "c")
	if err != nil {
		t.Fatal(err)
	}
	placed := 0
	for _, v := range c.VMs {
		placed += int(v.VCPUs.Value)
	}
	if placed != want || len(c.Off) != 1 || len(c.Notes) != 3 {
		t.Errorf("size fit counts %d vCPUs, want %d; %d off; %q", placed, want, len(c.Off), c.Notes)
	}
}
