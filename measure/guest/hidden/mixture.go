package hidden

import (
	"fmt"
	"math"
	"slices"

	"example.org/homenode/internal/stat"
)

// A Mixture is two normal distributions with one standard deviation, fitted to the latencies of pages from one vCPU, or one group of vCPUs:
//
//	f(y) = (1 − w) · N(y; near, σ) + w · N(y; far, σ)
type Mixture struct {
	Near, Far, Sigma float64 // ns
	Share            float64 // w: share of far pages
	// Gain is the improvement of the BIC over one normal distribution.
	Gain float64
	// Two means that there are two kinds of memory; Why is the reason if not.
	Two bool
	Why string
	// Chance is the probability of each page, in the given order, to be far; NaN if the latency is.
	Chance []float64
}

// The conditions for two modes. The first three come from the specification of this test, from simulations with one machine's noise. The step is
// larger than specified: one slow memory channel of eight also causes two modes, but less than 25 ns apart, and published steps between nodes are at
// least 44 ns and 40 %.
const (
	leastGain       = 10.0
	leastSeparation = 3.0 // in units of σ
	leastFar        = 0.03
	leastModeStep   = 25.0
	leastModeRatio  = 0.15
	mostModeRatio   = 1.5
)

// Fit fits two modes to latencies of pages, over all rounds and over two halves of them. Each latency must be of a single page, never a mean of
// several. Fit clips to the quantiles of 1 and 99 %, runs EM from four starts and selects the likeliest. One mode does not mean "all near": memory is
// all near, all far, or on one node.
func Fit(ns []float64, halves [2][]float64) *Mixture {
	m := &Mixture{Chance: make([]float64, len(ns))}
	y := slices.DeleteFunc(slices.Clone(ns), math.IsNaN)
	if len(y) < LeastPages {
		m.Why = fmt.Sprintf("%d pages have a latency, %d are needed", len(y), LeastPages)
		return m
	}
	slices.Sort(y)
	low, high := stat.Quantile(y, 0.01), stat.Quantile(y, 0.99)
	for i := range y {
		y[i] = min(max(y[i], low), high)
	}
	n := float64(len(y))
	mean, square := 0.0, 0.0
	for _, x := range y {
		mean += x / n
	}
	for _, x := range y {
		square += (x - mean) * (x - mean) / n
	}
	const least = 0.01 // ns: minimum spread, so that equal latencies have a likelihood
	one := -n / 2 * (math.Log(2*math.Pi*max(square, least)) + 1)
	best := math.Inf(-1)
	for _, s := range [][2]float64{{0.1, 0.9}, {0.02, 0.6}, {0.4, 0.98}, {0.25, 0.75}} {
		f := Mixture{Near: stat.Quantile(y, s[0]), Far: stat.Quantile(y, s[1]), Sigma: math.Sqrt(max(square/4, least)), Share: 0.5}
		if l := f.run(y); l > best {
			best = l
			m.Near, m.Far, m.Sigma, m.Share = f.Near, f.Far, f.Sigma, f.Share
		}
	}
	if m.Near > m.Far {
		m.Near, m.Far, m.Share = m.Far, m.Near, 1-m.Share
	}
	for i, x := range ns {
		m.Chance[i] = m.chance(min(max(x, low), high))
	}
	m.Gain = 2*(best-one) - 2*math.Log(n) // two additional parameters
	step := m.Far - m.Near
	agree, _, repeats := repeated(halves[0], halves[1], (m.Near+m.Far)/2)
	need := max(leastModeStep, leastModeRatio*m.Near)
	switch {
	case m.Gain <= leastGain || step < leastSeparation*m.Sigma:
		m.Why = fmt.Sprintf("two modes fit no better than one: %.0f ns apart, %.1f times their spread", step, step/m.Sigma)
	case step < need:
		m.Why = fmt.Sprintf("two modes are %.0f ns apart: below %.0f ns a memory channel can be the reason", step, need)
	case step > mostModeRatio*m.Near:
		m.Why = fmt.Sprintf("two modes are %.0f ns apart, more than a remote node costs", step)
	case m.Share < leastFar || m.Share > 1-leastFar:
		m.Why = fmt.Sprintf("one of two modes has %.1f %% of the pages: too few for one", 100*min(m.Share, 1-m.Share))
	case !repeats:
		m.Why = fmt.Sprintf("two halves of the rounds do not agree which pages are slow: kappa %.2f", agree)
	default:
		m.Two = true
	}
	return m
}

// chance returns the probability that a page with this latency is far.
func (m *Mixture) chance(y float64) float64 {
	a, b := (y-m.Near)/m.Sigma, (y-m.Far)/m.Sigma
	return 1 / (1 + (1-m.Share)/m.Share*math.Exp((b*b-a*a)/2))
}

// run is expectation and maximization until the likelihood converges; it returns its logarithm.
//
// With one σ, the logarithm of the odds that y is far is linear in y, so a sample needs one exponential. The sum of log f = log((1 − w) · N(y; near,
// σ)) + log(1 + odds) is computed with the second terms as a product.
func (m *Mixture) run(y []float64) (likelihood float64) {
	n := float64(len(y))
	last := math.Inf(-1)
	chance := make([]float64, len(y))
	for range 300 {
		variance := m.Sigma * m.Sigma
		slope := (m.Far - m.Near) / variance
		at := math.Log(m.Share/(1-m.Share)) - slope*(m.Near+m.Far)/2
		likelihood = n * (math.Log((1-m.Share)/m.Sigma) - math.Log(2*math.Pi)/2)
		var w, near, far, squares float64
		product := 1.0
		for i, x := range y {
			likelihood -= float64((x - m.Near) * (x - m.Near) / (2 * variance))
			r := 1.0
			if odds := at + float64(slope*x); odds > 40 { // 1 + e⁴⁰ is e⁴⁰ in floating point
				likelihood += odds
			} else {
				e := math.Exp(odds)
				r = e / (1 + e)
				if product *= 1 + e; product > 1e200 {
					likelihood += math.Log(product)
					product = 1
				}
			}
			chance[i] = r
			w += r
			far += float64(r * x)
			near += float64((1 - r) * x)
		}
		likelihood += math.Log(product)
		near, far = near/max(n-w, 1e-9), far/max(w, 1e-9)
		for i, x := range y {
			r := chance[i]
			squares += float64((1-r)*(x-near)*(x-near)) + float64(r*(x-far)*(x-far))
		}
		m.Near, m.Far = near, far
		m.Share = min(max(w/n, 1e-6), 1-1e-6)
		m.Sigma = math.Sqrt(max(squares/n, 0.01))
		if likelihood-last < 1e-6*n {
			break
		}
		last = likelihood
	}
	return likelihood
}
