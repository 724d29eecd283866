package hidden

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A watchCell is simulated guests that are watched from four vCPUs, on one node or on two, and what Watch reported. Without a Change nothing happens.
type watchCell struct {
	Guest  string `json:"guest"`
	Change string `json:"change,omitempty"`
	Load   string `json:"load,omitempty"`
	Pages  int    `json:"pages"`
	Step   int    `json:"step"` // ns
	Guests int    `json:"guests"`
	Rounds int    `json:"rounds"` // of each, after those that are learned from; with a change, after it

	// Alarms is how often a change was reported in rounds without one, by what it was said to be.
	Alarms map[string]int `json:"alarms"`
	// Found has how many guests' changes were reported in which round after the change, Said by what they were said to be.
	Found []int          `json:"found,omitempty"`
	Said  map[string]int `json:"said,omitempty"`
}

// What watched guests are.
const (
	watchedTwo  = "vCPUs on two nodes, 30 % of the pages on the second"
	watchedNear = "vCPUs on two nodes, all pages on one"
	watchedOne  = "all on one node"
)

// What happens to them.
var changesOf = []struct {
	guest, name string
	change      func(w *watched)
}{
	{watchedTwo, "10 % of the pages move", func(w *watched) { w.move(len(w.page) / 10) }},
	{watchedTwo, "4 pages move", func(w *watched) { w.move(4) }},
	{watchedTwo, "all pages move to the other node", func(w *watched) { w.move(len(w.page)) }},
	{watchedTwo, "one vCPU moves", func(w *watched) { w.vcpu[1] = 1 }},
	{watchedTwo, "the two vCPUs of one node move to the other", func(w *watched) { w.vcpu = []int{1, 1, 1, 1} }},
	{watchedTwo, "all vCPUs change sides", func(w *watched) { w.vcpu = []int{1, 1, 0, 0} }},
	{watchedNear, "one vCPU moves", func(w *watched) { w.vcpu[1] = 1 }},
	{watchedOne, "10 % of the pages move away", func(w *watched) { w.move(len(w.page) / 10) }},
	{watchedOne, "one vCPU moves away", func(w *watched) { w.vcpu[1] = 1 }},
	{watchedOne, "all vCPUs move away from all pages", func(w *watched) { w.vcpu = []int{1, 1, 1, 1} }},
}

// move takes the first pages to the other node.
func (w *watched) move(pages int) {
	for i := range pages {
		w.page[i] = 1 - w.page[i]
	}
}

// Loads that are no change, beside those of otherNoise that are not of the machine itself.
var loads = []struct {
	name string
	add  func(s *sim)
}{
	{"each time all pages are up to 40 ns slower", func(s *sim) {
		more := 40 * s.rng.Float64()
		s.each(func(_, _, _ int, _, x float64) float64 { return x + more })
	}},
	{"each time each vCPU is up to 10 ns slower", func(s *sim) {
		more := make([]float64, len(s.CPUs))
		for v := range more {
			more[v] = 10 * s.rng.Float64()
		}
		s.each(func(_, v, _ int, _, x float64) float64 { return x + more[v] })
	}},
	{"one vCPU of four is 40 ns slower, one time of ten", func(s *sim) {
		slow := s.rng.IntN(10 * len(s.CPUs))
		s.each(func(_, v, _ int, _, x float64) float64 { return x + 40*float64(btoi(10*v == slow)) })
	}},
	noiseNamed("tails"), noiseNamed("Student"), noiseNamed("drift"), noiseNamed("waves"), noiseNamed("bursts"), noiseNamed("neighbours"),
	noiseNamed("clock"), noiseNamed("missing"),
}

// noiseNamed returns the noise of otherNoise whose name begins so.
func noiseNamed(begin string) struct {
	name string
	add  func(s *sim)
} {
	return otherNoise[slices.IndexFunc(otherNoise, func(n struct {
		name string
		add  func(s *sim)
	}) bool {
		return strings.HasPrefix(n.name, begin)
	})]
}

const quietRounds = 20 // before a change

// play watches the cell's guests.
func (c *watchCell) play(recs []*recording) {
	c.Alarms = map[string]int{}
	if c.Change != "" {
		c.Found, c.Said = make([]int, c.Rounds), map[string]int{}
	}
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s, %s, %s, %d pages, +%d ns", c.Guest, c.Change, c.Load, c.Pages, c.Step)
	for i := range c.Guests {
		w := newWatched(recs[i%len(recs)], rand.New(rand.NewPCG(sum.Sum64(), uint64(i))).Uint64(), c.Pages, 0.3)
		w.step = float64(c.Step)
		if c.Guest != watchedTwo {
			clear(w.page)
		}
		if c.Guest == watchedOne {
			w.vcpu = []int{0, 0, 0, 0}
		}
		for _, l := range loads {
			if l.name == c.Load {
				w.load = l.add
			}
		}
		watch := NewWatch([]int{0, 1, 2, 3})
		quiet := c.Rounds
		if c.Change != "" {
			quiet = quietRounds
		}
		at := 0
		for ; at < learnRounds+quiet; at++ {
			for _, change := range watch.Add(w.round(at)) {
				c.Alarms[change.What]++
			}
		}
		if c.Change == "" {
			continue
		}
		for _, change := range changesOf {
			if change.guest == c.Guest && change.name == c.Change {
				change.change(w)
			}
		}
		for n := range c.Rounds {
			if changes := watch.Add(w.round(at + n)); len(changes) > 0 {
				c.Found[n]++
				c.Said[changes[0].What]++
				break
			}
		}
	}
}

// allWatched are the cells of watching, for so many runs of the others.
func allWatched(runs int) (cells []*watchCell) {
	for _, guest := range []string{watchedTwo, watchedOne} {
		for _, pages := range []int{32, 64, 256} {
			cells = append(cells, &watchCell{Guest: guest, Pages: pages, Step: 55, Guests: max(2, runs/50), Rounds: 500})
		}
		for _, l := range loads {
			cells = append(cells, &watchCell{Guest: guest, Load: l.name, Pages: 64, Step: 55, Guests: max(2, runs/50), Rounds: 100})
		}
	}
	for _, change := range changesOf {
		for _, pages := range []int{64, 256} {
			for _, step := range []int{30, 45, 55} {
				cells = append(cells, &watchCell{Guest: change.guest, Change: change.name, Pages: pages, Step: step, Guests: max(2, runs/10), Rounds: 20})
			}
		}
	}
	return cells
}

// within is how many guests' changes were reported in so many rounds.
func (c *watchCell) within(rounds int) (n int) {
	for _, k := range c.Found[:rounds] {
		n += k
	}
	return n
}

// quiet is how many rounds without a change were watched.
func (c *watchCell) quiet() int {
	if c.Change == "" {
		return c.Guests * c.Rounds
	}
	return c.Guests * quietRounds
}

func watchAll(t testing.TB, cells []*watchCell) {
	recs := recordings(t)
	var wait sync.WaitGroup
	next := make(chan *watchCell)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for c := range next {
				c.play(recs)
			}
		})
	}
	for _, c := range cells {
		next <- c
	}
	close(next)
	wait.Wait()
}
