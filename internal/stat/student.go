// Package stat contains the statistics shared by several packages.
package stat

import "math"

// Student returns the half-width, in standard errors, of an interval with the share in (0, 1) of Student's t with
// this many degrees of freedom (≥ 1): 12.706 for 95 % and 1 degree, 1.960 for 95 % and very many. It solves Within,
// which is an exact sum, by bisection.
func Student(share float64, freedom int) float64 {
	low, high := 0.0, 16.0 // 1 degree of freedom has 12.7 for 95 %, more have less
	for Within(high, freedom) < share {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; Within(mid, freedom) < share {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// Within returns the share of Student's distribution with n degrees of freedom between −t and t. With
// θ = arctan(t ÷ √n) it is, for n = 1, 2θ ÷ π, and otherwise
//
//	n odd:  2/π · (θ + sin θ · (cos θ + 2/3 · cos³ θ + … + 2·4···(n−3) / 3·5···(n−2) · cosⁿ⁻² θ))
//	n even: sin θ · (1 + 1/2 · cos² θ + … + 1·3···(n−3) / 2·4···(n−2) · cosⁿ⁻² θ)
//
// (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
func Within(t float64, n int) float64 {
	theta := math.Atan(t / math.Sqrt(float64(n)))
	sin, cos := math.Sincos(theta)
	odd := n % 2
	term, sum := math.Pow(cos, float64(odd)), 0.0
	for k := 2 + odd; k <= n; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if odd == 1 {
		return 2 / math.Pi * (theta + float64(sin*sum))
	}
	return sin * sum
}
