package hidden

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"sync"

	"example.org/homenode/internal/stat"
	"example.org/homenode/source/measured"
)

// counted has the accuracy of Judge in simulated guests: a line for each size, method, number of groups and detected step. TestPower -update writes
// it from the same runs as docs/evidence/measure-power.md.
//
//go:embed counted.txt
var counted string

// The simulated guests.
var (
	simulatedVCPUs = []int{1, 2, 3, 4, 8, 24}
	simulatedPages = []int{64, 256}
	simulatedSteps = []int{20, 30, 45, 55, 75, 100} // ns
)

// Methods in counted.txt.
const (
	countedOne       = "one" // answers with one kind of memory: groups and step are 0
	countedCrosswise = "crosswise"
	countedRows      = "rows"
	countedModes     = "modes"
	countedAlarms    = "alarms" // runs with one node that were answered with several nodes or far pages
)

const (
	nearStep = 15 // ns: maximum difference between a detected and a simulated step
	leastRun = 50 // minimum number of answers of a kind for a probability
)

// A class has answers that are counted together.
type class struct {
	vcpus, pages int
	method       string
	groups       int // of vCPUs; 1 for modes, 0 for one kind
	step         int // the simulated step nearest to the detected one; 0 for one kind
}

// A count is k of n.
type count struct{ n, k int }

// counts reads counted.txt.
var counts = sync.OnceValue(func() map[class]count {
	out := map[class]count{}
	for line := range strings.Lines(counted) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var c class
		var n count
		if _, err := fmt.Sscan(line, &c.vcpus, &c.pages, &c.method, &c.groups, &c.step, &n.n, &n.k); err != nil {
			panic(fmt.Sprintf("counted.txt: %q: %v", line, err)) // the file is embedded
		}
		out[c] = n
	}
	return out
})

// classOf returns the class of an answer, without its size; false if nothing similar was simulated.
func classOf(h *measured.Hidden) (c class, ok bool) {
	switch {
	case h.Answer == measured.OneKind:
		return class{method: countedOne}, true
	case h.Answer == measured.FarPages:
		c = class{method: countedModes, groups: 1}
	case h.Answer == measured.SeveralNodes && h.Method == crosswise:
		c = class{method: countedCrosswise, groups: len(h.Groups)}
	case h.Answer == measured.SeveralNodes:
		c = class{method: countedRows, groups: len(h.Groups)}
	default:
		return c, false
	}
	off := math.Inf(1)
	for _, s := range simulatedSteps {
		if d := math.Abs(h.Delta - float64(s)); d < off {
			c.step, off = s, d
		}
	}
	return c, off <= nearStep
}

// around returns the simulated sizes around a size: the same size, the two around it, or the largest if the size exceeds it by at most a third. It
// returns nil outside that range.
func around(sizes []int, n int) []int {
	for i, s := range sizes {
		switch {
		case s == n:
			return sizes[i : i+1]
		case s > n && i > 0:
			return sizes[i-1 : i+1]
		case s > n:
			return nil
		}
	}
	if largest := sizes[len(sizes)-1:]; 3*n <= 4*largest[0] {
		return largest
	}
	return nil
}

// odds returns measured.Hidden's Probability and FalseAlarms: the ends of 95 % intervals, so that no number of runs makes them 1 and 0. Between two
// simulated sizes it uses the worse one. Pages in one block of 2 MiB count as one, as in the simulation.
func (p *Probes) odds(h *measured.Hidden) (probability, alarms float64) {
	c, ok := classOf(h)
	if !ok || len(h.Unplaced) > 0 || p.At == nil || p.Core == nil {
		return 0, 0
	}
	probability = 1
	for _, vcpus := range around(simulatedVCPUs, len(p.CPUs)) {
		for _, pages := range around(simulatedPages, min(h.Pages, h.Blocks)) {
			c.vcpus, c.pages = vcpus, pages
			right, one := counts()[c], counts()[class{vcpus: vcpus, pages: pages, method: countedAlarms}]
			if right.n < leastRun || one.n < leastRun {
				return 0, 0
			}
			low, _ := stat.ShareInterval(float64(right.k), float64(right.n))
			_, high := stat.ShareInterval(float64(one.k), float64(one.n))
			probability, alarms = min(probability, low), max(alarms, high)
		}
	}
	if alarms == 0 { // no similar size
		return 0, 0
	}
	return probability, alarms
}
