package rule

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
)

// LastSeen returns, for each matching observer, the newest observation that could be compared
// with its prediction, the newest first: an observer that sees little, such as the screen of
// esxtop, does not hide the observation of another. Among several equally new ones, one that
// differs has priority. Observations are sorted oldest first.
func (v *VM) LastSeen(by func(numa.Observer) bool) []*confront.Result {
	var last []*confront.Result
	for i := len(v.Seen) - 1; i >= 0; i-- {
		s := &v.Seen[i]
		if !by(s.Observation.By) || !s.Comparable() {
			continue
		}
		k := slices.IndexFunc(last, func(l *confront.Result) bool { return l.Observation.By == s.Observation.By })
		switch {
		case k < 0:
			last = append(last, s)
		case last[k].Agrees() && !s.Agrees() && last[k].Observation.Time == s.Observation.Time:
			last[k] = s
		}
	}
	return last
}

// Since describes a power-on or vMotion of the VM that was observed after the observation; "" if none is known.
func (v *VM) Since(o *numa.Observation) string {
	at, dated := o.Instant()
	for i := range slices.Backward(v.Observed) {
		later := &v.Observed[i]
		then, ok := later.Instant()
		if !dated || !ok || !then.After(at) {
			continue
		}
		switch {
		case later.Start != "":
			return fmt.Sprintf("powered on again at %s (%s)", later.Time, later.By)
		case later.Host != "" && o.Host != "" && !numa.SameHost(later.Host, o.Host):
			return fmt.Sprintf("moved to %s before %s (%s)", later.Host, later.Time, later.By)
		}
	}
	return ""
}

// Differences describes the differences between an observation and its prediction, and returns
// the evidence for them.
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

// OtherSettings describes the settings of the observation that differ from the inventory; empty
// for none.
func OtherSettings(s *confront.Result) string {
	parts := words.Texts(s.Other, func(o confront.Setting) string {
		return fmt.Sprintf("%s = %s there, %s in the inventory", o.Name, o.Observed, o.Inventory)
	})
	return strings.Join(parts, "; ")
}

// Likely returns the reasons of a difference as advice; empty if there are none. Several
// reasons have no order: each explains the whole observation.
func Likely(s *confront.Result) string {
	switch len(s.Reasons) {
	case 0:
		return ""
	case 1:
		return "Most likely: " + s.Reasons[0]
	}
	return "One of: " + strings.Join(s.Reasons, "; or ")
}
