package rules

import (
	"slices"
	"time"

	"homenode/capture"
	"homenode/rules/rule"
)

// Blind returns the rules that find nothing in a recording because a required counter is
// missing.
func Blind(rec *capture.Recording) []*rule.Rule {
	return watching(func(one *rule.Rule) bool {
		return slices.ContainsFunc(one.Needs, func(counter string) bool { return slices.Contains(rec.Lacks, counter) })
	})
}

// TooShort returns the rules that find nothing in a recording because they require a longer
// duration than its connected ticks cover.
func (w *Watched) TooShort(rec *capture.Recording) []*rule.Rule {
	return watching(func(one *rule.Rule) bool {
		least, ok := w.Lasting(one)
		return ok && rec.Covered < least
	})
}

// Lasting returns the minimum duration of findings of a rule; false if the rule does not define
// one.
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
