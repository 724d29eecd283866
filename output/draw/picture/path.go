package picture

import (
	"fmt"
	"slices"
	"strings"
)

// A Step is one step of a curve: between Low and High from position From to To.
type Step struct{ From, To, Low, High Px }

// runs splits steps into contiguous runs.
func runs(all []Step, each func([]Step)) {
	for from, to := 0, 0; from < len(all); from = to {
		for to = from + 1; to < len(all) && all[to].From <= all[to-1].To; to++ {
		}
		each(all[from:to])
	}
}

// Area returns the outline of the steps.
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

// Line returns the path along the upper edge of the steps.
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
