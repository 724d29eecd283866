package rules

import (
	"slices"
	"time"

	"homenode/capture"
	"homenode/rules/rule"
)

// Blind returns the rules that find nothing in a recording because it lacks a counter that
// they need.
func Blind(rec *capture.Recording) []*rule.Rule {
	return watching(func(one *rule.Rule) bool {
		return slices.ContainsFunc(one.Needs, func(counter string) bool { return slices.Contains(rec.Lacks, counter) })
	})
}

// TooShort returns the rules that find nothing in a recording because they look for
// something that lasts longer than its ticks hang together.
func (w *Watched) TooShort(rec *capture.Recording) []*rule.Rule {
	return watching(func(one *rule.Rule) bool {
		least, ok := w.Lasting(one)
		return ok && rec.Covered < least
	})
}

// Lasting returns for how long at the least something has to last that a rule finds; false
// when the rule does not say.
func (w *Watched) Lasting(one *rule.Rule) (least time.Duration, ok bool) {
	for _, t := range one.Thresholds {
		if t.Name == "minutes" && t.Unit == rule.Minutes {
			look := rule.Watch{Rule: one, Thresholds: (&Options{Policy: w.Policy}).thresholds()}
			return time.Duration(look.Threshold(t.Name) * float64(time.Minute)), true
		}
	}
	return 0, false
}

func watching(which func(*rule.Rule) bool) (out []*rule.Rule) {
	for _, one := range All {
		if one.Watch != nil && which(one) {
			out = append(out, one)
		}
	}
	return out
}
