package rules

import (
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/rules/rule"
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
			return time.Duration(w.Threshold(one.ID, t.Name) * float64(time.Minute)), true
		}
	}
	return 0, false
}

// Threshold returns a threshold of the rule with this ID, as the configuration sets it.
func (w *Watched) Threshold(id, name string) float64 {
	look := rule.Watch{Rule: w.Rule(id), Thresholds: (&Options{Policy: w.Policy}).thresholds()}
	return look.Threshold(name)
}

func watching(which func(*rule.Rule) bool) (out []*rule.Rule) {
	for _, one := range All {
		if one.Watch != nil && which(one) {
			out = append(out, one)
		}
	}
	return out
}
