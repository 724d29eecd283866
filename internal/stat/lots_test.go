package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWays compares the permutations with a count of all by hand.
func TestWays(t *testing.T) {
	lots := []Lot{
		NewLot([]int{1, 2, 2, 0, 0}, [][]float64{{5, 1}, {2, 6}, {1, 4}, {0, 1}, {2, 0}}, 4),
		NewLot([]int{1, 0, 0}, [][]float64{{3}, {1}, {-2}}, 4),
	}
	seen, extreme := 0, 0
	effect := lots[0].effect(lots[0].labels) + lots[1].effect(lots[1].labels)
	// ((5 + 6 + 4) − 3-fold controls: (0 + 2)/2 + 2 × (1 + 0)/2, then 3 − (1 − 2)/2) ÷ 4
	if want := (15 - 1 - 1 + 3.5) / 4; math.Abs(effect-want) > 1e-12 {
		t.Errorf("the effect is %v, want %v", effect, want)
	}
	for i := range 5 {
		for j := range 5 {
			for k := j + 1; k < 5; k++ {
				if i == j || i == k {
					continue
				}
				for l := range 3 {
					a, b := make([]int, 5), make([]int, 3)
					a[i], a[j], a[k], b[l] = 1, 2, 2, 1
					seen++
					if math.Abs(lots[0].effect(a)+lots[1].effect(b)) >= effect-1e-12 {
						extreme++
					}
				}
			}
		}
	}
	_, p, tried, all := Permute(lots)
	if tried != seen || !all || math.Abs(p-float64(extreme)/float64(seen)) > 1e-12 || float64(seen) != lots[0].ways()*lots[1].ways() {
		t.Errorf("p %v of %d ways (all %v), want %d of %d", p, tried, all, extreme, seen)
	}
	if w := WaysTo(5, 15); w != 15504 {
		t.Errorf("%v ways to choose 5 of 20, want 15,504", w)
	}
}

// TestDrawn compares the drawn permutations with all of them.
func TestDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	labels, gains := []int{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, make([][]float64, 15)
	for i := range gains {
		gains[i] = []float64{rng.NormFloat64() + float64(labels[i])}
	}
	l := NewLot(labels, gains, 4)
	extreme, tried := 0, 0
	each([]Lot{l}, 0, func(e float64) {
		tried++
		if math.Abs(e) >= math.Abs(l.effect(labels))*(1-1e-9) {
			extreme++
		}
	})
	const copies = 2 // as of two clusters of which one has nothing to choose: too many ways to try all
	same := NewLot([]int{1, 1, 0, 0, 0}, [][]float64{{0}, {0}, {0}, {0}, {0}}, 4)
	_, p, n, all := Permute([]Lot{l, same})
	exact := float64(extreme) / float64(tried)
	if all || n != LotResamples+1 || math.Abs(p-exact) > 4*math.Sqrt(exact*(1-exact)/LotResamples)+copies/float64(LotResamples) {
		t.Errorf("p %v of %d drawn (all %v), %v of all", p, n, all, exact)
	}
}
