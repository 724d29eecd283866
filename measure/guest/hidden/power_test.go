package hidden

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/source/measured"
)

// right reports whether an answer says what is so: groups of vCPUs are the nodes, or the pages are two kinds.
func (s *sim) right(h *measured.Hidden, w *world) bool {
	if w.nodes == 1 {
		return h.Answer == measured.FarPages
	}
	if h.Answer != measured.SeveralNodes || len(h.Groups) != w.nodes {
		return false
	}
	for _, g := range h.Groups {
		for _, cpu := range g {
			if s.vcpu[cpu] != s.vcpu[g[0]] {
				return false
			}
		}
	}
	return len(h.Unplaced) == 0
}

// remote is the true share of far pages on average over the vCPUs.
func (s *sim) remote() float64 {
	far := 0
	for _, v := range s.vcpu {
		for _, n := range s.page {
			if n != v {
				far++
			}
		}
	}
	return float64(far) / float64(len(s.vcpu)*len(s.page))
}

func total(h *measured.Hidden) float64 {
	i := slices.IndexFunc(h.Shares, func(s measured.Share) bool { return s.Of == "all" && len(s.From) == 0 })
	return h.Shares[i].Remote
}

func says(h *measured.Hidden) bool {
	return h.Answer == measured.SeveralNodes || h.Answer == measured.FarPages
}

// A tally is what many runs of a world answered.
type tally struct {
	runs, says, right, unknown int
	square                     float64 // of the errors of the share, in points
	missed, false              []string
}

// play draws a world many times, with noise of both recordings by turns. Every run has another share, of least to most.
func play(recs []*recording, w world, least, most float64, runs int, seed uint64) *tally {
	rng := rand.New(rand.NewPCG(seed, uint64(w.vcpus)))
	t := &tally{}
	for i := range runs {
		w.share = least + (most-least)*float64(i%21)/20
		s := w.draw(recs[i%len(recs)], rng)
		h := Judge(s.Probes, nil)
		t.runs++
		switch {
		case says(h):
			t.says++
		case h.Answer == measured.NotKnown:
			t.unknown++
		}
		if says(h) && w.nodes == 1 && w.delta == 0 {
			t.false = append(t.false, fmt.Sprintf("%s, by %s, %.0f ns, %v", h.Answer, h.Method, h.Delta, h.Checks))
		}
		if s.right(h, &w) {
			t.right++
			e := 100 * (total(h) - s.remote())
			t.square += e * e
		} else {
			t.missed = append(t.missed, fmt.Sprintf("share %.2f: %s %v, %s %s %.0f %v", w.share, h.Answer, h.Groups, h.Why, h.Method, h.Delta, h.Checks))
		}
	}
	return t
}

func recordings(t testing.TB) []*recording {
	return []*recording{recorded(t, "busy"), recorded(t, "memory")}
}

// oneNode, twoNodes and farPages are the worlds of the tests.
func oneNode(vcpus int) world {
	return world{vcpus: vcpus, pages: 256, rounds: 8, nodes: 1, ownSpread: 5}
}

func twoNodes(vcpus int, delta float64) world {
	w := oneNode(vcpus)
	w.nodes, w.delta = 2, delta
	return w
}

func farPages(vcpus int, delta float64) world {
	w := oneNode(vcpus)
	w.delta = delta
	return w
}

// TestFalseAndFound is the short form of TestPower: one set of thresholds, no false answer, all found at +55 ns.
func TestFalseAndFound(t *testing.T) {
	recs := recordings(t)
	for _, v := range []int{1, 2, 3, 4, 8} {
		if got := play(recs, oneNode(v), 0, 0, 42, 1); got.says > 0 {
			t.Errorf("%d vCPUs on one node: %d of %d answers say that there are several: %v", v, got.says, got.runs, got.false)
		}
		if got := play(recs, farPages(v, 55), 0.05, 0.95, 42, 2); got.right < got.runs {
			t.Errorf("%d vCPUs, pages on two nodes: found %d of %d: %v", v, got.right, got.runs, got.missed)
		}
		if v == 1 {
			continue
		}
		if got := play(recs, twoNodes(v, 55), 0, 1, 42, 3); got.right < got.runs {
			t.Errorf("%d vCPUs on two nodes: found %d of %d: %v", v, got.right, got.runs, got.missed)
		}
	}
}

// TestOtherNoise does the same with noise that the thresholds were not chosen on. Some of it hides a step: a group that is farther from all pages and has slower
// cores is not believed, and waves of ± 20 % are larger than the step.
func TestOtherNoise(t *testing.T) {
	recs := recordings(t)
	for _, noise := range otherNoise {
		t.Run(noise.name, func(t *testing.T) {
			for _, v := range []int{1, 2, 8} {
				w := oneNode(v)
				w.pages = 128
				w.noise = noise.add
				if got := play(recs, w, 0, 0, 21, 4); got.says > 0 {
					t.Errorf("%d vCPUs on one node: %d of %d answers say that there are several: %v", v, got.says, got.runs, got.false)
				}
				w = twoNodes(max(2, v), 55)
				w.pages = 128
				w.noise = noise.add
				if got := play(recs, w, 0, 1, 21, 5); got.right < got.runs*80/100 {
					t.Errorf("%d vCPUs on two nodes: found %d of %d: %v", v, got.right, got.runs, got.missed)
				}
				w = farPages(v, 55)
				w.pages = 128
				w.noise = noise.add
				if got := play(recs, w, 0.05, 0.95, 21, 6); got.right < got.runs*80/100 {
					t.Errorf("%d vCPUs, pages on two nodes: found %d of %d: %v", v, got.right, got.runs, got.missed)
				}
			}
		})
	}
}

// TestLookalikes plays what looks like several nodes and is none.
func TestLookalikes(t *testing.T) {
	recs := recordings(t)
	for _, l := range lookalikes {
		t.Run(l.name, func(t *testing.T) {
			for _, v := range []int{1, 2, 4, 8} {
				w := oneNode(v)
				w.pages = 128
				w.noise = l.add
				if got := play(recs, w, 0, 0, 21, 7); got.says > 0 {
					t.Errorf("%d vCPUs on one node: %d of %d answers say that there are several: %v", v, got.says, got.runs, got.false)
				}
			}
		})
	}
	for _, noise := range otherNoise {
		t.Run("one vCPU after the other, "+noise.name, func(t *testing.T) {
			for _, v := range []int{2, 8} {
				w := oneNode(v)
				w.pages = 128
				w.noise, w.sequential = noise.add, true
				if got := play(recs, w, 0, 0, 21, 8); got.says > 0 {
					t.Errorf("%d vCPUs on one node: %d of %d answers say that there are several: %v", v, got.says, got.runs, got.false)
				}
			}
		})
	}
}
