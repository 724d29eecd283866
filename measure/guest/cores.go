package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"example.org/homenode/internal/stat"
	"example.org/homenode/internal/words"
	"example.org/homenode/measure/guest/hidden"
	"example.org/homenode/measure/guest/pingpong"
	"example.org/homenode/source/measured"
)

const (
	pairMost   = 200 * time.Millisecond // the processors of a slower pair do not run at the same time
	pairRounds = 10                     // over all pairs, at most; every second one in the other direction
	blockRows  = 8                      // processors that are paired with all others if there is no time for all pairs
)

// coreTasks returns the task for pairs of logical processors.
func coreTasks(p *Plan) []Task {
	switch {
	case !p.Options.asks(Cores):
		return nil
	case len(p.CPUs) < 2:
		p.miss("pairs of logical processors", "it needs two logical processors", "")
		return nil
	}
	pairs := len(p.CPUs) * (len(p.CPUs) - 1) / 2
	d := min(time.Duration(pairs)*pairRounds*10*time.Millisecond, 12*time.Second)
	if p.Options.quick() {
		d = min(d, 400*time.Millisecond)
	}
	return []Task{{Part: Cores, Name: "pairs of logical processors", CPUs: 2, For: d, run: measureCores}}
}

// A duo is a measured pair with its samples.
type duo struct {
	a, b    int // indices of processors
	samples []hidden.Sample
	ways    [2][]float64 // from a to b, and from b to a
}

// duos returns all pairs in random order, or the pairs of some processors with all others if there is no time for more.
func duos(n int, most int) (out []*duo) {
	rows := rand.Perm(n)
	if n*(n-1)/2 > most {
		rows = rows[:min(n, blockRows)]
	}
	in := make([]bool, n)
	for _, i := range rows {
		in[i] = true
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if in[i] || in[j] {
				out = append(out, &duo{a: i, b: j})
			}
		}
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func measureCores(ctx context.Context, r *run, d time.Duration) error {
	cpus := r.plan.CPUs
	form, each := pingpong.Full, 6*time.Millisecond
	if r.plan.Options.quick() {
		form, each = pingpong.Quick, time.Millisecond
	}
	all := duos(len(cpus), int(d/each))
	start := time.Now()
	var b breather
	var slow error
	for round := range pairRounds {
		if round > 0 && time.Since(start) > d*time.Duration(round)/time.Duration(round+1) {
			break // no time for another round
		}
		for _, pair := range all {
			if err := b.breathe(ctx); err != nil {
				return err
			}
			if time.Since(start) > d {
				break
			}
			way := round % 2
			from, to := cpus[pair.a], cpus[pair.b]
			if way == 1 {
				from, to = to, from
			}
			at := time.Since(start).Seconds()
			ns, err := pingpong.Swap(ctx, from, to, form, pairMost, nil)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				slow = fmt.Errorf("logical processors %d and %d: %w", from, to, err)
			}
			for i, x := range ns {
				pair.samples = append(pair.samples, hidden.Sample{At: at + float64(i)*1e-6, NS: x})
			}
			pair.ways[way] = append(pair.ways[way], ns...)
		}
	}
	if r.out.Cores = r.coresOf(all); r.out.Cores == nil {
		return cmp.Or(slow, errors.New("no pair could be measured"))
	}
	return slow
}

// belowThreeQuarters returns the samples up to the 75th percentile, ascending.
func belowThreeQuarters(samples []float64) []float64 {
	sorted := slices.Sorted(slices.Values(samples))
	limit := stat.Quantile(sorted, .75)
	return slices.DeleteFunc(sorted, func(x float64) bool { return x > limit })
}

