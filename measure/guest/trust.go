package guest

import (
	"fmt"
	"math"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/measured"
)

// Limits of figures that must agree.
const (
	diagonalApart = .10 // a node's own memory relative to the RAM of the rungs
	probeApart    = .15 // single pages relative to the RAM of the rungs
	l1Least       = 3   // cycles of a load from L1
	l1Most        = 6
)

// judge evaluates the pages, and checks whether the figures are reliable.
func (r *run) judge() {
	r.out.Hidden, r.out.HiddenByNode = judgeHidden(r.seen, r.out.Cores)
	t := &r.out.Trust
	for _, check := range []func() (measured.Check, bool){r.l1Check, r.monotone, r.diagonal, r.probeCheck, r.waysCheck} {
		if c, ok := check(); ok {
			t.Checks = append(t.Checks, c)
			if !c.OK {
				t.Reasons = append(t.Reasons, fmt.Sprintf("%s: found %s, want %s", c.Name, c.Found, c.Want))
			}
		}
	}
	if r.load.Busy() && r.plan.Options.Force {
		t.Reasons = append(t.Reasons, r.load.String())
	}
	if r.ended != nil {
		t.Reasons = append(t.Reasons, "the run ended early: "+reasonOf(r.ended))
	}
	t.OK = len(t.Reasons) == 0
	// The following reasons weaken single figures, which are marked.
	if r.load.Busy() && !r.plan.Options.Force {
		t.Reasons = append(t.Reasons, r.load.String()+": only what load does not change was measured")
	}
	if why := r.fromCaches(); why != "" {
		t.Reasons = append(t.Reasons, why)
	}
	if n := r.marked(); n > 0 {
		t.Reasons = append(t.Reasons, fmt.Sprintf("%d figures drifted or were disturbed while they were measured: they are marked", n))
	}
}

// fromCaches returns a warning if bandwidth may be that of caches, because all caches of the threads together hold at least half of the memory; ""
// if not.
func (r *run) fromCaches() string {
	if r.out.Bandwidth == nil && len(r.out.Threads) == 0 {
		return ""
	}
	g := r.plan.loadPlaces()
	for i := range g.from {
		if held := lastCaches(r.plan.Machine, r.plan.spare(g.cpus[i])); 2*held >= g.bytes {
			return fmt.Sprintf("bandwidth may be that of caches: they hold %v, and %v were used", numa.Bytes(held), numa.Bytes(g.bytes))
		}
	}
	return ""
}

// level returns the latency of a level, in huge pages if available.
func (r *run) level(name string) *measured.Level {
	for i, l := range r.out.Levels {
		if l.Name == name {
			return &r.out.Levels[i]
		}
	}
	return nil
}

func (r *run) l1Check() (c measured.Check, ok bool) {
	l := r.level("L1")
	if l == nil || l.Cycles == 0 {
		return c, false
	}
	return measured.Check{Name: "a load from L1", Found: fmt.Sprintf("%.1f cycles", l.Cycles), Want: fmt.Sprintf("%d to %d cycles", l1Least, l1Most),
		OK: l.Cycles >= l1Least-.5 && l.Cycles <= l1Most+.5}, true
}

// monotone checks that no larger working set is faster than a smaller cache.
func (r *run) monotone() (c measured.Check, ok bool) {
	var last *measured.Level
	var found []string
	for i := range r.out.Levels {
		l := &r.out.Levels[i]
		if last != nil && l.Pages == last.Pages {
			ok = true
			if l.Latency < last.Latency {
				found = append(found, fmt.Sprintf("%s %.1f ns, %s %.1f ns (%s pages)", last.Name, last.Latency, l.Name, l.Latency, l.Pages))
			}
		}
		last = l
	}
	c = measured.Check{Name: "larger caches are slower", Found: "each slower than the one before", Want: "each slower than the one before", OK: len(found) == 0}
	if !c.OK {
		c.Found = strings.Join(found, "; ")
	}
	return c, ok
}

// apart returns the difference of two latencies as a share of the smaller one; infinite if one is 0.
func apart(a, b float64) float64 {
	if min(a, b) <= 0 {
		return math.Inf(1)
	}
	return math.Abs(a-b) / min(a, b)
}

// diagonal checks the matrix against the rungs, for the node on which both were measured.
func (r *run) diagonal() (c measured.Check, ok bool) {
	m := r.out.Latency
	if m == nil || len(r.plan.CPUs) == 0 {
		return c, false
	}
	node := nodeOf(r.plan.Machine, r.plan.CPUs[0])
	for i, from := range m.From {
		for j, to := range m.To {
			if s := m.Cells[i][j].Stats; from == node && to == node && s != nil {
				if rung := r.ram(m.Pages, m.Bytes); rung != nil {
					ns := rung.Latency.Median
					return measured.Check{Name: fmt.Sprintf("memory of node %d, by matrix and by working set", node), Found: fmt.Sprintf("%.0f and %.0f ns", s.Median, ns),
						Want: "within 10 %", OK: apart(s.Median, ns) <= diagonalApart}, true
				}
			}
		}
	}
	return c, false
}

// ram returns the RAM rung with the largest working set up to a size: a chase through more memory has more TLB misses, so figures of different
// sizes do not compare. It returns nil if there is none.
func (r *run) ram(kind measured.Pages, most int64) (largest *measured.Rung) {
	for i := range r.out.Rungs {
		g := &r.out.Rungs[i]
		if g.Level == "RAM" && g.Pages == kind && g.Bytes <= most && (largest == nil || g.Bytes > largest.Bytes) {
			largest = g
		}
	}
	return largest
}

// probeCheck checks the latency of single pages against the chase through the same memory.
func (r *run) probeCheck() (c measured.Check, ok bool) {
	s, some := statsOf(r.byChase)
	if r.byPages == 0 || !some {
		return c, false
	}
	return measured.Check{Name: "memory, by single pages and by working set", Found: fmt.Sprintf("%.0f and %.0f ns", r.byPages, s.Median),
		Want: "within 15 %", OK: apart(r.byPages, s.Median) <= probeApart}, true
}

// marked counts figures that drifted or were disturbed.
func (r *run) marked() (n int) {
	count := func(s *measured.Stats) {
		if s != nil && (s.Drifting || s.Disturbed != "") {
			n++
		}
	}
	for i := range r.out.Rungs {
		count(&r.out.Rungs[i].Latency)
	}
	for _, m := range []*measured.Matrix{r.out.Latency, r.out.Bandwidth} {
		if m == nil {
			continue
		}
		for _, row := range m.Cells {
			for _, c := range row {
				count(c.Stats)
			}
		}
	}
	for i := range r.out.Loaded {
		count(&r.out.Loaded[i].Latency)
	}
	for i := range r.out.Steps {
		count(&r.out.Steps[i].Latency)
	}
	return n
}
