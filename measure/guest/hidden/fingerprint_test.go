package hidden

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/source/measured"
)

// TestNodes draws guests of 2 to 8 nodes, with and without a node that has memory only.
func TestNodes(t *testing.T) {
	recs := recordings(t)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, tt := range []struct {
		vcpus, nodes int
		share, far   float64
	}{
		{4, 2, 0.5, 0}, {6, 3, 0.67, 0}, {12, 3, 0.67, 0}, {12, 3, 0.5, 0.25}, {8, 4, 0.75, 0}, {16, 4, 0.75, 0}, {16, 4, 0.6, 0.2}, {32, 8, 0.875, 0},
		{8, 2, 0.5, 0.3}, {3, 3, 0.67, 0}, {64, 2, 0.3, 0.1},
	} {
		w := oneNode(tt.vcpus)
		w.nodes, w.delta, w.share, w.far = tt.nodes, 55, tt.share, tt.far
		for i := range 10 {
			s := w.draw(recs[i%2], rng)
			f := s.Probes.view().fingerprint()
			if !slices.Equal(f.Group, s.vcpu) {
				t.Errorf("%+v: groups %v, want %v", tt, f.Group, s.vcpu)
				continue
			}
			wrong, clear := 0, 0
			for p, n := range f.Node {
				if n >= 0 {
					clear++
					if n != s.page[p] {
						wrong++
					}
				}
			}
			if wrong > 2 || clear < 230 {
				t.Errorf("%+v: %d of 256 pages are placed, %d of them wrong", tt, clear, wrong)
			}
			if f.Delta < 48 || f.Delta > 62 {
				t.Errorf("%+v: Δ %.0f ns, want 55", tt, f.Delta)
			}
		}
	}
}

