package vnuma

import (
	"fmt"
	"slices"
	"strings"

	"homenode/numa"
)

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
