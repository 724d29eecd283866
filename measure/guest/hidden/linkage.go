package hidden

import (
	"math"
	"slices"
)

// A merge joins two clusters at the mean distance between their members.
type merge struct {
	a, b   int // members of the two
	height float64
}

// link is average linkage (Sokal and Michener 1958) of a symmetric matrix of distances: it merges the two clusters with the least mean distance, n −
// 1 times. NaN means an unknown distance; means use the known ones, and clusters without any are merged last, at +Inf. O(n³), 0.1 s for 512.
func link(d [][]float64) []merge {
	n := len(d)
	sum, known := make([][]float64, n), make([][]float64, n)
	for i := range d {
		sum[i], known[i] = make([]float64, n), make([]float64, n)
		for j := range d {
			if i != j && !math.IsNaN(d[i][j]) {
				sum[i][j], known[i][j] = d[i][j], 1
			}
		}
	}
	alive := make([]int, n)
	for i := range alive {
		alive[i] = i
	}
	out := make([]merge, 0, n)
	for len(alive) > 1 {
		best := merge{alive[0], alive[1], math.Inf(1)}
		for x, i := range alive {
			for _, j := range alive[:x] {
				if known[i][j] > 0 && sum[i][j] < best.height*known[i][j] {
					best = merge{j, i, sum[i][j] / known[i][j]}
				}
			}
		}
		for _, k := range alive {
			sum[best.a][k] += sum[best.b][k]
			sum[k][best.a] = sum[best.a][k]
			known[best.a][k] += known[best.b][k]
			known[k][best.a] = known[best.a][k]
		}
		alive = slices.DeleteFunc(alive, func(i int) bool { return i == best.b })
		out = append(out, best)
	}
	return out
}

// cut returns the clusters of n members after the first merges, numbered in the order of their first members.
func cut(merges []merge, n int) []int {
	parent := make([]int, n)
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	for _, m := range merges {
		parent[find(m.b)] = find(m.a)
	}
	return renumber(n, find)
}

// renumber numbers the clusters of n members from 0 in the order of their first members. A negative cluster stays −1.
func renumber(n int, cluster func(int) int) []int {
	number := map[int]int{}
	out := make([]int, n)
	for i := range out {
		c := cluster(i)
		if c < 0 {
			out[i] = -1
			continue
		}
		if _, ok := number[c]; !ok {
			number[c] = len(number)
		}
		out[i] = number[c]
	}
	return out
}

// members returns the members of each cluster.
func members(label []int) [][]int {
	var out [][]int
	for i, l := range label {
		for l >= len(out) {
			out = append(out, nil)
		}
		if l >= 0 {
			out[l] = append(out[l], i)
		}
	}
	return out
}

// spread returns the mean distance within clusters and between them, NaN if there is none, and the mean silhouette (Rousseeuw 1987): −1 to 1, and 0
// for members alone in their cluster.
func spread(d [][]float64, label []int) (within, between, silhouette float64) {
	groups := members(label)
	var in, out, inN, outN, sum, n float64
	for i := range d {
		own, nearest := math.NaN(), math.Inf(1)
		for g, group := range groups {
			total, count := 0.0, 0.0
			for _, j := range group {
				if j != i && !math.IsNaN(d[i][j]) {
					total += d[i][j]
					count++
				}
			}
			switch {
			case count == 0:
			case g == label[i]:
				own = total / count
				in, inN = in+total, inN+count
			default:
				nearest = min(nearest, total/count)
				out, outN = out+total, outN+count
			}
		}
		n++
		if most := max(own, nearest); !math.IsNaN(own) && !math.IsInf(nearest, 1) && most > 0 {
			sum += (nearest - own) / most
		}
	}
	return in / inN, out / outN, sum / n
}
