package picture

import (
	"fmt"
	"slices"
	"strings"
)

// A Step is one step of a curve: from Low to High between two places.
type Step struct{ From, To, Low, High Px }

// runs cuts steps where they do not touch.
func runs(all []Step, each func([]Step)) {
	for from, to := 0, 0; from < len(all); from = to {
		for to = from + 1; to < len(all) && all[to].From <= all[to-1].To; to++ {
		}
		each(all[from:to])
	}
}

// Area returns the path around steps.
func Area(all []Step) string {
	var b strings.Builder
	runs(all, func(run []Step) {
		fmt.Fprintf(&b, "M%s %s", run[0].From, run[0].Low)
		for _, s := range run {
			fmt.Fprintf(&b, "V%sH%s", s.High, s.To)
		}
		for _, s := range slices.Backward(run) {
			fmt.Fprintf(&b, "V%sH%s", s.Low, s.From)
		}
		b.WriteString("Z")
	})
	return b.String()
}

// Line returns the path along the upper end of steps.
func Line(all []Step) string {
	var b strings.Builder
	runs(all, func(run []Step) {
		fmt.Fprintf(&b, "M%s %s", run[0].From, run[0].High)
		for i, s := range run {
			if i > 0 {
				fmt.Fprintf(&b, "V%s", s.High)
			}
			fmt.Fprintf(&b, "H%s", s.To)
		}
	})
	return b.String()
}
