package fleet

import (
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/source/scenario"
)

// TestPlanWords: the first word of a plan says what a plan of changes does with it, and the reason is told where it leaves it out.
func TestPlanWords(t *testing.T) {
	f, err := scenario.Read("test", []byte(`release 7.0U3
cluster c
host h0 nodes=2 cores=16 memory=256GB
vm off     host=h0 vcpus=8 memory=16GB coresPerSocket=8 power=off numa.vcpu.maxPerVirtualNode=8
vm hidden  host=h0 vcpus=24 memory=16GB coresPerSocket=12 hotAdd=on
vm vCLS-1  host=h0 vcpus=24 memory=16GB coresPerSocket=12 hotAdd=on
vm spread  host=h0 vcpus=8 memory=16GB coresPerSocket=8 numa.consolidate=FALSE
vm resting host=h0 vcpus=8 memory=16GB coresPerSocket=8 numa.consolidate=FALSE power=off
`))
	if err != nil {
		t.Fatal(err)
	}
	vms, plans := rules.Run(f, rules.Options{}).Proposals()
	got := map[string][2]string{}
	for i, v := range vms {
		rows := planRows(plans[i])
		word := [2]string{rows[0][0]}
		for _, row := range rows {
			if row[0] == "left out" {
				word[1] = row[1]
			}
		}
		got[v.Name] = word
	}
	for name, want := range map[string][2]string{
		"off": {"included"}, "hidden": {"needed"}, "vCLS-1": {"needed", "vSphere manages it (vCLS)"}, "spread": {"not urgent"}, "resting": {"included"},
	} {
		if got[name] != want {
			t.Errorf("%s: the plan begins with %q, want %q", name, got[name], want)
		}
	}
}
