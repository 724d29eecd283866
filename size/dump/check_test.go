package dump

import "testing"

// TestChecks checks that every published figure is reproduced or listed as the article's
// own inconsistency, and how many there are of each.
func TestChecks(t *testing.T) {
	count := map[string]int{}
	for _, p := range Checks() {
		verdict := p.Verdict()
		count[verdict]++
		if verdict == "MISSED" {
			t.Errorf("%s %s, %s: printed %s, computed %v", p.ID, p.What, p.Quantity, p.Printed, p.Computed)
		}
		if p.Inconsistency != "" && p.Reproduced() {
			t.Errorf("%s %s, %s: listed as %s but reproduced", p.ID, p.What, p.Quantity, p.Inconsistency)
		}
	}
	want := map[string]int{"restated": 25, "unit": 5, "circular": 1, "I-15": 4, "I-16": 3, "I-17": 2}
	for verdict, n := range want {
		if count[verdict] != n {
			t.Errorf("%s: found %d, want %d", verdict, count[verdict], n)
		}
	}
}
