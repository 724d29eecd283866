package move

import (
	"fmt"

	"example.org/homenode/rules/shape"
)

// A Fault is a mistake in a shape or its placement that no schema finds: libvirt's schema, for example, accepts all of
// them.
type Fault = shape.Fault

// Check returns the faults of a shape and of its placement; nil if there are none. at may be nil. memoryOnly allows
// cells without vCPUs.
func Check(s *Shape, at *Placement, memoryOnly bool) []Fault {
	out := shape.Check(s, memoryOnly)
	if at != nil && s.Most() > 0 && len(s.Cells) > 0 {
		at.check(s, func(check, text string, args ...any) {
			out = append(out, Fault{Check: check, Text: fmt.Sprintf(text, args...)})
		})
	}
	return out
}

type faulter func(check, text string, args ...any)
