package topo

import (
	"testing"

	"example.org/homenode/numa"
)

func TestProcessors(t *testing.T) {
	for _, tt := range []struct {
		model    string
		packages int
		want     string
	}{
		{"Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz", 2, "2 × Xeon Gold 6354"},
		{"Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz", 2, "2 × Xeon E5-2690 v4"},
		{"AMD EPYC 7713 64-Core Processor                ", 1, "1 × AMD EPYC 7713"},
		{"", 4, "4 × unknown processor"},
		{"", 0, ""},
		{"Intel(R) Xeon(R) Platinum 8480+", 0, "Xeon Platinum 8480+"},
	} {
		h := &numa.Host{}
		if tt.model != "" {
			h.CPUModel = numa.ReadAt(tt.model, "")
		}
		if tt.packages > 0 {
			h.Packages = numa.ReadAt(tt.packages, "")
		}
		if got := processors(h); got != tt.want {
			t.Errorf("processors(%q, %d) = %q, want %q", tt.model, tt.packages, got, tt.want)
		}
	}
}
