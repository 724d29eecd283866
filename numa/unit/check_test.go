package unit

import "testing"

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		p         Check
		verdict   string
		deviation Share
		ok        bool
	}{
		{Check{Printed: "37.42", Computed: 37.42}, "restated", 0, true},
		{Check{Printed: "37.42", Computed: 37.4155}, "restated", 37.4155/37.42 - 1, true},
		{Check{Printed: "6.039", Computed: 6.0398}, "MISSED", 6.0398/6.039 - 1, true},
		{Check{Printed: "6.039", Computed: 6.0398, Inconsistency: "I-6"}, "I-6", 6.0398/6.039 - 1, true},
		{Check{Printed: "~1,825", Computed: 1825.9}, "restated", 1825.9/1825 - 1, true},
		{Check{Printed: "1,825", Computed: 1825.9}, "MISSED", 1825.9/1825 - 1, true},
		{Check{Printed: "47,650", Computed: 47648.76}, "MISSED", 47648.76/47650 - 1, true},
		{Check{Printed: "47,650", Computed: 47648.76, Within: 5}, "restated", 47648.76/47650 - 1, true},
		{Check{Printed: "47,650", Computed: 47644.9, Within: 5}, "MISSED", 47644.9/47650 - 1, true},
		{Check{Printed: "~2.5", Computed: 2.443}, "restated", 2.443/2.5 - 1, true},
		{Check{Printed: "+21%", Computed: 20.85}, "restated", 20.85/21 - 1, true},
		{Check{Printed: "−0.1%", Computed: 0.05, Inconsistency: "I-13"}, "I-13", 0.05/-0.1 - 1, true},
		{Check{Printed: "~60%", Computed: 62.9, Within: 5}, "restated", 62.9/60 - 1, true},
		{Check{Printed: "~60%", Computed: 65.1, Within: 5}, "MISSED", 65.1/60 - 1, true},
		{Check{Printed: "27.2", Computed: 27.2, Kind: UnitChange}, "unit", 0, true},
		{Check{Printed: "27.2", Computed: 28, Kind: UnitChange}, "MISSED", 28/27.2 - 1, true},
		{Check{Printed: "40", Computed: 40, Kind: Circular}, "circular", 0, true},
		{Check{Printed: "—", Computed: 3.57}, "MISSED", 0, false},
	} {
		if got := tt.p.Verdict(); got != tt.verdict {
			t.Errorf("%s, computed %v: found %s, want %s", tt.p.Printed, tt.p.Computed, got, tt.verdict)
		}
		got, ok := tt.p.Deviation()
		if diff := got - tt.deviation; ok != tt.ok || diff > 1e-12 || diff < -1e-12 {
			t.Errorf("%s, computed %v: deviation %v, %v; want %v, %v", tt.p.Printed, tt.p.Computed, float64(got), ok, float64(tt.deviation), tt.ok)
		}
	}
}
