package hidden

import (
	"cmp"
	"math"
	"slices"

	"example.org/homenode/internal/stat"
)

// A Fingerprint groups vCPUs by their latencies to the same pages, and places the pages.
//
// First come crosswise differences. Let d be the difference between the latencies of two vCPUs for a page. The distance of the vCPUs is the root of
// the covariance, over the pages, of d in one half of the rounds and d in the other half. The noise of the halves is independent, and a vCPU that is
// slower for all pages adds no covariance. The distance is 0 within a node, and 2Δ √(s(1 − s)) between two nodes if one of them is near the share s
// of the pages. Average linkage merges vCPUs up to 0.4 of the largest distance, and between decides for each two groups whether they are apart.
//
// Only if nothing is crosswise, such as when all memory is on one node, vCPUs are divided by their distance from all pages, at the largest gap.
//
// It works for 2 to 128 vCPUs, for any number of nodes, and with missing cells. (The first singular vector of the matrix does the same for two nodes
// and at least 4 vCPUs; it cuts a third node in two.) O(vCPUs² · (vCPUs + pages)).
type Fingerprint struct {
	// Group is the node of each vCPU, from 0; −1 if it is unknown: too few latencies, or it moved.
	Group []int
	// Node is the node of each page: that of a group, Elsewhere, or −1 if it is unclear.
	Node []int
	// Groups is the number of nodes with vCPUs that were found, 1 if none are apart. Elsewhere, if not 0, is the number of a node without vCPUs that
	// has some pages.
	Groups    int
	Elsewhere int
	Delta     float64     // ns: the median of the distances between groups; 0 for one group
	Between   []*Distance // of each two groups; for one group of the two halves that differ most, if any do
	Moved     []int       // vCPUs, by index, that changed their group between rounds
	Few       []int       // vCPUs, by index, with too few latencies
}

const (
	leastHeight = 0.8 * LeastStep
	ofHighest   = 0.4
	clip        = 100 // ns: larger differences of one page count as this
)

// fingerprint groups the vCPUs of the probes.
func (s *view) fingerprint() *Fingerprint {
	f := &Fingerprint{Groups: 1, Group: make([]int, len(s.CPUs)), Node: make([]int, len(s.Pages))}
	for i := range f.Node {
		f.Node[i] = -1
	}
	var usable []int
	for v := range s.CPUs {
		known := 0
		for i := range s.Pages {
			if !math.IsNaN(s.half[0][v][i] + s.half[1][v][i]) {
				known++
			}
		}
		if known < LeastPages || 2*known < len(s.Pages) {
			f.Few = append(f.Few, v)
			f.Group[v] = -1
			continue
		}
		usable = append(usable, v)
	}
	if len(usable) < 2 {
		return f
	}
	merges := link(s.distances(usable))
	highest := 0.0
	for _, m := range merges {
		if !math.IsInf(m.height, 1) {
			highest = max(highest, m.height)
		}
	}
	kept := slices.IndexFunc(merges, func(m merge) bool { return m.height > max(leastHeight, ofHighest*highest) })
	if kept < 0 {
		kept = len(merges)
	}
	for i, g := range cut(merges[:kept], len(usable)) {
		f.Group[usable[i]] = g
	}
	f.Moved = s.movers(f.Group)
	f.join(s)
	if f.Groups == 1 {
		f.rows(s, slices.DeleteFunc(usable, func(v int) bool { return f.Group[v] < 0 }))
	}
	if f.Groups > 1 {
		var deltas []float64
		for _, d := range f.Between {
			deltas = append(deltas, d.Delta)
		}
		f.Delta = stat.MedianOf(deltas)
		f.place(s)
		f.step()
	}
	return f
}

// distances returns the distance between each two of the usable vCPUs, by their latencies, in ns.
func (s *view) distances(usable []int) [][]float64 {
	d := make([][]float64, len(usable))
	for i := range d {
		d[i] = make([]float64, len(usable))
	}
	near := func(x float64) float64 { return min(max(x, -clip), clip) }
	for i, v := range usable {
		for j, w := range usable[:i] {
			var product, x, y, n float64
			for page := range s.Pages {
				one, other := s.half[0][v][page]-s.half[0][w][page], s.half[1][v][page]-s.half[1][w][page]
				if math.IsNaN(one + other) {
					continue
				}
				one, other = near(one), near(other)
				product, x, y, n = product+one*other, x+one, y+other, n+1
			}
			d[i][j] = math.NaN()
			if n >= LeastPages {
				d[i][j] = math.Sqrt(max(0, product/n-x/n*y/n))
			}
			d[j][i] = d[i][j]
		}
	}
	return d
}

// movers finds vCPUs whose latencies match one group in some rounds and another group in at least a quarter of the rounds, with a difference that
// between confirms. It removes them from their groups and returns them. A vCPU halfway between two groups, which was a group by itself, is either
// such a vCPU or joins the group that most of its rounds match. The common distance from all pages in a round does not count: a slow round is no
// move.
func (s *view) movers(group []int) (moved []int) {
	groups := members(group)
	if len(groups) < 2 {
		return nil
	}
	seen := make([][]float64, len(groups)) // by group and page
	for g, vs := range groups {
		seen[g] = of(s.all, vs)
	}
	for v, own := range group {
		if own < 0 {
			continue
		}
		rounds := make([][]int, len(groups)) // rounds by matching group
		for r := range s.NS {
			nearest, best := -1, math.Inf(1)
			for g := range groups {
				if e := stray(s.NS[r][v], seen[g]); e < best {
					nearest, best = g, e
				}
			}
			if nearest >= 0 {
				rounds[nearest] = append(rounds[nearest], r)
			}
		}
		first, second := 0, -1
		for g := 1; g < len(rounds); g++ {
			switch n := len(rounds[g]); {
			case n > len(rounds[first]):
				first, second = g, first
			case second < 0 || n > len(rounds[second]):
				second = g
			}
		}
		if 4*len(rounds[second]) >= len(s.NS) && s.changed(v, rounds[first], rounds[second]) {
			moved = append(moved, v)
		} else if len(groups[own]) == 1 && len(rounds[own]) == 0 {
			group[v] = first
		}
	}
	for _, v := range moved {
		group[v] = -1
	}
	copy(group, renumber(len(group), func(i int) int { return group[i] }))
	return moved
}

