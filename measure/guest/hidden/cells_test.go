package hidden

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.org/homenode/source/measured"
)

// A cell is many simulated guests of one kind, and what Judge answered.
type cell struct {
	World  string `json:"world"`
	Noise  string `json:"noise,omitempty"` // added to the recorded one
	Later  bool   `json:"later,omitempty"` // of the recording that was made when all thresholds stood
	VCPUs  int    `json:"vcpus"`
	Pages  int    `json:"pages"`
	Rounds int    `json:"rounds"`
	Step   int    `json:"step"` // ns
	Runs   int    `json:"runs"`

	Right   int `json:"right"`
	Wrong   int `json:"wrong"`   // says that there are several nodes, and is not right
	Unknown int `json:"unknown"` // "not known"
	// RMS is the root of the mean square of the error of the remote share, in points, where the answer was right; Worst the largest.
	RMS   float64 `json:"rms,omitempty"`
	Worst float64 `json:"worst,omitempty"`
	// Answers is how often each kind of answer was given and was right.
	Answers map[string][2]int `json:"answers"`
}

// Worlds of cells.
const (
	worldOne       = "one node"
	worldTwo       = "vCPUs and pages on two nodes"
	worldRows      = "vCPUs on two nodes, all pages on one"
	worldFar       = "vCPUs on one node, pages on two"
	worldElsewhere = "vCPUs on two nodes, a fifth of the pages on a third"
	worldThree     = "vCPUs and pages on three nodes"
	worldFour      = "vCPUs and pages on four nodes"
	worldTurns     = "one node, one vCPU after the other"
)

var worlds = []string{worldOne, worldTwo, worldRows, worldFar, worldElsewhere, worldThree, worldFour, worldTurns}

// shares are from and to which share of the pages is not on the first node: 21 values in between are played.
func shares(name string) (from, to float64) {
	switch name {
	case worldOne, worldTurns:
		return 0, 0
	case worldRows:
		return 0, 1 // these two alone
	case worldThree, worldFour:
		return 0.4, 0.8
	}
	return 0.05, 0.95
}

// leastVCPUs is how many vCPUs a world needs: one on each node.
func leastVCPUs(name string) int {
	switch name {
	case worldTwo, worldRows, worldElsewhere, worldTurns:
		return 2
	case worldThree:
		return 3
	case worldFour:
		return 4
	}
	return 1
}

// world returns the world of the i-th run.
func (c *cell) world(i int) world {
	w := world{vcpus: c.VCPUs, pages: c.Pages, rounds: c.Rounds, nodes: leastVCPUs(c.World), delta: float64(c.Step), ownSpread: 5}
	from, to := shares(c.World)
	w.share = from + (to-from)*float64(i%21)/20
	switch c.World {
	case worldRows:
		w.share = float64(i / 2 % 2)
	case worldElsewhere:
		w.far = 0.2
	case worldTurns:
		w.nodes, w.sequential = 1, true
	}
	w.noise = noiseOf(c.Noise)
	return w
}

// noiseOf returns what a kind of noise adds; nil for none.
func noiseOf(name string) func(s *sim) {
	for _, n := range slices.Concat(otherNoise, lookalikes) {
		if n.name == name {
			return n.add
		}
	}
	return nil
}

// key names a cell, but for its runs.
func (c *cell) key() string {
	recording := ""
	if c.Later {
		recording = ", later"
	}
	return fmt.Sprintf("%s, %s, %d vCPUs, %d pages, %d rounds, +%d ns%s", c.World, c.Noise, c.VCPUs, c.Pages, c.Rounds, c.Step, recording)
}

// play draws the cell's world and judges it. Each run has a seed of its own, of the cell's name and its number, and a recording by turns.
func (c *cell) play(recs []*recording, runs int) {
	c.Runs, c.Right, c.Wrong, c.Unknown, c.RMS, c.Worst, c.Answers = runs, 0, 0, 0, 0, 0, map[string][2]int{}
	sum := fnv.New64a()
	sum.Write([]byte(c.key()))
	square, n := 0.0, 0
	for i := range runs {
		w := c.world(i)
		s := w.draw(recs[i%len(recs)], rand.New(rand.NewPCG(sum.Sum64(), uint64(i))))
		h := Judge(s.Probes, nil)
		right := s.right(h, &w)
		if w.delta == 0 {
			right = h.Answer == measured.OneKind
		}
		switch {
		case right:
			c.Right++
		case says(h):
			c.Wrong++
		case h.Answer == measured.NotKnown:
			c.Unknown++
		}
		if right && says(h) {
			e := 100 * math.Abs(total(h)-s.remote())
			square, n, c.Worst = square+e*e, n+1, max(c.Worst, e)
		}
		if of, ok := classOf(h); ok {
			name := fmt.Sprintf("%s %d %d", of.method, of.groups, of.step)
			a := c.Answers[name]
			a[0]++
			a[1] += btoi(right)
			c.Answers[name] = a
		}
	}
	if n > 0 {
		c.RMS = math.Round(1000*math.Sqrt(square/float64(n))) / 1000
	}
	c.Worst = math.Round(1000*c.Worst) / 1000
}

