package vnuma

import (
	"cmp"
	"math"
	"slices"
)

// Compare returns a positive number when l is worse for its VM than o, a negative one when better. The criteria in
// order: whether it powers on, the share of memory on no node, then on another, a wide VM whose guest sees one node,
// virtual nodes over several clients. More clients alone are neither worse nor better.
func (l *Layout) Compare(o *Layout) int {
	a, b := l.faults(), o.faults()
	return slices.Compare(a[:], b[:])
}

// Gains reports whether l is better than o, or as good and without any fault: a move to it may cure a finding of o.
func (l *Layout) Gains(o *Layout) bool {
	c := l.Compare(o)
	return c < 0 || c == 0 && l.faults() == [5]int{}
}

func (l *Layout) faults() [5]int {
	f := [5]int{1: wholePercent(l.Nowhere()), 2: wholePercent(l.missed())} // a swapped page comes from a disk, a remote one from memory
	if l.Refused.Any() {
		f[0] = 1
	}
	hidden := l.Hidden > 1 // ESXi cannot place its vCPUs near their memory
	if l.HidesNUMA() || hidden {
		f[3] = 1
	}
	if _, spans := l.Spanning(); spans || hidden {
		f[4] = 1
	}
	return f
}

// Farther reports whether l leaves a tenth of the memory, or more, on another node than its vCPUs that o does not, and has no less of it ballooned or swapped for that.
// A tenth is what counts as serious (N005).
func (l *Layout) Farther(o *Layout) bool {
	return !l.Refused.Any() && !o.Refused.Any() && l.FarShare() >= o.FarShare()+0.1 && l.Memory.Nowhere >= o.Memory.Nowhere
}

// missed is the share of memory that is remote or on no node.
func (l *Layout) missed() float64 {
	nowhere := l.Nowhere()
	return nowhere + float64(l.FarShare()*(1-nowhere))
}

// Nowhere is the share of memory that is ballooned or swapped.
func (l *Layout) Nowhere() float64 { return float64(l.Memory.Nowhere) / float64(max(1, l.memory)) }

// wholePercent rounds a share to percent: the kernel's own memory on a node changes it by less (rule book A-5).
func wholePercent(share float64) int { return int(math.Round(share * 100)) }

// Same reports whether the guest, its clients and the shares of remote memory are the same, in whole percent.
func (l *Layout) Same(o *Layout) bool {
	x, okX := l.Memory.Locality()
	y, okY := o.Memory.Locality()
	return l.SameGuest(o) && l.PPDs.Equal(o.PPDs) && l.Managed == o.Managed && l.HomeNodes == o.HomeNodes &&
		wholePercent(l.missed()) == wholePercent(o.missed()) && (!okX || !okY || wholePercent(x) == wholePercent(y))
}

// Worst returns the index of the worst layout; among equal ones that with more clients, then the first.
func Worst(n int, layout func(int) *Layout) int {
	worst := 0
	for i := 1; i < n; i++ {
		a, b := layout(i), layout(worst)
		if cmp.Or(a.Compare(b), cmp.Compare(a.PPDs.Len(), b.PPDs.Len())) > 0 {
			worst = i
		}
	}
	return worst
}