// coresOf summarises the pairs; nil without samples.
func (r *run) coresOf(all []*duo) *measured.Cores {
	cpus := r.plan.CPUs
	out := &measured.Cores{Method: pingpong.Method}
	ns := make([][]float64, len(cpus))
	for i := range ns {
		ns[i] = make([]float64, len(cpus))
		for j := range ns[i] {
			if i != j {
				ns[i][j] = math.NaN()
			}
		}
	}
	for _, pair := range all {
		if len(pair.samples) == 0 {
			continue
		}
		var samples []float64
		for _, s := range pair.samples {
			samples = append(samples, s.NS)
		}
		below := belowThreeQuarters(samples)
		sorted := slices.Sorted(slices.Values(samples))
		p := measured.Pair{A: cpus[pair.a], B: cpus[pair.b], Latency: measured.PairStats{N: len(samples), Median: stat.Median(below),
			Min: sorted[0], P25: stat.Quantile(sorted, .25), P75: stat.Quantile(sorted, .75)}}
		if states, changes := hidden.States(pair.samples); len(states) > 1 {
			p.States, p.Changes = states, changes
		}
		ns[pair.a][pair.b], ns[pair.b][pair.a] = p.Latency.Median, p.Latency.Median
		out.Pairs = append(out.Pairs, p)
		r.ways(&p, pair)
	}
	if len(out.Pairs) == 0 {
		return nil
	}
	split := hidden.HasSplitL3(r.plan.Machine.Identity.Vendor)
	var filled [][]float64
	out.Levels, filled = hidden.Clusters(cpus, ns, split)
	for i := range ns {
		for j := i + 1; j < len(ns); j++ {
			if math.IsNaN(ns[i][j]) && !math.IsNaN(filled[i][j]) {
				x := filled[i][j]
				out.Pairs = append(out.Pairs, measured.Pair{A: cpus[i], B: cpus[j], Guessed: true, Latency: measured.PairStats{Median: x, Min: x, P25: x, P75: x}})
			}
		}
	}
	slices.SortFunc(out.Pairs, func(a, b measured.Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	out.CPUs = ordered(cpus, out.Levels)
	if split {
		out.Note = "On this vendor's processors the groups are those that share an L3 cache; they say nothing of nodes, since a line takes as long between two caches of a package as between packages."
	}
	return out
}

// ordered returns the processors in the order of the widest groups.
func ordered(cpus []int, levels []measured.GroupLevel) (out []int) {
	if len(levels) == 0 {
		return cpus
	}
	for _, g := range levels[len(levels)-1].Groups {
		out = append(out, g...)
	}
	for _, c := range cpus {
		out = words.Once(out, c)
	}
	return out
}

const mostApart = .10 // difference between the two directions

// ways checks that a cache line takes as long from A to B as from B to A, if both were measured and the state of the pair
// did not change meanwhile.
func (r *run) ways(p *measured.Pair, pair *duo) {
	if len(pair.ways[0]) == 0 || len(pair.ways[1]) == 0 || len(p.States) > 1 {
		return
	}
	there, back := stat.Median(belowThreeQuarters(pair.ways[0])), stat.Median(belowThreeQuarters(pair.ways[1]))
	r.pairsBoth++
	if math.Abs(there-back) > mostApart*min(there, back) {
		r.pairsApart = append(r.pairsApart, fmt.Sprintf("%d to %d %.0f ns, back %.0f ns", p.A, p.B, there, back))
	}
}

// waysCheck is the check of all pairs: one in twenty may differ by chance.
func (r *run) waysCheck() (c measured.Check, ok bool) {
	if r.pairsBoth == 0 {
		return c, false
	}
	c = measured.Check{Name: "a cache line takes as long in both directions", Want: "within 10 %, in 95 % of the pairs", Found: "within 10 % in all pairs"}
	c.OK = len(r.pairsApart)*20 <= r.pairsBoth
	if n := len(r.pairsApart); n > 0 {
		c.Found = fmt.Sprintf("apart in %d of %d: %s", n, r.pairsBoth, words.Join("; ", r.pairsApart[:min(3, n)]...))
	}
	return c, true
}
