package rule

import (
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/rules/finding"
)

// TestReturned: the advice for an event that is over stays when the VM leaves the host later, or returns to it.
func TestReturned(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 2, 1, minute, 0, 0, time.UTC) }
	advice := func(s capture.Spell, v capture.VM, others ...capture.VM) string {
		w := &Watch{VM: &v, Host: &capture.Recording{Host: "esx01", First: at(0), Last: at(59), VMs: append(others, v)}}
		var f finding.Finding
		w.ExplainRemote(&f, &s)
		return f.Advice
	}
	event := capture.Spell{From: at(10), To: at(20), Ticks: 100}
	here := capture.VM{Name: "cache01", First: at(0), Last: at(59)}
	for _, tt := range []struct {
		name string
		last time.Time
		ends bool
	}{
		{"left with the event", at(20), true},
		{"left later", at(30), false},
	} {
		gone := capture.VM{Name: "cache01", First: at(0), Last: tt.last, Left: true}
		back := capture.VM{Name: "cache01", First: at(40), Last: at(59), Appeared: true}
		left, returned := advice(event, gone), advice(event, gone, back)
		if left != returned || strings.HasPrefix(left, "Nothing") != tt.ends || !tt.ends && left != advice(event, here) {
			t.Errorf("%s: %q; when it is back %q", tt.name, left, returned)
		}
	}
}
