package timeline

import (
	"fmt"
	"math"
	"strconv"

	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
)

// bytesAxis has ticks at powers of two, like memory sizes.
var bytesAxis = &picture.Axis{Bytes: true, Text: func(v float64) string {
	if v == 0 {
		return "0"
	}
	return numa.Bytes(v).String()
}}

// shareScale returns the top of an axis of shares that includes most: 5 %, 10 %, 25 %, 50 %, or
// a multiple of 100 %.
func shareScale(most float64) (top float64, marks []picture.Tick) {
	top = max(1, math.Ceil(most))
	for _, s := range []float64{.5, .25, .1, .05} {
		if most <= s {
			top = s
		}
	}
	return top, []picture.Tick{{Label: "0"}, {Value: top, Label: percent(top)}}
}

// percent formats a share. Values below 10 % that are not whole percents have one decimal.
func percent(share float64) string {
	p := share * 100
	if p >= 9.95 || p == float64(int(p)) {
		return strconv.Itoa(int(p+0.5)) + " %"
	}
	return fmt.Sprintf("%.1f %%", p)
}
