package request

import (
	"slices"
	"testing"
	"time"

	"example.org/homenode/measure/guest/steps"
)

// TestSteps runs every step and looks at its samples; how long they take is not judged.
func TestSteps(t *testing.T) {
	for _, s := range Steps() {
		samples, err := s.Run(t.Context(), steps.Options{Samples: 60, For: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if len(samples) != 57 || slices.Min(samples) <= 0 || s.About == "" {
			t.Errorf("%s: found %d samples from %v ns, want 57 above 0: 60 less a twentieth", s.Name, len(samples), slices.Min(samples))
		}
	}
}
