package readybesideidle

import (
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// TestLimit: a CPU limit makes ready time too, so that the finding is less certain.
func TestLimit(t *testing.T) {
	from := time.Date(2026, 11, 2, 1, 0, 0, 0, time.UTC)
	spell := capture.Spell{From: from, To: from.Add(time.Hour), Ticks: 181, Worst: 0.3, At: from}
	for _, tt := range []struct {
		name     string
		limit    numa.Fact[int]
		severity finding.Severity
		assumes  int
	}{
		{"unknown", numa.Fact[int]{}, finding.High, 0},
		{"none", numa.ReadAt(-1, "cpuLimit"), finding.High, 0},
		{"8 GHz", numa.ReadAt(8000, "cpuLimit"), finding.Medium, 1},
	} {
		vm := capture.VM{Name: "db01", VCPUs: 4, Starved: capture.Spells{Count: 1, Longest: spell}, StarvedAt: capture.Uneven{Time: from, Busy: 0.96, Idlest: 1, Idle: 0.1}}
		w := rule.Watch{
			Rule: Rule, VM: &vm, Host: &capture.Recording{Host: "esx01", First: from, Last: from.Add(time.Hour), Options: capture.Options{Ready: 0.1}},
			Predicted: &rule.VM{VM: &numa.VM{Name: "db01", Config: numa.Config{CPULimit: tt.limit}}},
		}
		watch(&w)
		if len(w.Findings) != 1 || w.Findings[0].Severity != tt.severity || len(w.Findings[0].Assumes) != tt.assumes {
			t.Errorf("%s: %+v; want one of %s with %d assumptions", tt.name, w.Findings, tt.severity, tt.assumes)
		}
	}
}
