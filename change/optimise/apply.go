package optimise

import (
	"slices"
	"strconv"

	"homenode/esxi/plan"
	"homenode/numa"
	"homenode/source/word"
)

// Fleet returns f as it is once the steps are done and every VM was powered on there
// again. f is the fleet that the problem is made of, and stays as it is.
func (p *Proposal) Fleet(of *Problem, f *numa.Fleet) *numa.Fleet {
	out := *f
	out.VMs = slices.Clone(f.VMs)
	vms := byVM(&out)
	for _, s := range p.Steps {
		v := vms[of.VMs[s.VM].ID]
		v.Host = of.Hosts[s.To].ID
		if s.Shape >= 0 {
			shape := &of.VMs[s.VM].Shapes[s.Shape]
			v.Config = Edited(v, shape.Edit, shape.Nodes)
		}
	}
	return &out
}

func byVM(f *numa.Fleet) map[string]*numa.VM {
	out := make(map[string]*numa.VM, len(f.VMs))
	for i := range f.VMs {
		out[f.VMs[i].ID] = &f.VMs[i]
	}
	return out
}

// said is the origin of what a proposal changes.
const said = "proposed"

// Edited returns the configuration of the VM with the edit done and, if nodes are given,
// numa.nodeAffinity set. What plan.Edit.Apply does to a Guest this does to its VM.
func Edited(v *numa.VM, e plan.Edit, nodes numa.NodeSet) numa.Config {
	c := v.Config
	set := func(key, value string) {
		c.Settings.Value = word.With(c.Settings.Value, key, value)
		if !c.Settings.Known() {
			c.Settings.Origin = numa.Origin{Kind: numa.Derived, Where: said}
		}
	}
	remove := func(when bool, keys ...string) {
		for _, k := range keys {
			if when {
				c.Settings.Value = word.Without(c.Settings.Value, k)
			}
		}
	}
	if e.Shape != (plan.Shape{}) {
		c.CoresPerSocket = numa.DerivedFrom(max(1, e.Shape.CoresPerSocket), said)
		c.AutoCoresPerSocket = numa.DerivedFrom(e.Shape.Auto, said)
	}
	if e.HotAddOff {
		c.CPUHotAdd = numa.DerivedFrom(false, said)
	}
	if e.Upgrade {
		c.Hardware = numa.DerivedFrom(max(8, c.Hardware.Value), said)
	}
	if e.ManualOff || e.PerNode > 0 {
		c.CoresPerNUMANode, c.AutoCoresPerNUMANode = numa.Fact[int]{}, numa.Fact[bool]{}
	}
	remove(e.ForgetStored, word.StoredKey, word.CookieKey)
	remove(e.ManualOff || e.PerNode > 0, "numa.vcpu.maxPerVirtualNode", "numa.vcpu.coresPerNode")
	remove(e.SpreadOff, "numa.consolidate")
	if e.Spread {
		set("numa.consolidate", "FALSE")
	}
	remove(e.LimitsOff, "numa.vcpu.maxPerMachineNode", "numa.vcpu.maxPerClient")
	remove(e.PreferHTOff, "numa.vcpu.preferHT")
	remove(e.FollowOff, "numa.vcpu.followcorespersocket")
	if e.PerNode > 0 {
		if c.Hardware.Value >= 20 { // as plan.Edit.Apply
			set("numa.vcpu.coresPerNode", strconv.Itoa(e.PerNode))
		} else {
			set("numa.vcpu.maxPerVirtualNode", strconv.Itoa(e.PerNode))
		}
	}
	if e.Force {
		set("numa.vcpu.maxPerMachineNode", strconv.Itoa(e.PerNode))
	}
	if e.Min > 0 {
		set("numa.vcpu.min", strconv.Itoa(e.Min))
	}
	if nodes != 0 {
		list := ""
		for n := range nodes.All() {
			if list != "" {
				list += ","
			}
			list += strconv.Itoa(n)
		}
		set("numa.nodeAffinity", list)
	}
	return c
}
