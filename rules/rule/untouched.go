package rule

import (
	"strings"

	"example.org/homenode/numa"
)

// Untouched says why no plan of changes makes the edits, which advice proposes or, if asked is true, somebody asks for; "" if one may.
func (v *VM) Untouched(edits []numa.Edit, asked bool) string {
	stops := Needs(edits) != numa.NeedsNothing
	switch {
	case strings.HasPrefix(v.Name, "vCLS-") || strings.HasPrefix(v.Name, "vCLS ("):
		return "vSphere manages it (vCLS)"
	case stops && v.Host != nil && !v.Stopped() && v.Host.Nested() && v.Host.Nodes.Origin.Kind == numa.Assumed:
		return "the nodes of its host are assumed, and the host is itself a VM: state them with --assume-host first"
	case stops && !asked && v.unscheduled():
		return "the NUMA scheduler of its host is off (H008), and has no clients there to fit it to"
	case stops && !asked && v.RunsHANA() && !v.Whole(&v.On[0]):
		return "SAP HANA is supported on whole sockets and on half a one: decide its size first (N033), or ask for the layout (--set) where it is no production system"
	case v.FaultTolerant():
		return "Fault Tolerance is on, and vSphere changes no settings then: turn it off, plan again, and turn it on at the end if it supports the VM then"
	case v.Power.Value == numa.Suspended:
		return "it is suspended: resume it and power it off first"
	}
	return ""
}

// unscheduled reports whether the NUMA scheduler of the VM's host is off.
func (v *VM) unscheduled() bool {
	if v.Host == nil {
		return false
	}
	on := v.OnHost(v.Host.ID)
	return on != nil && !on.Kind.Machine.Schedules()
}
