package timeline

import (
	"fmt"
	"strconv"

	"homenode/numa"
	"homenode/output/draw/picture"
)

// A scale places values on the height of a panel.
type scale struct {
	top, bottom picture.Px
	most        float64
}

// y returns where the value is, between the floor and the top.
func (s *scale) y(value float64) picture.Px {
	share := min(max(value/s.most, 0), 1)
	return s.bottom - picture.Px(float64(s.bottom-s.top)*share+0.5)
}

// A mark is a labelled value of a scale.
type mark struct {
	value float64
	label string
}

// memoryScale returns the top of an axis that reaches most, and its labels: powers of two,
// as memory is bought.
func memoryScale(most numa.Bytes) (top float64, marks []mark) {
	step := numa.MiB
	for most > 4*step {
		step *= 2
	}
	n := max((most+step-1)/step, 1)
	for i := numa.Bytes(0); i <= n; i++ {
		marks = append(marks, mark{float64(i * step), (i * step).String()})
	}
	marks[0].label = "0"
	return float64(n * step), marks
}

// shareScale returns the top of an axis of shares that reaches most: 5 %, 10 %, 25 %,
// 50 %, or whole times 100 %.
func shareScale(most float64) (top float64, marks []mark) {
	top = 0
	for _, s := range []float64{.05, .1, .25, .5} {
		if most <= s {
			top = s
			break
		}
	}
	if top == 0 {
		for top = 1; top < most; top++ {
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
