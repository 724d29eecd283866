package knownfault

import (
	"example.org/homenode/internal/golden"
	"fmt"
	"strings"
	"testing"
)

// TestFaults checks that the table is complete, its ranges are ranges, and that the
// scenario shows each fault.
func TestFaults(t *testing.T) {
	fires := golden.Read(t, "testdata/fires.txtar")
	seen, sources := map[string]bool{}, strings.Join(Rule.Sources, "\n")
	if !strings.HasSuffix(Rule.Limits, limits()) {
		t.Errorf("the page does not end its limits with the table:%s", limits())
	}
	for i := range faults {
		f := &faults[i]
		if f.text == "" || f.fix == "" || f.holds == nil || !strings.Contains(sources, "KB "+f.kb) || seen[f.kb] {
			t.Errorf("KB %s is incomplete or there twice", f.kb)
		}
		seen[f.kb] = true
		if f.first >= f.upTo {
			t.Errorf("KB %s: from %s to before %s", f.kb, f.first, f.upTo)
		}
		if i > 0 && faults[i-1].first < f.first {
			t.Errorf("KB %s stands after an older one", f.kb)
		}
		if !strings.Contains(string(fires), " KB "+f.kb+" on ") {
			t.Errorf("KB %s does not fire in testdata/fires.txtar", f.kb)
		}
	}
}

// limits is the table as the page of the rule has it.
func limits() string {
	var b strings.Builder
	for i := range faults {
		f := &faults[i]
		fmt.Fprintf(&b, "\n- KB %s: %s to before %s", f.kb, f.first, f.upTo)
		if f.unsure > 0 {
			fmt.Fprintf(&b, "; which later release has the fix is not published: info from %s to before %s", f.upTo, f.unsure)
		}
		b.WriteString(".")
	}
	return b.String()
}
