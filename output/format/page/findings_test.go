package page

import (
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