// allCells are the cells of docs/evidence/measure-power.md with the runs of each: all of them for what has a target, fewer for the others.
func allCells(runs int) (cells []*cell) {
	add := func(c cell, share int) {
		c.Runs = max(21, runs/share)
		cells = append(cells, &c)
	}
	for _, pages := range simulatedPages {
		for _, vcpus := range simulatedVCPUs {
			for _, name := range worlds {
				c := cell{World: name, VCPUs: vcpus, Pages: pages, Rounds: LeastRounds}
				switch {
				case vcpus < leastVCPUs(name) || name == worldTurns:
				case name == worldOne:
					add(c, 1)
				default:
					for _, c.Step = range simulatedSteps {
						share := 10
						switch {
						case c.target():
							share = 1
						case name == worldTwo || name == worldFar:
							share = 4
						}
						add(c, share)
					}
				}
			}
		}
	}
	for _, name := range []string{worldOne, worldTwo, worldFar} { // as in a full run
		for _, vcpus := range []int{1, 4} {
			if vcpus >= leastVCPUs(name) {
				add(cell{World: name, VCPUs: vcpus, Pages: 256, Rounds: 2 * LeastRounds, Step: 45 * btoi(name != worldOne)}, 1)
			}
		}
	}
	for _, pages := range simulatedPages {
		for _, vcpus := range heldOutVCPUs {
			c := cell{World: worldOne, Later: true, VCPUs: vcpus, Pages: pages, Rounds: LeastRounds}
			add(c, 1)
			for _, c.Step = range []int{45, 55} {
				if c.World = worldTwo; vcpus > 1 {
					add(c, 1)
				}
				c.World = worldFar
				add(c, 1)
			}
		}
	}
	for _, noise := range otherNoise {
		for _, vcpus := range heldOutVCPUs {
			c := cell{World: worldOne, Noise: noise.name, VCPUs: vcpus, Pages: 256, Rounds: LeastRounds}
			add(c, 1)
			if c.World = worldTurns; vcpus > 1 {
				add(c, 4)
			}
			c.Step = 55
			if c.World = worldTwo; vcpus > 1 {
				add(c, 4)
			}
			c.World = worldFar
			add(c, 4)
		}
	}
	for _, l := range lookalikes {
		for _, vcpus := range heldOutVCPUs {
			add(cell{World: worldOne, Noise: l.name, VCPUs: vcpus, Pages: 256, Rounds: LeastRounds}, 4)
		}
	}
	return cells
}

var heldOutVCPUs = []int{1, 2, 8}

// target reports whether the cell has a target to be found.
func (c *cell) target() bool {
	return (c.World == worldTwo || c.World == worldFar) && (c.Step == 45 || c.Step == 55) && c.Noise == ""
}

// playAll plays cells on all processors.
func playAll(t testing.TB, cells []*cell) {
	recs, later := recordings(t), []*recording{recorded(t, "later")}
	var wait sync.WaitGroup
	next := make(chan *cell)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for c := range next {
				if c.Later {
					c.play(later, c.Runs)
					continue
				}
				c.play(recs, c.Runs)
			}
		})
	}
	for _, c := range cells {
		next <- c
	}
	close(next)
	wait.Wait()
}

// A record is cells as testdata/power.jsonl keeps them: one a line.
func writeRecord[T any](t testing.TB, cells []*T) []byte {
	var b bytes.Buffer
	for _, c := range cells {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func readRecord[T any](t testing.TB, record []byte) (cells []*T) {
	t.Helper()
	for s := bufio.NewScanner(bytes.NewReader(record)); s.Scan(); {
		c := new(T)
		if err := json.Unmarshal(s.Bytes(), c); err != nil {
			t.Fatal(err)
		}
		cells = append(cells, c)
	}
	return cells
}

// countedOf returns counted.txt: what the cells of recorded noise alone add up to. That there is one kind of memory is wrong in guests with
// nodes 45 ns apart or more, the least published step; smaller ones do not count there. Guests with one vCPU see one kind where all pages are
// on the other node, and are right.
func countedOf(cells []*cell) []byte {
	sum := map[class]count{}
	for _, c := range cells {
		if c.Noise != "" || c.Later || c.Rounds != LeastRounds {
			continue
		}
		if c.World == worldOne {
			sum[class{vcpus: c.VCPUs, pages: c.Pages, method: countedAlarms}] = count{c.Runs, c.Wrong}
		}
		for name, a := range c.Answers {
			of := class{vcpus: c.VCPUs, pages: c.Pages}
			fields := strings.Fields(name)
			of.method = fields[0]
			of.groups, _ = strconv.Atoi(fields[1])
			of.step, _ = strconv.Atoi(fields[2])
			if of.method == countedOne && c.Step > 0 && c.Step < 45 {
				continue
			}
			n := sum[of]
			sum[of] = count{n.n + a[0], n.k + a[1]}
		}
	}
	var lines []string
	for of, n := range sum {
		lines = append(lines, fmt.Sprintf("%d %d %s %d %d %d %d\n", of.vcpus, of.pages, of.method, of.groups, of.step, n.n, n.k))
	}
	slices.SortFunc(lines, func(a, b string) int { return slices.Compare(sortable(a), sortable(b)) })
	return []byte("# Written by TestPower -update: vCPUs, pages, method, groups, ns, answers, of these right (alarms: runs, of these alarms).\n" + strings.Join(lines, ""))
}

// sortable has the numbers of a line as such.
func sortable(line string) (key []int) {
	for _, f := range strings.Fields(line) {
		n, err := strconv.Atoi(f)
		if err != nil {
			n = slices.Index([]string{countedAlarms, countedOne, countedCrosswise, countedRows, countedModes}, f)
		}
		key = append(key, n)
	}
	return key
}
