package rules

import (
	"slices"

	"homenode/esxi/vnuma"
	"homenode/rules/rule"
)

// A ClusterSummary is one line of the overview.
type ClusterSummary struct {
	Cluster *rule.Cluster
	Wide    int // VMs with more than one client where they are
	Blind   int // wide VMs whose guest sees one node
	TooBig  int // VMs with more memory than their nodes hold
	// Differing are the VMs that get another layout, better or worse, after a power cycle
	// on some host of the cluster than on another, or do not run there: their virtual
	// hardware is too new. They are the rows of the cluster's matrix that differ.
	Differing int
}

// Summaries returns one summary a cluster, in order.
func (r *Result) Summaries() []ClusterSummary {
	out := make([]ClusterSummary, len(r.Clusters))
	for i, c := range r.Clusters {
		s := &out[i]
		s.Cluster = c
		for _, v := range c.VMs {
			l := &v.On[0].Layout
			if l.Wide() {
				s.Wide++
				if !l.GuestSeesNUMA() {
					s.Blind++
				}
			}
			if l.Memory.Known && l.Memory.Placement != vnuma.Anywhere && l.Memory.Remote > 0 {
				s.TooBig++
			}
			if differs(c, v) {
				s.Differing++
			}
		}
	}
	return out
}

// differs reports whether the VM is not the same on every host that can be predicted.
func differs(c *rule.Cluster, v *rule.VM) bool {
	home := &v.On[0].Layout
	return len(v.On) < len(c.Kinds) || slices.ContainsFunc(v.On[1:], func(o rule.On) bool { return !o.Layout.Same(home) })
}
