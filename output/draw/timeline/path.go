package timeline

import (
	"fmt"
	"strings"

	"homenode/output/draw/picture"
)

// A segment is one step of a curve: from low to high between two places.
type segment struct{ from, to, low, high picture.Px }

// curve returns the segments of the steps; value says from where to where a step reaches,
// and false where nothing is known.
func curve(s *span, steps []step, value func(bucket int) (low, high picture.Px, ok bool)) []segment {
	var out []segment
	for _, one := range steps {
		low, high, ok := value(one.bucket)
		if !ok {
			continue
		}
		x, w := s.box(one.from, one.to)
		if n := len(out); n > 0 && out[n-1].to >= x && out[n-1].low == low && out[n-1].high == high {
			out[n-1].to = x + w
			continue
		}
		if n := len(out); n > 0 && out[n-1].to > x { // a width that was raised to what can be seen
			out[n-1].to = x
		}
		out = append(out, segment{x, x + w, low, high})
	}
	return out
}

// runs cuts the segments where they do not touch.
func runs(all []segment, each func([]segment)) {
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].from == all[to-1].to {
			to++
		}
		each(all[from:to])
		from = to
	}
}

// area returns the path around the segments.
func area(all []segment) string {
	var b strings.Builder
	runs(all, func(run []segment) {
		fmt.Fprintf(&b, "M%s %s", run[0].from, run[0].low)
		for _, s := range run {
			fmt.Fprintf(&b, "V%sH%s", s.high, s.to)
		}
		for i := len(run) - 1; i >= 0; i-- {
			fmt.Fprintf(&b, "V%sH%s", run[i].low, run[i].from)
		}
		b.WriteString("Z")
	})
	return b.String()
}

// line returns the path along the upper end of the segments.
func line(all []segment) string {
	var b strings.Builder
	runs(all, func(run []segment) {
		fmt.Fprintf(&b, "M%s %s", run[0].from, run[0].high)
		for i, s := range run {
			if i > 0 {
				fmt.Fprintf(&b, "V%s", s.high)
			}
			fmt.Fprintf(&b, "H%s", s.to)
		}
	})
	return b.String()
}
