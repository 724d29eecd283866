package stat

import (
	"math"
	"slices"
)

// LotResamples is the number of samples of the permutation and of the bootstrap of lots.
const LotResamples = 2000

// A Lot is a set of units, such as VMs, any of which could have been changed. Changed units come first.
//
//	unit     label (what it was)       adds to the effect, by label
//	unit 0   1: changed on day 1       [−gain on all days ÷ controls, gain on day 1, gain on day 2]
//	unit 1   2: changed on day 2       …
//	unit 2…  0: not changed
//
// The effect of any assignment of the labels is a sum of such numbers, so a permutation costs one addition per changed unit.
type Lot struct {
	labels  []int
	changed int
	adds    [][]float64 // [unit][label], already divided by the number of changed units in all lots
}

// NewLot creates a lot. gains is the gain of each unit from the days before to the days after, by cohort (label − 1); tested is
// the number of changed units in all lots.
func NewLot(labels []int, gains [][]float64, tested int) Lot {
	l := Lot{labels: labels, adds: make([][]float64, len(labels))}
	count := make([]float64, len(gains[0]))
	for _, label := range labels {
		if label > 0 {
			count[label-1]++
			l.changed++
		}
	}
	controls := float64(len(labels) - l.changed)
	for i, gain := range gains {
		adds := make([]float64, 1+len(gain))
		for c, g := range gain {
			adds[0] -= float64(count[c] * g)
			adds[1+c] = g / float64(tested)
		}
		adds[0] /= controls * float64(tested)
		l.adds[i] = adds
	}
	return l
}

func (l *Lot) effect(labels []int) (sum float64) {
	for i, label := range labels {
		sum += l.adds[i][label]
	}
	return sum
}

// ways returns the number of possible assignments of the labels.
func (l *Lot) ways() float64 {
	ways, left := 1.0, len(l.labels)
	for label, n := 1, 0; n < l.changed; label++ {
		of := 0
		for _, x := range l.labels[:l.changed] {
			if x == label {
				of++
			}
		}
		ways *= WaysTo(of, left-of)
		n, left = n+of, left-of
	}
	return ways
}

// WaysTo returns the number of ways to choose a of a + b units.
func WaysTo(a, b int) float64 {
	ways := 1.0
	for i := 1; i <= a; i++ {
		ways = math.Round(ways * float64(b+i) / float64(i))
	}
	return ways
}

// Permute returns the effect and its p-value: the share of label assignments within each lot whose effect is at least as large,
// in either direction. tried is their number: all when they are few, otherwise the true one and LotResamples random ones.
func Permute(lots []Lot) (effect, p float64, tried int, all bool) {
	ways := 1.0
	for i := range lots {
		effect += lots[i].effect(lots[i].labels)
		ways *= lots[i].ways()
	}
	// Assignments that differ only by rounding count as equal.
	bound := math.Abs(effect) * (1 - 1e-9)
	extreme := 0
	if ways <= LotResamples {
		each(lots, 0, func(other float64) {
			tried++
			if math.Abs(other) >= bound {
				extreme++
			}
		})
		return effect, float64(extreme) / float64(tried), tried, true
	}
	base := 0.0 // if all were controls
	order := make([][]int, len(lots))
	for i := range lots {
		for j, adds := range lots[i].adds {
			base += adds[0]
			order[i] = append(order[i], j)
		}
	}
	rng := draws(0)
	extreme = 1
	for range LotResamples {
		other := base
		for i := range lots {
			l, order := &lots[i], order[i]
			for k, label := range l.labels[:l.changed] { // the first steps of a shuffle
				j := k + rng.IntN(len(order)-k)
				order[k], order[j] = order[j], order[k]
				other += l.adds[order[k]][label] - l.adds[order[k]][0]
			}
		}
		if math.Abs(other) >= bound {
			extreme++
		}
	}
	return effect, float64(extreme) / (LotResamples + 1), LotResamples + 1, false
}

// each calls f with the effect of every assignment of the labels, added to sum.
func each(lots []Lot, sum float64, f func(float64)) {
	if len(lots) == 0 {
		f(sum)
		return
	}
	labels := slices.Sorted(slices.Values(lots[0].labels))
	for more := true; more; more = next(labels) {
		each(lots[1:], sum+lots[0].effect(labels), f)
	}
}

// next permutes the labels to the next larger order; false after the last.
func next(labels []int) bool {
	i := len(labels) - 2
	for i >= 0 && labels[i] >= labels[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(labels) - 1
	for labels[j] <= labels[i] {
		j--
	}
	labels[i], labels[j] = labels[j], labels[i]
	slices.Reverse(labels[i+1:])
	return true
}

// Around returns the percentile interval of 95 % of the effect. Changed and other units of each lot are drawn again with
// replacement, and the errors widened by √(n ÷ (n − 1)) per group, since n drawn of n vary less than n new ones (Hesterberg,
// "What teachers should know about the bootstrap", 2015). Few units may resemble each other by chance: the errors are scaled to a
// standard deviation of at least least. TestCoverage of package effect measures the coverage.
func Around(lots []Lot, effect, least float64) Interval {
	rng := draws(1)
	errors := make([]float64, LotResamples)
	for i := range lots {
		l := &lots[i]
		for _, g := range [][2]int{{0, l.changed}, {l.changed, len(l.labels)}} {
			values := make([]float64, g[1]-g[0])
			mean := 0.0
			for j := range values {
				values[j] = l.adds[g[0]+j][l.labels[g[0]+j]]
				mean += values[j] / float64(len(values))
			}
			n := len(values)
			wider := math.Sqrt(float64(n) / float64(max(1, n-1)))
			for j := range values {
				values[j] = float64((values[j] - mean) * wider)
			}
			for r := range errors {
				for range n {
					errors[r] += values[rng.IntN(n)]
				}
			}
		}
	}
	slices.Sort(errors)
	variance := 0.0
	for _, e := range errors {
		variance += float64(e*e) / LotResamples
	}
	wider := 1.0
	if variance > 0 {
		wider = max(1, least/math.Sqrt(variance))
	}
	return percentile(effect, errors, 1-Confidence, wider)
}
