package iocost

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// An estimate is the cost of one I/O with its derivation.
type estimate struct {
	cycles, low, high unit.Cycles
	network           unit.Cycles
	known             bool // network is known
	basis             Basis
	why               []string
}

// measured returns the estimate of a point.
func measured(p *Point) estimate {
	e := estimate{cycles: p.PerIO.Value, low: p.PerIO.Low, high: p.PerIO.High, basis: Measured}
	if p.Network != nil {
		e.network, e.known = p.Network.Value, true
	}
	return e
}

// merge combines two estimates number by number.
func merge(a, b estimate, f func(x, y float64) float64) estimate {
	c := func(x, y unit.Cycles) unit.Cycles { return unit.Cycles(f(float64(x), float64(y))) }
	e := estimate{
		cycles: c(a.cycles, b.cycles), low: c(a.low, b.low), high: c(a.high, b.high),
		network: c(a.network, b.network), known: a.known && b.known,
		basis: max(a.basis, b.basis), why: slices.Clone(a.why),
	}
	for _, why := range b.why {
		e.why = words.Once(e.why, why)
	}
	return e
}

// mix returns the mean of two kinds of I/O, t of them of the second kind.
func mix(a, b estimate, t float64) estimate {
	e := merge(a, b, func(x, y float64) float64 { return x*(1-t) + y*t })
	e.basis = max(e.basis, Interpolated)
	return e
}

// scaled returns the cost of a block that is factor times as large, at the same cost per bit.
func (e estimate) scaled(factor float64) estimate {
	return merge(e, e, func(x, _ float64) float64 { return x * factor })
}

// mixPatterns returns the cost of partly random I/Os, from the costs of measured patterns.
func mixPatterns(points []Point, k Kind) estimate {
	var patterns []unit.Share
	for _, p := range points {
		patterns = append(patterns, p.Random)
	}
	lo, hi, ok := bracket(patterns, k.Random)
	at := func(random unit.Share) estimate {
		nearest := k
		nearest.Random = random
		return mixDirections(points, nearest)
	}
	if lo == hi {
		e := at(lo)
		if !ok {
			e.basis = Extrapolated
			e.why = append(e.why, fmt.Sprintf("%s I/O was not measured: taken to cost as much as %s", pattern(k.Random), pattern(lo)))
		}
		return e
	}
	e := mix(at(lo), at(hi), float64((k.Random-lo)/(hi-lo)))
	e.why = append(e.why, fmt.Sprintf("%s I/O was not measured: %s and %s are weighted", pattern(k.Random), pattern(hi), pattern(lo)))
	return e
}

// mixDirections returns the cost of reads and writes of one pattern. Measured mixes of this size
// are preferred; else the costs of reads and writes are weighted.
func mixDirections(points []Point, k Kind) estimate {
	var all, within []unit.Share
	for _, p := range points {
		if p.Random == k.Random {
			all = append(all, p.Read)
		}
	}
	costs := map[unit.Share]estimate{}
	for _, read := range all {
		at := k
		at.Read = read
		costs[read] = bySize(points, at)
		if costs[read].basis != Extrapolated {
			within = append(within, read)
		}
	}
	lo, hi, ok := bracket(within, k.Read)
	if !ok {
		lo, hi, ok = bracket(all, k.Read)
	}
	switch {
	case lo == hi && ok:
		return costs[lo]
	case lo == hi:
		e := costs[lo]
		e.basis = Extrapolated
		e.why = append(slices.Clone(e.why), fmt.Sprintf("%s was not measured: taken to cost as much as %s", direction(k.Read), direction(lo)))
		if more := 1 + float64(distance(k.Read, lo))*(mostWrite()-1); k.Read < lo {
			e.high *= unit.Cycles(more)
		} else {
			e.low /= unit.Cycles(more)
		}
		return e
	}
	t := float64((k.Read - lo) / (hi - lo))
	e := mix(costs[lo], costs[hi], t)
	if k.Read != lo && k.Read != hi {
		e.why = append([]string{fmt.Sprintf("%s: between %s and %s", direction(k.Read), direction(lo), direction(hi))}, e.why...)
	}
	return e
}

// mostWrite returns the highest published cost of a write relative to a read of its size and
// pattern: the range of an unmeasured direction.
func mostWrite() (most float64) {
	points := Published()
	for i := range points {
		for j := range points {
			r, w := &points[i], &points[j]
			if r.Read == 1 && w.Read == 0 && r.Path == w.Path && r.Block == w.Block && r.Random == w.Random {
				most = max(most, float64(w.PerIO.Value/r.PerIO.Value))
			}
		}
	}
	return most
}

