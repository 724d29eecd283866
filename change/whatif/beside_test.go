package whatif_test

import (
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/rules"
)

// TestBeside checks that a judgement that is known is taken as it is, gives the same answer, and stays as it is: of every kind of change,
// for a cluster that is not judged again keeps its findings.
func TestBeside(t *testing.T) {
	f := whatif.Unobserved(demoFleet(t))
	known := rules.Run(f, rules.Options{})
	before := dump(t, known.Findings)
	for _, words := range [][]string{
		{"vm=sql* hotAdd=off", "host=esx0* nodesPerSocket=2", "lose-host=esx05.demo"},
		{"vm=sql01 host=esx15.demo"}, {"vm=sql01 vcpus=4"}, {"vm=sql01 numa.vcpu.maxPerMachineNode=4"}, {"host=esx11.demo release=8.0U3"},
		{"cluster=mixed vm=* memory=1TB"}, {"lose-host=esx11.demo"}, {"lose-host=esx05.demo", "vm=sql* hotAdd=off"}, {"add-host=esx15.demo cluster=prod-a"}, {"vm=* hotAdd=off"},
	} {
		changes := parse(t, words...)
		changed, _, err := whatif.Apply(t.Context(), f, changes, rules.Options{}.Choices)
		if err != nil {
			t.Fatal(words, err)
		}
		got, err := whatif.Judge(t.Context(), known, f, changes, rules.Options{}, nil)
		if err != nil {
			t.Fatal(words, err)
		}
		want := rules.Run(changed, rules.Options{})
		if g, w := dump(t, got.B.Findings), dump(t, want.Findings); g != w || got.A != known || dump(t, got.B.Unjudged) != dump(t, want.Unjudged) {
			t.Errorf("%q: found %d findings, want %d, or others", words, len(got.B.Findings), len(want.Findings))
		}
		if dump(t, known.Findings) != before {
			t.Fatalf("%q: the judgement has changed", words)
		}
	}
}
