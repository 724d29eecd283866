package optimise_test

import (
	"testing"

	"example.org/homenode/change/optimise"
	"example.org/homenode/source/scenario"
)

// TestNodeInterleaving checks that a host which hides its nodes is no better place:
// everything looks local there.
func TestNodeInterleaving(t *testing.T) {
	f, err := scenario.Read("cluster", []byte(`release 8.0
cluster prod
host esx1 nodes=2 cores=16 memory=256GB
host esx2 nodes=1 packages=2 cores=32 memory=256GB
vm wide host=esx1 vcpus=24 memory=128GB hotAdd=on
vm small host=esx2 vcpus=4 memory=16GB`))
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := optimise.FromFleet(t.Context(), f, "prod", nil, optimise.Constraints{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.VMs[1].Shapes[0].Fits[p.Hosts[1].Kind].Far, int64(8<<10); got != want {
		t.Errorf("small has %d MiB far on the interleaved host, want %d", got, want)
	}
	proposal, err := optimise.Solve(t.Context(), p, optimise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range proposal.Steps {
		if p.VMs[s.VM].Name == "wide" && s.To == 1 {
			t.Errorf("step %+v moves a VM to the host that hides its nodes", s)
		}
	}
	if proposal.After.Far != 0 {
		t.Errorf("after: %v, want nothing far", proposal.After)
	}
}
