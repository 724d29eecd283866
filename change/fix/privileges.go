package fix

import (
	"maps"
	"slices"

	"homenode/numa"
)

// privileges are what each kind of edit needs on its VM or host (vSphere Web Services API reference, required
// privileges of ReconfigVM_Task and UpdateOptions).
var privileges = map[numa.EditKind]string{
	numa.EditHardware:          "VirtualMachine.Config.UpgradeVirtualHardware",
	numa.EditVCPUs:             "VirtualMachine.Config.CPUCount",
	numa.EditMemory:            "VirtualMachine.Config.Memory",
	numa.EditCoresPerSocket:    "VirtualMachine.Config.CPUCount",
	numa.EditCPUHotAdd:         "VirtualMachine.Config.CPUCount",
	numa.EditMemoryHotAdd:      "VirtualMachine.Config.Memory",
	numa.EditCoresPerNUMANode:  "VirtualMachine.Config.CPUCount",
	numa.EditVNUMAHotAdd:       "VirtualMachine.Config.CPUCount",
	numa.EditCPUAffinity:       "VirtualMachine.Config.Resource",
	numa.EditLatency:           "VirtualMachine.Config.Resource",
	numa.EditReserveAll:        "VirtualMachine.Config.Resource",
	numa.EditMemoryReservation: "VirtualMachine.Config.Resource",
	numa.EditCPUReservation:    "VirtualMachine.Config.Resource",
	numa.EditExtraConfig:       "VirtualMachine.Config.AdvancedConfig",
	numa.EditHostOption:        "Host.Config.AdvancedConfig",
	numa.EditDRSRule:           "Host.Inventory.EditCluster",
}

// The privileges of power operations, of vMotion, and of the lock that keeps other runs away.
const (
	PrivilegeLock      = "Global.ManageCustomFields"
	PrivilegeLockValue = "Global.SetCustomField"
	PrivilegePowerOff  = "VirtualMachine.Interact.PowerOff"
	PrivilegeMove      = "Resource.HotMigrate"
	PrivilegePowerOn   = "VirtualMachine.Interact.PowerOn"
)

// A Need is a privilege, and the objects that it is needed on: "VirtualMachine vm-12".
type Need struct {
	Privilege string   `json:"privilege"`
	Objects   []string `json:"objects"`
}

// PrivilegeOf returns the privilege that an edit of this kind needs.
func PrivilegeOf(kind numa.EditKind) string { return privileges[kind] }

// Needs returns the privileges that carrying out the plan takes, by name; power says that VMs are powered off and on.
func (p *Plan) Needs(power bool) []Need {
	on := map[string]map[string]bool{}
	add := func(privilege, object string) {
		if on[privilege] == nil {
			on[privilege] = map[string]bool{}
		}
		on[privilege][object] = true
	}
	add(PrivilegeLock, numa.RootFolder)
	add(PrivilegeLockValue, numa.RootFolder)
	for i := range p.Changes {
		c := &p.Changes[i]
		object := "VirtualMachine " + c.Target().ID
		switch {
		case c.Cluster != nil:
			object = "ClusterComputeResource " + c.Cluster.ID
		case c.VM == nil:
			object = "HostSystem " + c.Host.ID
		}
		for _, e := range c.Edits {
			add(privileges[e.Kind], object)
		}
		if power && c.VM != nil && c.Needs() != numa.NeedsNothing {
			add(PrivilegePowerOff, object)
			add(PrivilegePowerOn, object)
		}
	}
	var out []Need
	for _, name := range slices.Sorted(maps.Keys(on)) {
		out = append(out, Need{name, slices.Sorted(maps.Keys(on[name]))})
	}
	return out
}
