package fix

import (
	"maps"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/privilege"
)

// Privileges are what each kind of edit needs on its VM, host or cluster: that of the field or method that writes it.
var Privileges = map[numa.EditKind]string{
	numa.EditHardware:          privilege.Methods["UpgradeVM_Task"],
	numa.EditVCPUs:             privilege.Fields["NumCPUs"],
	numa.EditMemory:            privilege.Fields["MemoryMB"],
	numa.EditCoresPerSocket:    privilege.Fields["NumCoresPerSocket"],
	numa.EditCPUHotAdd:         privilege.Fields["CpuHotAddEnabled"],
	numa.EditMemoryHotAdd:      privilege.Fields["MemoryHotAddEnabled"],
	numa.EditCoresPerNUMANode:  privilege.Fields["VirtualNuma"],
	numa.EditVNUMAHotAdd:       privilege.Fields["VirtualNuma"],
	numa.EditCPUAffinity:       privilege.Fields["CpuAffinity"],
	numa.EditLatency:           privilege.Fields["LatencySensitivity"],
	numa.EditReserveAll:        privilege.Fields["MemoryReservationLockedToMax"],
	numa.EditMemoryReservation: privilege.Fields["MemoryAllocation"],
	numa.EditCPUReservation:    privilege.Fields["CpuAllocation"],
	numa.EditExtraConfig:       privilege.Fields["ExtraConfig"],
	numa.EditHostOption:        privilege.HostOptions,
	numa.EditDRSRule:           privilege.Methods["ReconfigureComputeResource_Task"],
}

// A Need is a privilege, and the objects that it is needed on: "VirtualMachine vm-12".
type Need struct {
	Privilege string   `json:"privilege"`
	Objects   []string `json:"objects"`
}

// Needs returns the privileges that carrying out the plan and taking it back takes, by name; power says that VMs are powered off and on.
func (p *Plan) Needs(power bool) []Need {
	on := map[string]map[string]bool{}
	add := func(name, object string) {
		if on[name] == nil {
			on[name] = map[string]bool{}
		}
		on[name][object] = true
	}
	add(privilege.ManageFields, numa.RootFolder)
	add(privilege.SetField, numa.RootFolder)
	for i := range p.Changes {
		c := &p.Changes[i]
		object := "VirtualMachine " + c.Target().ID
		switch {
		case c.Cluster != nil:
			object = "ClusterComputeResource " + c.Cluster.ID
		case c.VM == nil:
			object = "HostSystem " + c.Host.ID
		}
		for _, e := range slices.Concat(c.Edits, c.restored()) {
			add(Privileges[e.Kind], object)
		}
		if power && c.VM != nil && c.Needs() != numa.NeedsNothing {
			add(privilege.PowerOff, object)
			add(privilege.PowerOn, object)
		}
	}
	var out []Need
	for _, name := range slices.Sorted(maps.Keys(on)) {
		out = append(out, Need{name, slices.Sorted(maps.Keys(on[name]))})
	}
	return out
}
