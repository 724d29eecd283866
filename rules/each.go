package rules

import (
	"iter"

	"example.org/homenode/rules/rule"
)

// EachVM iterates over the assessed VMs, cluster by cluster.
func (r *Result) EachVM() iter.Seq[*rule.VM] {
	return func(yield func(*rule.VM) bool) {
		for _, c := range r.Clusters {
			for _, v := range c.VMs {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// Idle iterates the VMs that take no room although no source says that they are off: they do not power on.
func (r *Result) Idle() iter.Seq[*rule.VM] {
	return func(yield func(*rule.VM) bool) {
		for _, c := range r.Clusters {
			for _, v := range c.VMs {
				if v.MayRun() && !c.Takes(v) && !yield(v) {
					return
				}
			}
		}
	}
}

// ByID returns the assessed VMs by ID.
func (r *Result) ByID() map[string]*rule.VM {
	out := make(map[string]*rule.VM, r.VMs)
	for v := range r.EachVM() {
		out[v.ID] = v
	}
	return out
}
