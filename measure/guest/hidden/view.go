package hidden

import (
	"math"
	"slices"

	"example.org/homenode/internal/stat"
)

// A view has the latencies of the pages from each vCPU over all rounds, by vCPU and page; NaN if unknown.
//
// Two disturbances are removed first. A whole block may be slow because a neighbour loads the memory: the median difference of its pages from other
// rounds is subtracted. Single probes are delayed by interrupts, never early: the quantile at ⅓ of the rounds is used, which works if a third of them
// are undisturbed, while a median needs half.
type view struct {
	*Probes
	all  [][]float64
	half [2][][]float64 // of two halves of the rounds, whose noise is independent
}

// Latencies returns the latency of each page from each vCPU over all rounds, in ns by vCPU and page; NaN if unknown. Slow blocks and late probes are
// removed.
func (p *Probes) Latencies() [][]float64 { return p.view().all }

const inTime = 1.0 / 3

// halfOf returns the half of a round: 0, 3, 4, 7, 8 … are one half, so that each half has as many rounds forwards as backwards.
func halfOf(round int) int { return (round + 1) / 2 % 2 }

func (p *Probes) view() *view {
	s := &view{Probes: p}
	n := len(p.Pages)
	usual, values, late := make([]float64, n), make([]float64, len(p.NS)), make([]float64, n)
	for v := range p.CPUs {
		for i := range n {
			for r := range p.NS {
				values[r] = p.NS[r][v][i]
			}
			usual[i] = stat.MedianOf(values)
		}
		block := make([]float64, len(p.NS)) // delay of each block
		for r := range p.NS {
			for i, x := range p.NS[r][v] {
				late[i] = x - usual[i]
			}
			block[r] = stat.MedianOf(late)
		}
		one := func(half int) []float64 {
			out, of := make([]float64, n), make([]float64, 0, len(p.NS))
			for i := range n {
				rounds := 0
				of = of[:0]
				for r := range p.NS {
					if half < 0 || halfOf(r) == half {
						rounds++
						if x := p.NS[r][v][i] - block[r]; !math.IsNaN(x) {
							of = append(of, x)
						}
					}
				}
				out[i] = math.NaN()
				if 2*len(of) >= rounds && len(of) > 0 {
					slices.Sort(of)
					out[i] = stat.Quantile(of, inTime)
				}
			}
			return out
		}
		s.all = append(s.all, one(-1))
		s.half[0] = append(s.half[0], one(0))
		s.half[1] = append(s.half[1], one(1))
	}
	return s
}

// of returns the median of a group's latencies for each page.
func of(rows [][]float64, group []int) []float64 {
	out := make([]float64, len(rows[0]))
	values := make([]float64, len(group))
	for i := range out {
		for k, v := range group {
			values[k] = rows[v][i]
		}
		out[i] = stat.MedianOf(values)
	}
	return out
}

// less returns a − b, by page.
func less(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// repeated reports whether the pages beyond a limit are the same in both halves of the rounds. agree is Cohen's kappa ("A coefficient of agreement
// for nominal scales", 1960): 0 for agreement by chance, such as noise of any amplitude; 1 for full agreement. both is the number of pages of the
// rarer side in both halves; ok reports whether this suffices for two kinds of pages.
func repeated(a, b []float64, limit float64) (agree float64, both int, ok bool) {
	var above, below, first, second, n float64
	for i := range a {
		if math.IsNaN(a[i] + b[i]) {
			continue
		}
		n++
		x, y := a[i] > limit, b[i] > limit
		if x {
			first++
		}
		if y {
			second++
		}
		switch {
		case x && y:
			above++
		case !x && !y:
			below++
		}
	}
	chance := (first*second + (n-first)*(n-second)) / n
	agree = (above + below - chance) / max(1, n-chance)
	both = int(min(above, below))
	return agree, both, agree >= leastAgree && both >= max(leastPages, int(math.Ceil(leastSide*n)))
}

const (
	leastAgree = 0.3
	leastSide  = 0.02
	leastPages = 3
)

// level returns the median of the vCPUs' latencies over all pages.
func (p *Probes) level(group []int) float64 {
	var all []float64
	for _, v := range group {
		for r := range p.NS {
			all = append(all, p.NS[r][v]...)
		}
	}
	return stat.MedianOf(all)
}
