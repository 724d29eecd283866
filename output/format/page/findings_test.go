package page

import (
	"slices"
	"testing"

	"example.org/homenode/rules/finding"
)

// TestSilent counts the folded findings of a rule by their own severity, not by the worst of the rule.
func TestSilent(t *testing.T) {
	cards := []*ruleCard{
		{Severity: finding.Low, Count: 1003, Counts: []severityCount{{finding.Low, 3}, {finding.Info, 1000}}},
		{Severity: finding.Info, Count: 2, Counts: []severityCount{{finding.Info, 2}}},
	}
	if got, want := silent(cards), "3 low, 1,002 info"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHeadline: the headline of a page is one sentence.
func TestHeadline(t *testing.T) {
	for _, tt := range []struct {
		in, rest []string
		first    string
	}{
		{[]string{"The guest sees 1 node. CPU hot add hides NUMA.", "More."}, []string{"CPU hot add hides NUMA.", "More."}, "The guest sees 1 node."},
		{[]string{"One sentence about vc01. internal."}, []string{}, "One sentence about vc01. internal."},
		{[]string{"One."}, []string{}, "One."},
	} {
		if first, rest := headline(tt.in); first != tt.first || !slices.Equal(rest, tt.rest) {
			t.Errorf("%q: %q, %q", tt.in, first, rest)
		}
	}
}
