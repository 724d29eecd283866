package effect

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A lot is the VMs of a cluster among which the change could have fallen otherwise. Changed VMs come first.
//
//	unit     label (what it was)       adds to the effect, by label
//	vm 0     1: changed on day 1       [−gain on all days ÷ controls, gain on day 1, gain on day 2]
//	vm 1     2: changed on day 2       …
//	vm 2…    0: not changed
//
// The effect of any way to hand out the labels is a sum of such numbers, so a permutation costs as many additions as
// VMs were changed.
type lot struct {
	labels  []int
	changed int
	adds    [][]float64 // [unit][label], already divided by how many VMs were changed in all lots
}

// newLot makes a lot. gains has what each unit gained from the days before to the days after, by cohort (label − 1);
// tested is how many VMs were changed in all lots.
func newLot(labels []int, gains [][]float64, tested int) lot {
	l := lot{labels: labels, adds: make([][]float64, len(labels))}
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

func (l *lot) effect(labels []int) (sum float64) {
	for i, label := range labels {
		sum += l.adds[i][label]
	}
	return sum
}

// ways returns how many ways there are to hand out the labels.
func (l *lot) ways() float64 {
	ways, left := 1.0, len(l.labels)
	for label, n := 1, 0; n < l.changed; label++ {
		of := 0
		for _, x := range l.labels[:l.changed] {
			if x == label {
				of++
			}
		}
		ways *= waysTo(of, left-of)
		n, left = n+of, left-of
	}
	return ways
}

// waysTo returns how many ways there are to choose which of a + b VMs are the a.
func waysTo(a, b int) float64 {
	ways := 1.0
	for i := 1; i <= a; i++ {
		ways = math.Round(ways * float64(b+i) / float64(i))
	}
	return ways
}

// permute returns the effect, the share of ways to hand out the labels within each lot that give one as large,
// either way, and how many ways were tried: all when that are few, otherwise the true one and Resamples drawn.
func permute(lots []lot) (effect, p float64, tried int, all bool) {
	ways := 1.0
	for i := range lots {
		effect += lots[i].effect(lots[i].labels)
		ways *= lots[i].ways()
	}
	// Ways that give the same but for rounding count as equal.
	bound := math.Abs(effect) * (1 - 1e-9)
	extreme := 0
	if ways <= Resamples {
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
	rng := rand.New(rand.NewPCG(Seed, 0))
	extreme = 1
	for range Resamples {
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
	return effect, float64(extreme) / (Resamples + 1), Resamples + 1, false
}

// each calls f with the effect of every way to hand out the labels, added to sum.
func each(lots []lot, sum float64, f func(float64)) {
	if len(lots) == 0 {
		f(sum)
		return
	}
	labels := slices.Sorted(slices.Values(lots[0].labels))
	for more := true; more; more = next(labels) {
		each(lots[1:], sum+lots[0].effect(labels), f)
	}
}

// next makes the labels the next larger order of themselves; false after the last.
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

// bootstrap returns the percentile interval of 95 % of the effect: changed VMs and controls of each lot are drawn
// again with replacement, and the errors widened by √(n ÷ (n − 1)) of each group, since n drawn of n vary less than n
// new ones (Hesterberg, "What teachers should know about the bootstrap", 2015). Few VMs may resemble each other by chance:
// the errors are widened to have the standard deviation least at least. TestCoverage measures what comes of it.
func bootstrap(lots []lot, effect, least float64) (low, high float64) {
	rng := rand.New(rand.NewPCG(Seed, 1))
	errors := make([]float64, Resamples)
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
		variance += float64(e*e) / Resamples
	}
	wider := 1.0
	if variance > 0 {
		wider = max(1, least/math.Sqrt(variance))
	}
	const k = int(Resamples * Level / 2)
	return effect + float64(wider*errors[k-1]), effect + float64(wider*errors[Resamples-k])
}
