package hidden

import (
	"fmt"
	"math"
	"slices"

	"example.org/homenode/internal/stat"
	"example.org/homenode/source/measured"
)

// A Distance states whether two groups of vCPUs are on different nodes.
//
// The difference between the latencies of B and of A for a page does not contain the page's own cost. It is +Δ or −Δ for every page if the groups
// are on different nodes. Neither the latency of local memory nor the share of far pages need be known. In the crosswise case the differences form
// two kinds, 2Δ apart, or Δ apart if some pages are far from both groups.
type Distance struct {
	// Differ means that the groups see different latencies, beyond noise; Apart that only distance can explain it.
	Differ, Apart bool
	// Crosswise means that the difference depends on the page. Otherwise one group is farther from all pages.
	Crosswise bool
	Delta     float64 // ns
	// Difference is B's latency minus A's, by page in ns; NaN if one is unknown. Noise is its standard deviation without any distance, estimated
	// from the halves of the rounds.
	Difference []float64
	Noise      float64
	Checks     []measured.Check // checks of other explanations than distance; none for crosswise
	Why        string           // reason for not Apart
}

// The conditions. Crosswise differences have a single explanation and need little evidence. A group that is slower for all pages may have another
// reason, so most of the smallest published step (44 ns, 40 % of local memory) is required.
const (
	leastRowStep  = 35.0
	leastRowRatio = 0.2
	mostOfRounds  = 0.15 // share of the duration: maximum distance of a vCPU's middle from the common middle
	mostCore      = 0.08
	mostNoise     = 2.0
)

// between compares two groups of vCPUs, by their index in CPUs.
func (s *view) between(a, b []int) *Distance {
	d := s.across(a, b)
	if !d.Apart && d.Why == "" {
		d.rows(s.Probes, a, b)
	}
	return d
}

// across searches for two kinds of pages in the difference. If there is only one kind, Why stays empty.
func (s *view) across(a, b []int) *Distance {
	d := &Distance{Difference: less(of(s.all, b), of(s.all, a))}
	var halves [2][]float64
	for h := range halves {
		halves[h] = less(of(s.half[h], b), of(s.half[h], a))
	}
	noise := less(halves[0], halves[1])
	for i := range noise {
		noise[i] /= 2
	}
	sorted := slices.DeleteFunc(slices.Clone(d.Difference), math.IsNaN)
	slices.Sort(sorted)
	if len(sorted) < LeastPages {
		d.Why = fmt.Sprintf("%d pages have a latency from both, %d are needed", len(sorted), LeastPages)
		return d
	}
	d.Noise = stat.Deviation(noise)
	cut := split(sorted)
	below, above := stat.Median(sorted[:cut]), stat.Median(sorted[cut:])
	gap := above - below
	if _, _, ok := repeated(halves[0], halves[1], (below+above)/2); gap < 2*LeastStep || !ok {
		return d
	}
	d.Delta = gap
	if below < -gap/4 && above > gap/4 {
		d.Delta = gap / 2
	}
	d.Differ, d.Apart, d.Crosswise = true, true, true
	return d
}

// split returns the index that divides ascending values into two kinds with the least sum of squares within both (Otsu 1979). Values farther than
// twice the clip from the median count as at that distance.
func split(sorted []float64) (at int) {
	middle := stat.Median(sorted)
	total := 0.0
	near := func(x float64) float64 { return min(max(x-middle, -2*clip), 2*clip) }
	for _, x := range sorted {
		total += near(x)
	}
	n, left, best := float64(len(sorted)), 0.0, math.Inf(-1)
	at = 1
	for i := 1; i < len(sorted); i++ {
		left += near(sorted[i-1])
		k := float64(i)
		if between := left*left/k + (total-left)*(total-left)/(n-k); between > best {
			at, best = i, between
		}
	}
	return at
}

