package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/internal/stat"
	"example.org/homenode/source/measured"
)

// TestProbability holds the probabilities against guests whose seeds are not those of the record: answers are right at least as often as they say.
func TestProbability(t *testing.T) {
	recs := recordings(t)
	rng := rand.New(rand.NewPCG(20, 1))
	said, right, square, n := 0.0, 0.0, 0.0, 0.0
	for i := range 1200 {
		c := &cell{World: worlds[i%7], VCPUs: []int{1, 2, 3, 4}[i/7%4], Pages: []int{64, 64, 128}[i%3], Rounds: LeastRounds}
		if c.World != worldOne {
			c.Step = simulatedSteps[2*btoi(c.World != worldTwo)+rng.IntN(4)]
		}
		if c.VCPUs < leastVCPUs(c.World) {
			continue
		}
		w := c.world(i)
		s := w.draw(recs[i%2], rng)
		h := Judge(s.Probes, nil)
		if h.Probability == 0 {
			continue
		}
		if h.Probability == 1 || !(h.FalseAlarms > 0 && h.FalseAlarms < 0.02) {
			t.Fatalf("probability %v, false alarms %v", h.Probability, h.FalseAlarms)
		}
		said, n = said+h.Probability, n+1
		square += h.Probability * (1 - h.Probability)
		right += float64(btoi(s.right(h, &w) || c.Step == 0 && h.Answer == measured.OneKind || c.VCPUs == 1 && h.Answer == measured.OneKind && c.World == worldOne))
	}
	if n < 500 {
		t.Fatalf("%v answers have a probability", n)
	}
	if right < said-3*math.Sqrt(square) {
		t.Errorf("%v of %v answers are right, their probabilities are %.1f in sum", right, n, said)
	}
}

// TestOdds looks answers up.
func TestOdds(t *testing.T) {
	guest := func(vcpus int) *Probes {
		return &Probes{CPUs: make([]int, vcpus), At: [][]float64{}, Core: [][]float64{}}
	}
	hidden := func(change func(h *measured.Hidden)) *measured.Hidden {
		h := &measured.Hidden{Answer: measured.SeveralNodes, Method: crosswise, Groups: make([][]int, 2), Pages: 256, Blocks: 256, Delta: 52}
		change(h)
		return h
	}
	same := func(*measured.Hidden) {}
	of := func(c class) float64 {
		n, ok := counts()[c]
		if !ok {
			t.Fatalf("no line for %+v", c)
		}
		low, _ := stat.ShareInterval(float64(n.k), float64(n.n))
		return low
	}
	for _, tt := range []struct {
		name   string
		probes *Probes
		hidden *measured.Hidden
		like   []class // the worst of these; none for not simulated
	}{
		{"as simulated", guest(8), hidden(same), []class{{8, 256, countedCrosswise, 2, 55}}},
		{"a smaller step", guest(8), hidden(func(h *measured.Hidden) { h.Delta = 37 }), []class{{8, 256, countedCrosswise, 2, 30}}},
		{"between sizes", guest(6), hidden(func(h *measured.Hidden) { h.Pages, h.Blocks = 128, 128 }),
			[]class{{4, 64, countedCrosswise, 2, 55}, {8, 64, countedCrosswise, 2, 55}, {4, 256, countedCrosswise, 2, 55}, {8, 256, countedCrosswise, 2, 55}}},
		{"a third more", guest(32), hidden(func(h *measured.Hidden) { h.Pages, h.Blocks = 341, 341 }), []class{{24, 256, countedCrosswise, 2, 55}}},
		{"pages in the same blocks", guest(8), hidden(func(h *measured.Hidden) { h.Blocks = 64 }), []class{{8, 64, countedCrosswise, 2, 55}}},
		{"one kind", guest(2), &measured.Hidden{Answer: measured.OneKind, Pages: 64, Blocks: 64}, []class{{2, 64, countedOne, 0, 0}}},
		{"rows", guest(4), hidden(func(h *measured.Hidden) { h.Method = rowsOnly }), []class{{4, 256, countedRows, 2, 55}}},
		{"far pages", guest(1), hidden(func(h *measured.Hidden) { h.Answer, h.Method, h.Groups = measured.FarPages, modes, nil }), []class{{1, 256, countedModes, 1, 55}}},

		{"more vCPUs", guest(33), hidden(same), nil},
		{"fewer pages", guest(8), hidden(func(h *measured.Hidden) { h.Blocks = 63 }), nil},
		{"more pages", guest(8), hidden(func(h *measured.Hidden) { h.Pages, h.Blocks = 342, 342 }), nil},
		{"a larger step", guest(8), hidden(func(h *measured.Hidden) { h.Delta = 116 }), nil},
		{"more groups", guest(8), hidden(func(h *measured.Hidden) { h.Groups = make([][]int, 5) }), nil},
		{"a vCPU elsewhere", guest(8), hidden(func(h *measured.Hidden) { h.Unplaced = []int{1} }), nil},
		{"not known", guest(8), hidden(func(h *measured.Hidden) { h.Answer = measured.NotKnown }), nil},
		{"no times", &Probes{CPUs: make([]int, 8), Core: [][]float64{}}, hidden(same), nil},
		{"no L1 latencies", &Probes{CPUs: make([]int, 8), At: [][]float64{}}, hidden(same), nil},
	} {
		got, alarms := tt.probes.odds(tt.hidden)
		want := 0.0
		if len(tt.like) > 0 {
			var all []float64
			for _, c := range tt.like {
				all = append(all, of(c))
			}
			want = slices.Min(all)
		}
		if got != want || (alarms > 0) != (want > 0) {
			t.Errorf("%s: %v, false alarms %v; want %v", tt.name, got, alarms, want)
		}
	}
}
