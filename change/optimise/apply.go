package optimise

import (
	"slices"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/numa"
)

// Fleet returns f after the steps are done and every VM was powered on there again. f is the
// fleet of the problem, and is not modified.
func (p *Proposal) Fleet(of *Problem, f *numa.Fleet) *numa.Fleet {
	out := *f
	out.VMs = slices.Clone(f.VMs)
	vms := out.VMsByID()
	for _, s := range p.Steps {
		v := vms[of.VMs[s.VM].ID]
		v.Host = of.Hosts[s.To].ID
		if s.Shape >= 0 {
			shape := &of.VMs[s.VM].Shapes[s.Shape]
			v.Config = Edited(v, shape.Edit)
		}
	}
	return &out
}

// Edited returns the configuration of the VM with the edit applied.
func Edited(v *numa.VM, e plan.Edit) numa.Config {
	c := v.Config
	e.Configure(&c)
	return c
}
