package stat

import "math"

// ShareInterval returns the 95 % interval of a share when k of n draws (n ≥ 1) were hits (Wilson, "Probable inference, the law of succession,
// and statistical inference", 1927). Unlike k ÷ n ± an error it is valid near 0 and 1. k need not be whole: for dependent pages, n is the
// number of independent pages they are worth, and k that n times their share.
func ShareInterval(k, n float64) (low, high float64) {
	const z = 1.959964
	p, z2 := k/n, z*z
	middle := (p + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}
