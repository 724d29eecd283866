package stat

import "math"

// ShareInterval returns the 95 % interval of a share of which k of n draws, 1 or more, have been found (Wilson, "Probable inference, the law of
// succession, and statistical inference", 1927). Unlike k ÷ n ± an error it holds near 0 and 1. k need not be whole: of
// pages that are not independent n is how many independent ones they stand for, and k that n times their share.
func ShareInterval(k, n float64) (low, high float64) {
	const z = 1.959964
	p, z2 := k/n, z*z
	middle := (p + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}
