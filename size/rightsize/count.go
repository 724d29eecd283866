package rightsize

import "slices"

// A Shape is the NUMA nodes of a kind of host and their cores, over which the vCPU count must
// divide. Hyper-threads are no cores (rule book A-4).
type Shape struct {
	Nodes int `json:"nodes"`
	Cores int `json:"coresPerNode"`
}

// clients returns the number of NUMA clients for n vCPUs (rule book B-5).
func (s Shape) clients(n int) int { return (n + s.Cores - 1) / s.Cores }

// holds reports whether n vCPUs fit one node, or divide evenly over as few nodes as possible (rule book B-25).
func (s Shape) holds(n int) bool {
	k := s.clients(n)
	return k <= s.Nodes && n%k == 0
}

// leastVCPUs is the lowest suggestion: with one vCPU a busy thread stops all others of the guest.
const leastVCPUs = 2

// count returns the lowest vCPU count that is at least need and leastVCPUs, even where a node can
// have an even one, and that suits all shapes. It returns false when the hosts have no such count,
// with the greatest they have.
func count(need int, shapes []Shape) (n int, ok bool) {
	n = max(need, leastVCPUs)
	if len(shapes) == 0 {
		return n + n%2, true
	}
	most := mostVCPUs(shapes)
	for ; n <= most; n++ {
		if good(n, shapes) {
			return n, true
		}
	}
	for n = most; n > leastVCPUs && !good(n, shapes); n-- {
	}
	return n, false
}

// good reports whether n vCPUs suit all shapes. An odd count does so only when it fills a node with
// an odd number of cores.
func good(n int, shapes []Shape) bool {
	odd := n%2 == 1
	return !slices.ContainsFunc(shapes, func(s Shape) bool { return !s.holds(n) || odd && n != s.Cores })
}

// mostVCPUs is the number of cores of the smallest host of the shapes (rule book B-25).
func mostVCPUs(shapes []Shape) int {
	most := shapes[0].Nodes * shapes[0].Cores
	for _, s := range shapes[1:] {
		most = min(most, s.Nodes*s.Cores)
	}
	return most
}

// fill is the allowed excess over the need so that VMs fill the cores of a node completely: one
// step of two vCPUs, and at most a quarter.
const (
	fillStep = 2
	fillPart = 4
)

// packed returns n, or the next even count when that divides the cores of the smallest node and n does not.
func packed(n int, shapes []Shape) int {
	if len(shapes) == 0 {
		return n
	}
	cores := shapes[0].Cores
	for _, s := range shapes[1:] {
		cores = min(cores, s.Cores)
	}
	more := n + fillStep
	if n > cores || cores%n == 0 || more > cores || cores%more != 0 || fillStep*fillPart > n || n%2 == 1 {
		return n
	}
	return more
}
