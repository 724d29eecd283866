package hidden

import (
	"math"

	"example.org/homenode/internal/stat"
	"example.org/homenode/source/measured"
)

// The conditions for levels and names.
const (
	leastRatio      = 1.5 // between ÷ within, and from one merge to the next
	leastSilhouette = 0.5
	coreNS          = 15 // threads of a core pass a line in 5 to 10 ns, cores that share an L3 in 20 to 60
	coreThreads     = 8
)

// Names of levels.
const (
	Threads  = "threads of a core"
	SharedL3 = "shared L3"
	Package  = "package"
)

// Clusters finds levels in the latencies of a cache line between each two logical processors, closest level first. ns is symmetric, in the order of
// cpus, with NaN for unmeasured pairs. A level ends and the next begins where successive merges of average linkage, on the logarithms, grow by at
// least 1.5 times (up to half as many groups as processors).
//
// A level is called a package, and may be a node, if it is the outermost, latencies between its groups are 1.5 times those within, and the mean
// silhouette is at least 0.5. split means that packages of this machine have several L3 caches (AMD, see HasSplitL3). Then the groups are those of
// caches and do not reveal nodes: a line takes as long between two caches of a package as between packages (dual EPYC 7742: 1.06 times).
//
// filled is ns with each missing pair replaced by the median of the measured pairs between the two innermost groups, NaN if there are none.
func Clusters(cpus []int, ns [][]float64, split bool) (levels []measured.GroupLevel, filled [][]float64) {
	n := len(ns)
	logs := make([][]float64, n)
	for i := range ns {
		logs[i] = make([]float64, n)
		for j, x := range ns[i] {
			logs[i][j] = math.Log(x)
		}
	}
	merges := link(logs)
	inner := make([]int, n) // one group each, until a level is found
	for i := (n + 1) / 2; i < n-1; i++ {
		low, high := merges[i-1].height, merges[i].height
		if high-low < math.Log(leastRatio) || math.IsInf(high, 1) {
			continue
		}
		label := cut(merges[:i], n)
		// Silhouettes of the latencies themselves, as in published matrices.
		within, between, silhouette := spread(ns, label)
		if between < leastRatio*within {
			continue
		}
		level := measured.GroupLevel{Name: SharedL3, Ratio: between / within}
		largest := 0
		for _, group := range members(label) {
			largest = max(largest, len(group))
			named := make([]int, len(group))
			for k, v := range group {
				named[k] = cpus[v]
			}
			level.Groups = append(level.Groups, named)
		}
		switch {
		case within <= coreNS && largest <= coreThreads:
			level.Name = Threads
		case !split && silhouette >= leastSilhouette:
			level.Name = Package
		}
		if len(levels) == 0 {
			inner = label
		} else if levels[len(levels)-1].Name == Package {
			levels[len(levels)-1].Name = SharedL3 // it is not the outermost
		}
		levels = append(levels, level)
	}
	return levels, fill(ns, inner)
}

// HasSplitL3 reports whether packages of a vendor's processors have several L3 caches, by the vendor name in CPUID. Then groups by cache lines are
// caches. Processors of AMD have had several since 2017; for others this is unknown.
func HasSplitL3(vendor string) bool { return vendor == "AuthenticAMD" || vendor == "HygonGenuine" }

// fill completes a matrix by groups.
func fill(ns [][]float64, label []int) [][]float64 {
	groups := members(label)
	known := make([][][]float64, len(groups))
	for g := range known {
		known[g] = make([][]float64, len(groups))
	}
	for i := range ns {
		for j, x := range ns[i] {
			if i != j && !math.IsNaN(x) {
				known[label[i]][label[j]] = append(known[label[i]][label[j]], x)
			}
		}
	}
	guess := make([][]float64, len(groups))
	for g := range known {
		for _, values := range known[g] {
			guess[g] = append(guess[g], stat.MedianOf(values))
		}
	}
	out := make([][]float64, len(ns))
	for i := range ns {
		out[i] = make([]float64, len(ns))
		for j, x := range ns[i] {
			if i != j && math.IsNaN(x) {
				x = guess[label[i]][label[j]]
			}
			out[i][j] = x
		}
	}
	return out
}
