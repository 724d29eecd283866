package measure

import (
	"slices"
	"testing"

	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// TestSimulated has what is said of an answer's probability, rounded to the worse side, and nothing where nothing was simulated.
func TestSimulated(t *testing.T) {
	r := &measured.Result{Hidden: &measured.Hidden{Answer: measured.SeveralNodes, Says: "Several.", Probability: 0.99619, FalseAlarms: 0.00383}, Machine: &machine.Machine{}, Trust: measured.Trust{OK: true}}
	want := "In simulated guests of this size such an answer was right in 99.6 % or more; guests with one node were said to have several, or far pages, in 0.4 % or less."
	if got := verdict(r); !slices.Contains(got, want) {
		t.Errorf("%q does not say %q", got, want)
	}
	r.Hidden.Probability, r.Hidden.FalseAlarms = 0, 0
	if got := verdict(r); got[len(got)-1] != "Several." {
		t.Errorf("%q", got)
	}
}
