package vnuma

import "example.org/homenode/numa"

// byHand divides the vCPUs by the size that is set by hand: evenly (F-30), except that the cores of a
// NUMA node of 8.0 are used as the size.
func byHand(g *Guest, m *Machine, ch *Choices) Split {
	size := g.manual(m, ch)
	if ch.FillManual || g.setsNodes(m) {
		return fill(g.VCPUs, size)
	}
	return fill(g.VCPUs, evenShare(g.VCPUs, size))
}

// stored divides n vCPUs by a size that was stored (F-18).
func stored(n, size int32, ch *Choices) Split {
	if ch.EvenStored {
		return fill(n, evenShare(n, size))
	}
	return fill(n, size)
}

// setsNodes reports whether the NUMA nodes are set by hand with the setting of 8.0, not with
// numa.vcpu.maxPerVirtualNode.
func (g *Guest) setsNodes(m *Machine) bool { return g.CoresPerNode > 0 && m.model >= numa.ESXi80 }

// manual returns the vCPUs per VPD set by hand, or 0 (rule book B-10).
func (g *Guest) manual(m *Machine, ch *Choices) int32 {
	if g.setsNodes(m) {
		return g.CoresPerNode
	}
	if g.MaxPerVirtualNode == 0 && ch.ManualDefaults { // F-9, the alternative
		return 8
	}
	return g.MaxPerVirtualNode
}

// belowMin reports whether a size is set by hand but not shown: from 6.5 on a VM below numa.vcpu.min
// is always UMA (rule book B-3, F-28). NUMA nodes of 8.0 are shown regardless (F-29).
func (g *Guest) belowMin(m *Machine, ch *Choices, l *Layout) bool {
	switch {
	case g.manual(m, ch) == 0 || m.model < numa.ESXi65 || g.VCPUs >= g.threshold(m, ch, l):
		return false
	case g.setsNodes(m):
		return ch.NodesNeedMin
	}
	return g.MaxPerVirtualNode > 0 && !ch.ManualAnySize
}

// ManualNodes returns the vCPUs per virtual node that a setting fixes on m, or 0:
// numa.vcpu.coresPerNode where the release knows it, else maxPerVirtualNode (B-10).
func (g *Guest) ManualNodes(m *Machine) int32 { return g.manual(m, &Choices{}) }

// DefaultMin is the default of numa.vcpu.min: the fewest vCPUs with vNUMA (B-3).
const DefaultMin = 9

const (
	alternativeMin = 8 // the loose wording of two articles (F-1)
	smallNode      = 8 // cores; B-19: EPYC nodes up to this size have a lower threshold
)

// threshold returns the lowest vCPU count with vNUMA.
func (g *Guest) threshold(m *Machine, ch *Choices, l *Layout) int32 {
	if g.Min > 0 {
		return g.Min
	}
	least := int32(DefaultMin)
	if ch.MinEight {
		least = alternativeMin
	}
	sizer := m.Release >= numa.ESXi67U2 || m.Release >= numa.ESXi65U3 && m.Release < numa.ESXi67
	if sizer && m.EPYC && m.Cores <= smallNode && m.Cores+1 < least && !ch.NoSmallNodes { // B-19 [I]
		least = m.Cores + 1
		if g.VCPUs >= least && g.VCPUs < DefaultMin {
			l.Assumes |= AssumedSmallNodes
		}
	}
	return least
}

// Threshold returns the lowest vCPU count with vNUMA on m: numa.vcpu.min or its default there.
func (g *Guest) Threshold(m *Machine, ch Choices) int {
	return int(g.threshold(m, &ch, &Layout{}))
}
