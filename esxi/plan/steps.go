package plan

import (
	"fmt"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// Steps lists the changes that e makes to g on m, in the words of the vSphere Client and its advanced settings.
func (e *Edit) Steps(g *vnuma.Guest, m *vnuma.Machine) []string {
	var out []string
	add := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(e.Upgrade > 0, "upgrade the virtual hardware to %d", e.Upgrade)
	add(e.HotAddOff, "switch CPU hot add off")
	add(e.Shape.Auto, "let cores per socket be assigned at power on")
	if n := e.Shape.CoresPerSocket; n > 0 && !e.Shape.Auto {
		sockets := "1 socket"
		if k := (int(g.VCPUs) + n - 1) / n; k != 1 {
			sockets = fmt.Sprintf("%d sockets", k)
		}
		add(true, "set cores per socket to %d (%s)", n, sockets)
	}
	add(e.ManualOff && g.MaxPerVirtualNode > 0 && e.PerNode == 0, "remove numa.vcpu.maxPerVirtualNode")
	add(e.ManualOff && g.CoresPerNode > 0 && e.PerNode == 0, "let NUMA Nodes be assigned at power on (remove "+numa.NUMANodesKey+")")
	if e.PerNode > 0 {
		if e.hardware(g) >= 20 && m.Model() >= numa.ESXi80 {
			add(int(g.CoresPerNode) != e.PerNode, "set NUMA Nodes to %d (%s = %d)", (int(g.VCPUs)+e.PerNode-1)/e.PerNode, numa.NUMANodesKey, e.PerNode)
		} else {
			add(int(g.MaxPerVirtualNode) != e.PerNode, "set numa.vcpu.maxPerVirtualNode = %d", e.PerNode)
			add(e.Force && int(g.MaxPerMachineNode) != e.PerNode, "set numa.vcpu.maxPerMachineNode = %d", e.PerNode)
		}
	}
	add(e.Spread, "set numa.consolidate = FALSE")
	add(e.SpreadOff, "remove numa.consolidate = FALSE")
	add(e.LimitsOff && g.MaxPerMachineNode > 0 && !e.Force, "remove numa.vcpu.maxPerMachineNode")
	add(e.LimitsOff && g.MaxPerClient > 0, "remove numa.vcpu.maxPerClient")
	add(e.PreferHTOff, "remove numa.vcpu.preferHT")
	add(e.FollowOff, "remove numa.vcpu.followcorespersocket")
	add(e.Min > 0, "set numa.vcpu.min = %d", e.Min)
	add(e.ForgetStored, "remove numa.autosize.vcpu.maxPerVirtualNode and numa.autosize.cookie")
	return out
}

// keys returns the settings that the edit sets or removes in g.
func (e *Edit) keys(g *vnuma.Guest) (out []string) {
	for _, c := range []struct {
		touched bool
		key     string
	}{
		{e.PerNode > 0 && e.hardware(g) < 20 || g.MaxPerVirtualNode > 0 && (e.ManualOff || e.PerNode > 0), "numa.vcpu.maxPerVirtualNode"},
		{e.PerNode > 0 && e.hardware(g) >= 20 || g.CoresPerNode > 0 && (e.ManualOff || e.PerNode > 0), numa.NUMANodesKey},
		{e.Force || e.LimitsOff && g.MaxPerMachineNode > 0, "numa.vcpu.maxPerMachineNode"},
		{e.LimitsOff && g.MaxPerClient > 0, "numa.vcpu.maxPerClient"},
		{e.Spread || e.SpreadOff, "numa.consolidate"},
		{e.PreferHTOff, "numa.vcpu.preferHT"},
		{e.FollowOff, "numa.vcpu.followcorespersocket"},
		{e.Min > 0, "numa.vcpu.min"},
		{e.ForgetStored, "numa.autosize.vcpu.maxPerVirtualNode"},
		{e.ForgetStored, "numa.autosize.cookie"},
	} {
		if c.touched {
			out = append(out, c.key)
		}
	}
	return out
}

// Back is the step that restores a setting, which was set or absent.
func Back(name string, was numa.Value) string {
	if !was.Set {
		return "remove " + name
	}
	return "set " + name + " = " + was.Text
}

// Restore is the step that restores settings with unknown values.
func Restore(names ...string) string {
	return "restore " + strings.Join(names, ", ") + ": the present values are not known, so note them first"
}

// Undo lists the steps that revert the edit of g, with the old values; c is the configuration of its VM.
func (e *Edit) Undo(g *vnuma.Guest, c *numa.Config) (out []string) {
	var unknown []string
	if e.Upgrade > 0 {
		out = append(out, "the virtual hardware cannot be lowered: keep a copy of the VM")
	}
	if e.HotAddOff {
		out = append(out, "switch CPU hot add on")
	}
	switch {
	case e.Shape == Shape{}:
	case g.AutoCPS:
		out = append(out, "let cores per socket be assigned at power on")
	case !c.CoresPerSocket.Known():
		unknown = append(unknown, "cores per socket")
	default:
		out = append(out, fmt.Sprintf("set cores per socket to %d", g.CoresPerSocket))
	}
	for _, key := range e.keys(g) {
		was := numa.Edit{Kind: numa.EditExtraConfig, Key: key}.ValueOf(c)
		switch {
		case !was.Set && key == numa.NUMANodesKey && g.CoresPerNode > 0:
			out = append(out, fmt.Sprintf("set NUMA Nodes to %d (%s = %d)", (g.VCPUs+g.CoresPerNode-1)/g.CoresPerNode, key, g.CoresPerNode))
		case !was.Set && key == numa.NUMANodesKey && c.Settings.Known():
			out = append(out, "let NUMA Nodes be assigned at power on (remove "+key+")")
		case !c.Settings.Known():
			unknown = append(unknown, key)
		default:
			out = append(out, Back(key, was))
		}
	}
	if unknown != nil {
		out = append(out, Restore(unknown...))
	}
	if g.Stored == 0 && c.Settings.Known() { // the power-on stored a size (B-8)
		out = append(out, "remove numa.autosize.vcpu.maxPerVirtualNode and numa.autosize.cookie, stored meanwhile")
	}
	return out
}
