package plan

import (
	"fmt"
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A Shape is a way to configure the sockets of a VM. The zero value is none.
type Shape struct {
	CoresPerSocket int
	Auto           bool // leave them to ESXi: "assigned at power on"
}

// An Edit is a set of changes to a VM's configuration; the zero value changes
// nothing. They take effect at the next power cycle.
type Edit struct {
	Shape        Shape // cores per socket to set
	HotAddOff    bool  // CPU hot add
	ForgetStored bool  // remove numa.autosize.vcpu.maxPerVirtualNode and numa.autosize.cookie
	PerNode      int   // vCPUs per virtual node to set by hand
	Force        bool  // numa.vcpu.maxPerMachineNode too, as many: where NUMA Nodes cannot be set, it alone places clients for certain (F-22)
	ManualOff    bool  // remove numa.vcpu.maxPerVirtualNode and coresPerNode
	Spread       bool  // set numa.consolidate = FALSE (B-17)
	SpreadOff    bool  // remove numa.consolidate = FALSE
	LimitsOff    bool  // remove numa.vcpu.maxPerMachineNode and maxPerClient
	PreferHTOff  bool  // remove numa.vcpu.preferHT
	FollowOff    bool  // remove numa.vcpu.followcorespersocket
	Min          int   // numa.vcpu.min to set
	Upgrade      bool  // the virtual hardware, to 8
}

// Apply returns g with the edit done.
func (e Edit) Apply(g vnuma.Guest) vnuma.Guest {
	if e.Shape != (Shape{}) {
		g.CoresPerSocket, g.AutoCPS = int32(max(1, e.Shape.CoresPerSocket)), e.Shape.Auto
	}
	if e.HotAddOff {
		g.HotAdd = false
	}
	if e.ForgetStored {
		g.Stored, g.CookieVCPUs, g.CookieCPS = 0, 0, 0
	}
	if e.ManualOff {
		g.MaxPerVirtualNode, g.CoresPerNode = 0, 0
	}
	switch {
	case e.PerNode == 0:
	case g.Hardware >= 20: // the NUMA Nodes of the client (B-18)
		g.MaxPerVirtualNode, g.CoresPerNode = 0, int32(e.PerNode)
	default:
		g.MaxPerVirtualNode, g.CoresPerNode = int32(e.PerNode), 0
	}
	if e.SpreadOff || e.Spread {
		g.Spread = e.Spread
	}
	if e.LimitsOff {
		g.MaxPerMachineNode, g.MaxPerClient = 0, 0
	}
	if e.Force {
		g.MaxPerMachineNode = int32(e.PerNode)
	}
	if e.PreferHTOff {
		g.PreferHT = false
	}
	if e.FollowOff {
		g.Follow = false
	}
	if e.Min > 0 {
		g.Min = int32(e.Min)
	}
	if e.Upgrade {
		g.Hardware = max(g.Hardware, 8)
	}
	return g
}

// CanUse reports whether the software in the guest g can use what the edit makes of it on m
// no worse than what it has: no plan is one that it cannot.
func (e Edit) CanUse(g *vnuma.Guest, m *vnuma.Machine, ch vnuma.Choices) bool {
	if g.Usable == (vnuma.Usable{}) {
		return true
	}
	next := e.Apply(*g)
	was, will := vnuma.Predict(g, m, &vnuma.Case{Choices: ch}), vnuma.Predict(&next, m, &vnuma.Case{Choices: ch})
	if was.Refused.Any() { // it does not run as it is
		return true
	}
	before, after := g.Usable.Exceeded(&was), g.Usable.Exceeded(&will)
	return after.PerNode <= before.PerNode && after.Sockets <= before.Sockets
}

// planned is the origin of what an edit sets.
const planned = "after the plan"

// Configure does to the configuration of the VM what an administrator would do.
func (e *Edit) Configure(v *numa.VM) {
	remove := func(keys ...string) {
		v.Settings.Value = slices.DeleteFunc(slices.Clone(v.Settings.Value), func(s numa.Setting) bool {
			return slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(s.Key, k) })
		})
	}
	set := func(key string, value any) {
		remove(key)
		v.Settings.Value = append(v.Settings.Value, numa.Setting{Key: key, Value: fmt.Sprint(value)})
	}
	if e.HotAddOff {
		v.CPUHotAdd.Value = false
	}
	if e.Shape.Auto {
		v.AutoCoresPerSocket = numa.DerivedFrom(true, planned)
	} else if e.Shape.CoresPerSocket > 0 {
		v.CoresPerSocket = numa.DerivedFrom(e.Shape.CoresPerSocket, planned)
		v.AutoCoresPerSocket = numa.DerivedFrom(false, planned)
	}
	if e.ForgetStored {
		remove("numa.autosize.vcpu.maxPerVirtualNode", "numa.autosize.cookie")
	}
	if e.ManualOff {
		remove("numa.vcpu.maxPerVirtualNode", "numa.vcpu.coresPerNode")
	}
	if e.SpreadOff {
		remove("numa.consolidate")
	}
	if e.Spread {
		set("numa.consolidate", "FALSE")
	}
	if e.LimitsOff {
		remove("numa.vcpu.maxPerMachineNode", "numa.vcpu.maxPerClient")
	}
	if e.PreferHTOff {
		remove("numa.vcpu.preferHT")
	}
	if e.FollowOff {
		remove("numa.vcpu.followcorespersocket")
	}
	if e.PerNode > 0 {
		if v.Hardware.Value >= 20 {
			set("numa.vcpu.coresPerNode", e.PerNode)
		} else {
			set("numa.vcpu.maxPerVirtualNode", e.PerNode)
		}
	}
	if e.Force {
		set("numa.vcpu.maxPerMachineNode", e.PerNode)
	}
	if e.Min > 0 {
		set("numa.vcpu.min", e.Min)
	}
	if e.Upgrade {
		v.Hardware.Value = max(8, v.Hardware.Value)
	}
}
