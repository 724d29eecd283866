package hidden

import (
	"math"
	"slices"

	"homenode/internal/stat"
)

// A view is what the vCPUs see of the pages, rounds put together, by vCPU and page; NaN where it is not known.
//
// Two things are taken out first. A whole block may be slow, when a neighbour loads the memory: how much, the median of its pages over
// what they have in other rounds says, and it is subtracted from them. Single probes are late by interrupts, never early: the quantile at
// ⅓ of the rounds is taken, which holds as long as a third of them are undisturbed, where a median needs half.
type view struct {
	*Probes
	all  [][]float64
	half [2][][]float64 // of two halves of the rounds, whose noise is independent
}

// Latencies returns what each vCPU sees of each page, all rounds together, in ns by vCPU and page; NaN where it is not known. Slow blocks and late
// probes are taken out.
func (p *Probes) Latencies() [][]float64 { return p.view().all }

const inTime = 1.0 / 3

// halfOf returns the half of a round: 0, 3, 4, 7, 8 … are one, so that each has as many rounds forwards as backwards.
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
		block := make([]float64, len(p.NS)) // how late each is
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

// of returns the median of what a group of vCPUs sees of each page.
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

// repeated reports whether pages lie beyond a limit in one half of the rounds where they do in the other. agree is Cohen's kappa ("A coefficient of agreement for
// nominal scales", 1960): 0 when no more than by chance, as of noise, however far it reaches; 1 when always. both is how many pages of the rarer
// side are so in both halves, ok whether this is enough for two kinds of pages.
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

// level returns the median of what the vCPUs see of all pages.
func (p *Probes) level(group []int) float64 {
	var all []float64
	for _, v := range group {
		for r := range p.NS {
			all = append(all, p.NS[r][v]...)
		}
	}
	return stat.MedianOf(all)
}