// stray returns the mean distance between two sets of latencies after subtracting their median difference; NaN without any.
func stray(ns, from []float64) float64 {
	e := less(ns, from)
	middle := stat.MedianOf(slices.Clone(e))
	sum, n := 0.0, 0.0
	for _, x := range e {
		if !math.IsNaN(x) {
			sum, n = sum+min(math.Abs(x-middle), clip), n+1
		}
	}
	return sum / n
}

// changed reports whether a vCPU's latencies in some rounds and in others differ crosswise: it compares them like two vCPUs.
func (p *Probes) changed(v int, some, others []int) bool {
	two := &Probes{CPUs: []int{0, 1}, Pages: p.Pages}
	for i := range max(len(some), len(others)) {
		two.NS = append(two.NS, [][]float64{p.NS[some[i%len(some)]][v], p.NS[others[i%len(others)]][v]})
	}
	return two.view().across([]int{0}, []int{1}).Crosswise
}

// join merges groups that are not crosswise, nearest first, until all are.
func (f *Fingerprint) join(s *view) {
	for {
		groups := members(f.Group)
		f.Groups = max(1, len(groups))
		f.Between = nil
		least, a, b := math.Inf(1), -1, -1
		for i := range groups {
			for j := range groups[:i] {
				d := s.across(groups[j], groups[i])
				f.Between = append(f.Between, d)
				if !d.Apart && d.Noise < least {
					least, a, b = d.Noise, j, i
				}
			}
		}
		if a < 0 {
			return
		}
		for v, g := range f.Group {
			if g == b {
				f.Group[v] = a
			}
		}
		copy(f.Group, renumber(len(f.Group), func(i int) int { return f.Group[i] }))
	}
}

// rows divides vCPUs without crosswise differences by their distance from all pages.
func (f *Fingerprint) rows(s *view, usable []int) {
	if len(usable) < 2 {
		return
	}
	level := map[int]float64{}
	for _, v := range usable {
		level[v] = s.level([]int{v})
	}
	slices.SortFunc(usable, func(v, w int) int { return cmp.Or(cmp.Compare(level[v], level[w]), cmp.Compare(v, w)) })
	at, gap := 1, 0.0
	for i := 1; i < len(usable); i++ {
		if g := level[usable[i]] - level[usable[i-1]]; g > gap {
			at, gap = i, g
		}
	}
	d := s.between(usable[:at], usable[at:])
	f.Between = []*Distance{d}
	if !d.Apart {
		return
	}
	f.Groups = 2
	for _, v := range usable[at:] {
		f.Group[v] = 1
	}
	copy(f.Group, renumber(len(f.Group), func(i int) int { return f.Group[i] }))
}

// step computes the distance of each two groups from the pages that are near one of them: other nodes' pages show no distance between them.
func (f *Fingerprint) step() {
	var deltas []float64
	k := 0
	for i := range f.Groups {
		for j := range i {
			var own []float64
			for p, n := range f.Node {
				if n == i || n == j {
					own = append(own, math.Abs(f.Between[k].Difference[p]))
				}
			}
			if len(own) >= leastPages {
				f.Between[k].Delta = stat.MedianOf(own)
			}
			deltas = append(deltas, f.Between[k].Delta)
			k++
		}
	}
	f.Delta = stat.MedianOf(deltas)
}

// place assigns each page to the group with the lowest latency, if the next group is slower by at least Δ/2. If no group is faster and all are slow,
// the page is elsewhere: on a node without vCPUs.
func (f *Fingerprint) place(s *view) {
	groups := members(f.Group)
	seen := make([][]float64, len(groups))
	for g, vs := range groups {
		seen[g] = of(s.all, vs)
	}
	fastest, lead := make([]float64, len(s.Pages)), make([]float64, len(s.Pages))
	var near []float64
	for i := range s.Pages {
		first, second, at := math.Inf(1), math.Inf(1), -1
		for g := range groups {
			switch x := seen[g][i]; {
			case x < first:
				first, second, at = x, first, g
			case x < second:
				second = x
			}
		}
		fastest[i], lead[i] = first, second-first
		if lead[i] >= f.Delta/2 && !math.IsInf(second, 1) {
			f.Node[i] = at
			near = append(near, first)
		}
	}
	if len(near) == 0 {
		return
	}
	level := stat.MedianOf(near)
	away := 0
	for i := range s.Pages {
		if lead[i] < f.Delta/4 && fastest[i] >= level+f.Delta/2 {
			away++
		}
	}
	if away < max(4, len(s.Pages)/20) {
		return
	}
	f.Elsewhere = f.Groups
	for i := range s.Pages {
		if lead[i] < f.Delta/2 && fastest[i] >= level+f.Delta/2 {
			f.Node[i] = f.Elsewhere
		}
	}
}
