package whatif_test

import (
	"testing"

	"homenode/change/whatif"
	"homenode/rules"
)

// TestBeside checks that a judgement that is known is taken as it is, gives the same answer, and stays as it is.
func TestBeside(t *testing.T) {
	f := whatif.Unobserved(demoFleet(t))
	changes := parse(t, "vm=sql* hotAdd=off", "host=esx0* nodesPerSocket=2", "-esx05.demo")
	known := rules.Run(f, rules.Options{})
	before := dump(t, known.Findings)
	want, err := whatif.Judge(f, changes, rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := whatif.Beside(known, f, changes, rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if dump(t, got) != dump(t, want) || got.A != known || want.A == known {
		t.Errorf("found %s\nwant %s", dump(t, got), dump(t, want))
	}
	if dump(t, known.Findings) != before {
		t.Error("the judgement has changed")
	}
}