// bracket returns the values next to v, both equal to v when it is one of them. Outside the values
// it returns the nearest twice, and false.
func bracket(values []unit.Share, v unit.Share) (lo, hi unit.Share, ok bool) {
	if len(values) == 0 {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	i, found := slices.BinarySearch(sorted, v)
	switch {
	case found:
		return v, v, true
	case i == 0:
		return sorted[0], sorted[0], false
	case i == len(sorted):
		return sorted[i-1], sorted[i-1], false
	}
	return sorted[i-1], sorted[i], true
}

// bySize returns the cost by the curve of one pattern and mix of reads and writes. Outside its
// sizes the curve continues with those of the other pattern, else it is flat: per I/O below, per bit above.
func bySize(points []Point, k Kind) estimate {
	var own, other []Point
	for _, p := range points {
		switch {
		case p.Read == k.Read && p.Random == k.Random:
			own = append(own, p)
		case p.Read == k.Read:
			other = append(other, p)
		}
	}
	first, last := own[0].Block, own[len(own)-1].Block
	if k.Block >= first && k.Block <= last {
		return along(own, k.Block)
	}
	// When several other patterns were measured at a size, the most similar one continues the curve.
	slices.SortStableFunc(other, func(a, b Point) int {
		return cmp.Compare(distance(a.Random, k.Random), distance(b.Random, k.Random))
	})
	curve := slices.Clone(own)
	for _, p := range other {
		if (p.Block < first || p.Block > last) && !slices.ContainsFunc(curve, func(q Point) bool { return q.Block == p.Block }) {
			curve = append(curve, p)
		}
	}
	slices.SortFunc(curve, func(a, b Point) int { return cmp.Compare(a.Block, b.Block) })
	e := along(curve, k.Block)
	e.why = append([]string{outside(k, first, last, e.basis)}, e.why...)
	e.basis = Extrapolated
	e.low, e.high = bounds(append(own, other...), k, e)
	return e
}

func distance(a, b unit.Share) unit.Share { return max(a-b, b-a) }

// along returns the cost on a curve of ascending sizes: a power law between its points.
func along(curve []Point, block numa.Bytes) estimate {
	first, last := &curve[0], &curve[len(curve)-1]
	switch {
	case block < first.Block:
		e := measured(first)
		e.network *= unit.Cycles(float64(block) / float64(first.Block)) // which is proportional to bits
		e.basis, e.why = Extrapolated, []string{fmt.Sprintf("below %s: as many cycles per I/O", Size(first.Block))}
		return e
	case block > last.Block:
		e := measured(last).scaled(float64(block) / float64(last.Block))
		e.basis, e.why = Extrapolated, []string{fmt.Sprintf("above %s: as many cycles per bit", Size(last.Block))}
		return e
	}
	for i := range curve {
		if curve[i].Block == block {
			return measured(&curve[i])
		}
		if curve[i].Block > block {
			a, b := &curve[i-1], &curve[i]
			t := math.Log2(float64(block)/float64(a.Block)) / math.Log2(float64(b.Block)/float64(a.Block))
			e := merge(measured(a), measured(b), func(x, y float64) float64 {
				if x <= 0 || y <= 0 {
					return x*(1-t) + y*t
				}
				return x * math.Pow(y/x, t)
			})
			e.basis, e.why = Interpolated, []string{fmt.Sprintf("between %s and %s", Size(a.Block), Size(b.Block))}
			e.low, e.high = between(a, b, block, e)
			return e
		}
	}
	return measured(last)
}

// between returns the range of a cost between two measured sizes, by the two laws: at least the
// cost of the smaller I/O, and the larger one's cost per bit; at most the cost of the larger I/O,
// and the smaller one's cost per bit.
func between(a, b *Point, block numa.Bytes, e estimate) (low, high unit.Cycles) {
	byA, byB := float64(block)/float64(a.Block), float64(block)/float64(b.Block)
	low = max(a.PerIO.Low, b.PerIO.Times(byB).Low)
	high = min(b.PerIO.High, a.PerIO.Times(byA).High)
	if low > high { // the measurements contradict a law: either may be right
		low, high = high, low
	}
	return min(low, e.low), max(high, e.high)
}

// outside explains that no I/O of the size was measured with this pattern.
func outside(k Kind, first, last numa.Bytes, by Basis) string {
	sizes := Size(first) + " to " + Size(last)
	if first == last {
		sizes = Size(first)
	}
	s := fmt.Sprintf("%s %s was measured at %s only", pattern(k.Random), direction(k.Read), sizes)
	if by != Extrapolated {
		s += ": the other pattern stands in"
	}
	return s
}

// bounds returns the range of a cost outside the measured sizes, by the two laws.
func bounds(points []Point, k Kind, e estimate) (low, high unit.Cycles) {
	high = unit.Cycles(math.Inf(1))
	for i := range points {
		p := &points[i]
		// The cost of the I/O is a bound on one side, its cost per bit on the other.
		least, most := p.PerIO, p.PerIO.Times(float64(k.Block)/float64(p.Block))
		if p.Block > k.Block {
			least, most = most, least
		}
		if p.Random <= k.Random {
			low = max(low, least.Low)
		}
		if p.Random >= k.Random {
			high = min(high, most.High)
		}
	}
	return min(low, e.low), max(high, e.high)
}