// TestThirdNode is one whose vCPUs have no page near: it is as far from all pages as the others are from half.
func TestThirdNode(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	w := oneNode(9)
	w.nodes, w.delta, w.share = 3, 55, 1.0/3
	for i := range 10 {
		s := w.draw(recordings(t)[i%2], rng)
		for p, n := range s.page {
			if n == 2 { // as if it were on node 1
				s.page[p] = 1
				for r := range s.NS {
					for v, node := range s.vcpu {
						s.NS[r][v][p] += 55 * (float64(btoi(node != 1)) - float64(btoi(node != 2)))
					}
				}
			}
		}
		if f := s.Probes.view().fingerprint(); !slices.Equal(f.Group, s.vcpu) {
			t.Errorf("groups %v, want %v", f.Group, s.vcpu)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestMovedAndMissing has a vCPU that moves in mid-run, and one that measured little.
func TestMovedAndMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, when := range []int{3, 4, 5} {
		w := twoNodes(8, 55)
		w.share = 0.4
		for i := range 10 {
			s := w.draw(recordings(t)[i%2], rng)
			for r := range s.NS {
				for p := range s.Pages {
					if r >= when { // vCPU 2 moves from node 0 to node 1
						s.NS[r][2][p] += 55 * (float64(btoi(s.page[p] != 1)) - float64(btoi(s.page[p] != 0)))
					}
					if p > 20 {
						s.NS[r][6][p] = math.NaN()
					}
				}
			}
			h := Judge(s.Probes, nil)
			if h.Answer != measured.SeveralNodes || !slices.Equal(h.Unplaced, []int{2, 6}) || len(h.Groups) != 2 || !slices.Equal(h.Groups[0], []int{0, 1, 3}) || !slices.Equal(h.Groups[1], []int{4, 5, 7}) {
				t.Errorf("moved in round %d: %s, groups %v, unplaced %v", when, h.Answer, h.Groups, h.Unplaced)
			}
			if !strings.Contains(h.Says, "Where vCPUs 2, 6 are is not known.") {
				t.Errorf("says %q", h.Says)
			}
		}
	}
	// Of two vCPUs one moves: nothing is left to compare.
	w := twoNodes(2, 55)
	w.share = 0.5
	s := w.draw(recordings(t)[0], rng)
	for r := 4; r < len(s.NS); r++ {
		for p := range s.Pages {
			s.NS[r][1][p] += 55 * (float64(btoi(s.page[p] != 0)) - float64(btoi(s.page[p] != 1)))
		}
	}
	if h := Judge(s.Probes, nil); h.Answer != measured.NotKnown || !strings.Contains(h.Why, "vCPUs 1 changed") {
		t.Errorf("%s: %s", h.Answer, h.Why)
	}
}

// TestTooLittle has what nothing can be said of.
func TestTooLittle(t *testing.T) {
	rec := recordings(t)[0]
	rng := rand.New(rand.NewPCG(4, 1))
	for _, tt := range []struct {
		change func(w *world)
		blocks int64 // pages of one block
		why    string
	}{
		{func(w *world) { w.rounds = 4 }, 1, "4 rounds, 8 are needed"},
		{func(w *world) { w.pages = 16 }, 1, "16 pages, 32 are needed"},
		{func(*world) {}, 64, "the pages lie in 4 blocks of 2 MiB, 16 are needed"},
	} {
		w := twoNodes(4, 55)
		tt.change(&w)
		s := w.draw(rec, rng)
		for i := range s.Pages {
			s.Pages[i].Block /= tt.blocks
		}
		h := Judge(s.Probes, nil)
		if h.Answer != measured.NotKnown || h.Why != tt.why {
			t.Errorf("%s: %q, want %q", h.Answer, h.Why, tt.why)
		}
	}
	for _, p := range []*Probes{{}, {CPUs: []int{0}}, {CPUs: []int{0, 1}, Pages: make([]Page, 64)}} {
		if h := Judge(p, nil); h.Answer != measured.NotKnown {
			t.Errorf("%s of nothing", h.Answer)
		}
	}
	// All missing.
	s := new(world)
	*s = twoNodes(4, 55)
	d := s.draw(rec, rng)
	d.each(func(_, _, _ int, _, _ float64) float64 { return math.NaN() })
	if h := Judge(d.Probes, nil); h.Answer != measured.NotKnown || h.Why == "" {
		t.Errorf("%s of what is missing: %q", h.Answer, h.Why)
	}
}

// TestSays reads the sentences and the shares, and that JSON can hold them.
func TestSays(t *testing.T) {
	rec := recordings(t)[0]
	rng := rand.New(rand.NewPCG(5, 1))
	two := twoNodes(4, 55)
	two.share = 0.25
	levels := []measured.GroupLevel{{Name: Package, Groups: [][]int{{0, 1}, {2, 3}}, Ratio: 2}}
	far := farPages(4, 55)
	far.share = 0.25
	for _, tt := range []struct {
		w      world
		levels []measured.GroupLevel
		want   []string
	}{
		{two, levels, []string{"vCPUs 0-1 and 2-3 are on different NUMA nodes of the host", "Cache lines between the vCPUs show the same groups.", "50 % of the pages are remote, on average of the vCPUs (95 % interval 44 to 56 %)"}},
		{two, []measured.GroupLevel{{Groups: [][]int{{0, 2}, {1, 3}}}}, []string{"are on different NUMA nodes"}},
		{far, nil, []string{"All vCPUs see the same pages near and far, and there are two kinds of memory", "25 % of the pages (95 % interval 20 to 31 %) are on another node than these vCPUs."}},
		{oneNode(4), nil, []string{"one kind of memory", "all near, all far, or one node. This cannot be distinguished from inside."}},
		{oneNode(1), nil, []string{"One vCPU looked, and there is one kind of memory"}},
	} {
		h := Judge(tt.w.draw(rec, rng).Probes, tt.levels)
		for _, want := range append(tt.want, Limits) {
			if !strings.Contains(h.Says, want) {
				t.Errorf("%q does not say %q", h.Says, want)
			}
		}
		if _, err := json.Marshal(h); err != nil {
			t.Error(err)
		}
		for _, s := range h.Shares {
			if s.Low > s.Remote || s.High < s.Remote || s.Pages == 0 {
				t.Errorf("share %+v", s)
			}
		}
	}
	// Pages of one block are one draw.
	s := two.draw(rec, rng)
	for i := range s.Pages {
		s.Pages[i].Block /= 8
	}
	h := Judge(s.Probes, nil)
	if h.Blocks != 32 || h.Shares[len(h.Shares)-1].High-h.Shares[len(h.Shares)-1].Low < 0.25 {
		t.Errorf("%d blocks, shares %+v", h.Blocks, h.Shares)
	}
	// Lines that show other groups speak against.
	h = Judge(two.draw(rec, rng).Probes, []measured.GroupLevel{{Groups: [][]int{{0, 2}, {1, 3}}}})
	i := slices.IndexFunc(h.Checks, func(c measured.Check) bool { return c.Name == "groups of vCPUs by cache lines" })
	if i < 0 || h.Checks[i].OK {
		t.Errorf("checks %+v", h.Checks)
	}
}
