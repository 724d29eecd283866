package finding

import (
	"testing"

	"example.org/homenode/numa"
)

func TestSeverityNames(t *testing.T) {
	for s := Info; s <= High; s++ {
		got, err := ParseSeverity(s.String())
		if err != nil || got != s {
			t.Errorf("ParseSeverity(%q) = %v, %v", s, got, err)
		}
	}
	if _, err := ParseSeverity("urgent"); err == nil || err.Error() != `found "urgent", want one of info, low, medium, high` {
		t.Errorf("ParseSeverity(urgent): %v", err)
	}
}

func TestOrigin(t *testing.T) {
	var f Finding
	if f.Origin() != numa.Derived {
		t.Errorf("a finding without assumptions is %v", f.Origin())
	}
	f.Assumes = []string{"something"}
	if f.Origin() != numa.Assumed {
		t.Errorf("a finding with an assumption is %v", f.Origin())
	}
}

func TestEvidence(t *testing.T) {
	if got, want := Of("vCPUs", numa.ReadAt(8, "config.hardware.numCPU"), "vm-1"), (Evidence{"vCPUs", "8", "read: config.hardware.numCPU", "vm-1"}); got != want {
		t.Errorf("Of() = %+v, want %+v", got, want)
	}
	if got, want := Of("vCPUs", numa.Fact[int]{}, ""), (Evidence{"vCPUs", "unknown", "unknown", ""}); got != want {
		t.Errorf("Of() = %+v, want %+v", got, want)
	}
}

// TestFirstAdvice: where several causes are possible, the cure of one of them is no advice.
func TestFirstAdvice(t *testing.T) {
	causes := []Cause{{Text: "action affinity"}, {Text: "an old placement"}}
	for _, tt := range []struct {
		advice string
		causes []Cause
		want   string
	}{
		{FindOut + ". Action affinity: see sched-stats, then set Numa.LocalityWeightActionAffinity = 0; an old placement: see the load", causes, "Find out which it is: action affinity, or an old placement"},
		{"Clear the affinity", causes[:1], "Clear the affinity"},
		{"Make room. A power cycle places it anew", nil, "Make room"},
	} {
		f := Finding{Advice: tt.advice, Causes: tt.causes}
		if got := f.FirstAdvice(); got != tt.want {
			t.Errorf("first of %q: %q, want %q", tt.advice, got, tt.want)
		}
	}
}
