package effect

import (
	"fmt"
	"math"

	"example.org/homenode/internal/stat"
	"example.org/homenode/internal/words"
)

// A Spread is the variation of a VM's mean from day to day, in the unit of the measure: the standard deviation after
// subtracting the VM's own mean and the mean of all controls on each day.
type Spread struct {
	Changed  float64 `json:"changed"`
	Controls float64 `json:"controls"`
	// Dependence is the ratio by which means of several days vary more than those of independent days: 1 or more; 0
	// counts as 1.
	Dependence float64 `json:"dependence"`

	VMs    int     `json:"vms"`             // changed VMs
	Others float64 `json:"controlsPerTest"` // effective number of controls in the test; for several clusters the number that one would need
	Before int     `json:"daysBefore"`
}

// deviation returns the standard error of the effect, for a sum of 1 ÷ days before + 1 ÷ days after.
func (s *Spread) deviation(inverse float64) float64 {
	return math.Sqrt(inverse * (float64(s.Changed*s.Changed)/float64(s.VMs) + float64(s.Controls*s.Controls)/s.Others))
}

// Visible returns the effect, in the unit of the measure, that is detected with the probability Power after so many days.
// It is false if no effect would be, however large: too few VMs or no days.
func (s *Spread) Visible(before, after int) (least float64, ok bool) {
	if s.VMs < LeastChanged || s.Others < 1 || before < 1 || after < 1 || stat.WaysTo(s.VMs, int(s.Others)) <= 1/Level {
		return 0, false
	}
	freedom := s.VMs + int(s.Others) - 2
	// Student's t: 1 − Level is within the first, Power below the second.
	times := stat.Student(1-Level, freedom) + stat.Student(2*Power-1, freedom)
	return times * max(1, s.Dependence) * s.deviation(1/float64(before)+1/float64(after)), true
}

// CouldSee describes the effect that would have been visible after so many days: "with 4 changed VMs an effect of 9.0
// points or more would be seen after 5 days". 0 means the existing days, or as many as before.
func (r *Result) CouldSee(after int) string {
	switch {
	case r.Spread == nil && r.Before == 1:
		return "which effect could be seen is not known: one day before the change says nothing of how days differ"
	case r.Spread == nil:
		return "which effect could be seen is not known: " + r.Why
	}
	if after == 0 {
		if after = r.After; after == 0 {
			after = r.Spread.Before
		}
	}
	vms := words.Plural(r.Spread.VMs, "changed VM")
	least, ok := r.Spread.Visible(r.Spread.Before, after)
	if !ok {
		return fmt.Sprintf("with %s no effect can be seen, however large", vms)
	}
	return fmt.Sprintf("with %s an effect of %s or more would be seen after %s", vms, r.Measure.AtLeast(max(least, r.Measure.Least)), words.Plural(after, "day"))
}
