package plan

import (
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
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
	Force        bool  // also set numa.vcpu.maxPerMachineNode to the same size: without NUMA Nodes only this is certain to place clients (F-22)
	ManualOff    bool  // remove numa.vcpu.maxPerVirtualNode and coresPerNode
	Spread       bool  // set numa.consolidate = FALSE (B-17)
	SpreadOff    bool  // remove numa.consolidate = FALSE
	LimitsOff    bool  // remove numa.vcpu.maxPerMachineNode and maxPerClient
	PreferHTOff  bool  // remove numa.vcpu.preferHT
	FollowOff    bool  // remove numa.vcpu.followcorespersocket
	Min          int   // numa.vcpu.min to set
	Upgrade      int   // the virtual hardware version to upgrade to
}

// Apply returns g with the edit applied.
func (e Edit) Apply(g vnuma.Guest) vnuma.Guest {
	g.Hardware = e.hardware(&g)
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
	return g
}

// hardware returns the virtual hardware version of g after the edit; 0 when unknown.
func (e *Edit) hardware(g *vnuma.Guest) int32 { return max(g.Hardware, int32(e.Upgrade)) }

// CanUse reports whether the edit lets the software in the guest g use at least as much on m as
// now. A plan never makes this worse.
func (e Edit) CanUse(g *vnuma.Guest, m *vnuma.Machine, ch vnuma.Choices) bool {
	if g.Usable == (vnuma.Usable{}) {
		return true
	}
	next := e.Apply(*g)
	was, will := vnuma.Predict(g, m, &vnuma.Case{Choices: ch}), vnuma.Predict(&next, m, &vnuma.Case{Choices: ch})
	if was.Refused.Any() { // it does not power on unedited
		return true
	}
	before, after := g.Usable.Exceeded(&was), g.Usable.Exceeded(&will)
	return after.PerNode <= before.PerNode && after.Sockets <= before.Sockets
}

// proposed is the origin of an edited setting.
const proposed = "proposed"

// Configure applies the edit to the configuration, as an administrator would: Apply changes a
// Guest, Configure its VM.
func (e *Edit) Configure(c *numa.Config) {
	if e.Shape != (Shape{}) {
		c.CoresPerSocket = numa.DerivedFrom(max(1, e.Shape.CoresPerSocket), proposed)
		c.AutoCoresPerSocket = numa.DerivedFrom(e.Shape.Auto, proposed)
	}
	if e.HotAddOff {
		c.CPUHotAdd = numa.DerivedFrom(false, proposed)
	}
	if e.Upgrade > 0 {
		c.Hardware = numa.DerivedFrom(max(e.Upgrade, c.Hardware.Value), proposed)
	}
	_, stated := c.Settings.Value.Lookup(numa.NUMANodesKey)
	nodes := e.PerNode > 0 && c.Hardware.Value >= 20 // same as in Apply
	switch {
	case nodes && stated && c.AutoCoresPerNUMANode.Or(true): // the setting is the field: one task must not set one and remove the other
	case nodes:
		c.CoresPerNUMANode, c.AutoCoresPerNUMANode = numa.DerivedFrom(e.PerNode, proposed), numa.DerivedFrom(false, proposed)
	case (e.ManualOff || e.PerNode > 0) && c.AutoCoresPerNUMANode.Known():
		c.CoresPerNUMANode, c.AutoCoresPerNUMANode = numa.Fact[int]{}, numa.DerivedFrom(true, proposed)
	}
	remove := func(when bool, keys ...string) {
		if when {
			c.Settings.Value = c.Settings.Value.Without(keys...)
		}
	}
	remove(e.ForgetStored, numa.StoredKey, numa.CookieKey)
	remove(e.ManualOff || e.PerNode > 0, "numa.vcpu.maxPerVirtualNode")
	remove((e.ManualOff || e.PerNode > 0) && !nodes, numa.NUMANodesKey)
	remove(e.SpreadOff, "numa.consolidate")
	remove(e.LimitsOff, "numa.vcpu.maxPerMachineNode", "numa.vcpu.maxPerClient")
	remove(e.PreferHTOff, "numa.vcpu.preferHT")
	remove(e.FollowOff, "numa.vcpu.followcorespersocket")
	set := func(when bool, key string, value any) {
		if when {
			Set(c, key, fmt.Sprint(value))
		}
	}
	set(nodes && stated, numa.NUMANodesKey, e.PerNode)
	set(e.Spread, "numa.consolidate", "FALSE")
	set(e.PerNode > 0 && c.Hardware.Value < 20, "numa.vcpu.maxPerVirtualNode", e.PerNode)
	set(e.Force, "numa.vcpu.maxPerMachineNode", e.PerNode)
	set(e.Min > 0, "numa.vcpu.min", e.Min)
}

// Set sets a proposed setting in the configuration.
func Set(c *numa.Config, key, value string) {
	c.Settings.Value = c.Settings.Value.With(key, value)
	if !c.Settings.Known() {
		c.Settings.Origin = numa.Origin{Kind: numa.Derived, Where: proposed}
	}
}