// rows checks whether one group is slower for all pages, and other explanations for it.
func (d *Distance) rows(p *Probes, a, b []int) {
	rounds := p.differences(a, b)
	middle := stat.MedianOf(slices.Clone(rounds))
	d.Delta = math.Abs(middle)
	if middle < 0 { // b is the slower one
		a, b = b, a
	}
	need := max(leastRowStep, leastRowRatio*p.level(a))
	if !(d.Delta >= need) {
		d.Why = fmt.Sprintf("they see the same pages near and far, and all of them within %.0f ns: below %.0f ns this may be the processors", d.Delta, need)
		return
	}
	d.Differ = true
	d.check("step of a group that is farther from all pages", true, fmt.Sprintf("%.0f ns", d.Delta), fmt.Sprintf("%.0f ns or more", need))
	same, half := 0, [2][]float64{}
	for r := range rounds {
		step := rounds[r] * math.Copysign(1, middle)
		if step >= d.Delta/2 {
			same++
		}
		half[2*r/len(rounds)] = append(half[2*r/len(rounds)], step)
	}
	d.check("rounds with this step", float64(same) >= 7.0/8*float64(len(rounds)), fmt.Sprintf("%d of %d", same, len(rounds)), "7 of 8 or more")
	early, late := stat.MedianOf(half[0]), stat.MedianOf(half[1])
	d.check("step in the first and in the last half of the time", min(early, late) >= d.Delta/2, fmt.Sprintf("%.0f and %.0f ns", early, late), fmt.Sprintf("%.0f ns or more", d.Delta/2))

	d.rowChecks(p, a, b)
	d.Apart = true
	for _, c := range d.Checks {
		if !c.OK && d.Apart {
			d.Apart = false
			d.Why = fmt.Sprintf("%s: %s, should be %s", c.Name, c.Found, c.Want)
		}
	}
}

// rowChecks checks whether the processors, instead of distance, can explain that b is farther from all pages than a.
func (d *Distance) rowChecks(p *Probes, a, b []int) {
	found, ok := "not known", false
	if p.At != nil {
		apart := p.turns(slices.Concat(a, b))
		found, ok = fmt.Sprintf("%.0f %% of the time apart", 100*apart), apart <= mostOfRounds
	}
	d.check("vCPUs were measured in turns", ok, found, fmt.Sprintf("%.0f %% or less", 100*mostOfRounds))

	found, ok = "not known", false
	if p.Core != nil {
		ratio := p.core(b) / p.core(a)
		found, ok = fmt.Sprintf("%+.0f %%", 100*(ratio-1)), ratio <= 1+mostCore
	}
	d.check("L1 latency of the farther group", ok, found, fmt.Sprintf("at most %.0f %% more than the nearer one's", 100*mostCore))

	ratio := p.noise(b) / p.noise(a)
	d.check("noise of the farther group", ratio <= mostNoise, fmt.Sprintf("%.1f times", ratio), fmt.Sprintf("%.0f times the nearer one's or less", mostNoise))

	if len(p.CPUs) >= 4 {
		d.check("vCPUs of the smaller group", min(len(a), len(b)) >= 2, fmt.Sprint(min(len(a), len(b))), "2 or more: one may be slow by itself")
	}
	if len(a)+len(b) > 2 {
		// The slowest of the nearer group and the fastest of the farther one.
		fast, slow := math.Inf(1), math.Inf(-1)
		for _, v := range a {
			slow = max(slow, p.level([]int{v}))
		}
		for _, v := range b {
			fast = min(fast, p.level([]int{v}))
		}
		d.check("gap between the groups", fast-slow >= d.Delta/2, fmt.Sprintf("%.0f ns", fast-slow), fmt.Sprintf("%.0f ns or more", d.Delta/2))
	}
}

func (d *Distance) check(name string, ok bool, found, want string) {
	d.Checks = append(d.Checks, measured.Check{Name: name, Found: found, Want: want, OK: ok})
}

// differences returns, by round, the median over the pages of b's latency minus a's.
func (p *Probes) differences(a, b []int) []float64 {
	out := make([]float64, len(p.NS))
	for r, round := range p.NS {
		out[r] = stat.MedianOf(less(of(round, b), of(round, a)))
	}
	return out
}

// turns returns the maximum distance of the middle of a vCPU's blocks from that of all blocks, as a share of the duration.
func (p *Probes) turns(group []int) (apart float64) {
	from, to, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0.0
	own := make([]float64, len(group))
	for _, at := range p.At {
		for k, v := range group {
			from, to = min(from, at[v]), max(to, at[v])
			sum, n = sum+at[v], n+1
			own[k] += at[v] / float64(len(p.At))
		}
	}
	for _, x := range own {
		apart = max(apart, math.Abs(x-sum/n)/(to-from))
	}
	return apart
}

// core returns the median L1 latency of vCPUs.
func (p *Probes) core(group []int) float64 {
	var all []float64
	for r := range p.Core {
		for _, v := range group {
			all = append(all, p.Core[r][v])
		}
	}
	return stat.MedianOf(all)
}

// noise returns the median over vCPUs of the variation of a latency from round to round.
func (p *Probes) noise(group []int) float64 {
	var all []float64
	for _, v := range group {
		var changes []float64
		for r := 1; r < len(p.NS); r++ {
			for i, x := range p.NS[r][v] {
				changes = append(changes, x-p.NS[r-1][v][i])
			}
		}
		all = append(all, stat.Deviation(changes))
	}
	return stat.MedianOf(all)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
