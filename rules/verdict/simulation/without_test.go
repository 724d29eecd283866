package simulation_test

import (
	"testing"

	"example.org/homenode/rules/verdict/simulation"
)

func TestWithoutText(t *testing.T) {
	for _, tt := range []struct {
		with, without simulation.Harm
		want          string
	}{
		{simulation.Harm{}, simulation.Harm{}, "no difference, no VM is harmed."},
		{simulation.Harm{Lost: 1, Slowest: 0.951}, simulation.Harm{Lost: 1, Slowest: 0.953}, "no difference, 1 VM loses locality."},
		{simulation.Harm{Stayed: 1}, simulation.Harm{}, "0 VMs instead of 1 are refused a vMotion."},
		{simulation.Harm{Lost: 2, Other: 1}, simulation.Harm{Lost: 2}, "0 VMs instead of 1 have other problems with NUMA."},
		{simulation.Harm{Lost: 9, Short: 25, Nowhere: 3, Slowest: 0.8}, simulation.Harm{Lost: 2, Slowest: 0.95},
			"2 instead of 9 VMs lose locality, 0 instead of 25 VMs have memory swapped or ballooned, 0 instead of 3 VMs find no host, the lowest performance index is 0.95 instead of 0.80."},
	} {
		w := simulation.Without{Changes: []string{"2h fail esx07"}, Harm: tt.without}
		if got := w.Text(tt.with); got != "The same time without “2h fail esx07”: "+tt.want {
			t.Errorf("%s", got)
		}
	}
}
