package rule

import (
	"fmt"
	"strings"

	"homenode/confront"
	"homenode/finding"
	"homenode/numa"
)

// LastSeen returns the last observation by one of the observers that could be
// compared with its prediction; nil when there is none. Observations stand oldest
// first.
func (v *VM) LastSeen(by func(numa.Observer) bool) *confront.Result {
	var last *confront.Result
	for i := range v.Seen {
		s := &v.Seen[i]
		if by(s.Observation.By) && s.Comparable() {
			last = s
		}
	}
	return last
}

// Differences returns what an observation shows otherwise than predicted, in
// words, and the evidence for it.
func Differences(s *confront.Result) (text string, evidence []finding.Evidence) {
	var parts []string
	for _, f := range s.Fields {
		if f.Agrees {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s are %s, predicted %s", f.Name, f.Observed, f.Predicted))
		evidence = append(evidence,
			finding.Evidence{Name: f.Name + " observed", Value: f.Observed, Origin: "read: " + string(s.Observation.By), At: f.At},
			finding.Evidence{Name: f.Name + " predicted", Value: f.Predicted, Origin: "derived: for " + s.Host})
	}
	return strings.Join(parts, "; "), evidence
}

// OtherSettings returns what the observation was configured with and the inventory
// has otherwise, in words; empty when nothing is.
func OtherSettings(s *confront.Result) string {
	parts := make([]string, len(s.Other))
	for i, o := range s.Other {
		parts[i] = fmt.Sprintf("%s = %s there, %s in the inventory", o.Name, o.Observed, o.Inventory)
	}
	return strings.Join(parts, "; ")
}
