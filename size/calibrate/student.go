package calibrate

import "math"

// confidence is that of every interval.
const confidence = 0.95

// quantile returns how many standard errors of a mean an interval of 95 % reaches to
// each side, by Student's t with so many degrees of freedom: 12.706 for 1, 1.960 for very
// many. It finds by bisection where the distribution, which is an exact sum for whole
// degrees of freedom, checks that share.
func quantile(freedom int) float64 {
	low, high := 0.0, 16.0 // 1 degree of freedom has 12.7, more have less
	for range 60 {
		if mid := (low + high) / 2; within(mid, freedom) < confidence {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// within returns the share of Student's distribution between −t and t. With
// θ = arctan(t ÷ √n) it is, for n = 1, 2θ ÷ π, and otherwise
//
//	n odd:  2/π · (θ + sin θ · (cos θ + 2/3 · cos³ θ + … + 2·4···(n−3) / 3·5···(n−2) · cosⁿ⁻² θ))
//	n even: sin θ · (1 + 1/2 · cos² θ + … + 1·3···(n−3) / 2·4···(n−2) · cosⁿ⁻² θ)
//
// (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
func within(t float64, n int) float64 {
	theta := math.Atan(t / math.Sqrt(float64(n)))
	sin, cos := math.Sincos(theta)
	odd := n % 2
	term, sum := math.Pow(cos, float64(odd)), 0.0
	for k := 2 + odd; k <= n; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if odd == 1 {
		return 2 / math.Pi * (theta + sin*sum)
	}
	return sin * sum
}

// meanOf returns the mean and the standard deviation of a sample of two or more.
func meanOf(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		deviation += float64((x - mean) * (x - mean))
	}
	return mean, math.Sqrt(deviation / float64(len(v)-1))
}
