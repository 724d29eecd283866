package timeline

import (
	"fmt"
	"math"
	"strconv"

	"homenode/numa"
)

// memoryScale returns the top of an axis that reaches most, and its labels: powers of two,
// as memory is bought.
func memoryScale(most numa.Bytes) (top float64, marks []mark) {
	step := numa.MiB
	for most > 4*step {
		step *= 2
	}
	n := max((most+step-1)/step, 1)
	marks = []mark{{0, "0"}}
	for i := numa.Bytes(1); i <= n; i++ {
		marks = append(marks, mark{float64(i * step), (i * step).String()})
	}
	return float64(n * step), marks
}

// shareScale returns the top of an axis of shares that reaches most: 5 %, 10 %, 25 %,
// 50 %, or whole times 100 %.
func shareScale(most float64) (top float64, marks []mark) {
	top = max(1, math.Ceil(most))
	for _, s := range []float64{.5, .25, .1, .05} {
		if most <= s {
			top = s
		}
	}
	return top, []mark{{0, "0"}, {top, percent(top)}}
}

// percent writes a share with at most one digit after the point, and that only below 10 %.
func percent(share float64) string {
	p := share * 100
	if p >= 9.95 || p == float64(int(p)) {
		return strconv.Itoa(int(p+0.5)) + " %"
	}
	return fmt.Sprintf("%.1f %%", p)
}
