package lab

import (
	"reflect"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

// A need is a privilege on an object.
type need struct {
	privilege string
	on        types.ManagedObjectReference
}

// permit refuses a call of an account that lacks a privilege.
func (v *VCenter) permit(ctx *simulator.Context, m *simulator.Method) types.BaseMethodFault {
	v.mu.Lock()
	_, ok := v.accounts[ctx.Session.UserName]
	v.mu.Unlock()
	if !ok { // the administrator, or a call within the process
		return nil
	}
	for _, n := range v.needs(m) {
		if !v.may(ctx.Session.UserName, n.privilege, n.on) {
			return &types.NoPermission{Object: &n.on, PrivilegeId: n.privilege}
		}
	}
	return nil
}

// methodPrivileges are the privileges that methods need on their object (vSphere Web Services API reference, "Required Privileges").
var methodPrivileges = map[string]string{
	"PowerOnVM_Task": "VirtualMachine.Interact.PowerOn", "PowerOffVM_Task": "VirtualMachine.Interact.PowerOff", "ShutdownGuest": "VirtualMachine.Interact.PowerOff",
	"ResetVM_Task": "VirtualMachine.Interact.Reset", "RebootGuest": "VirtualMachine.Interact.Reset",
	"SuspendVM_Task": "VirtualMachine.Interact.Suspend", "StandbyGuest": "VirtualMachine.Interact.Suspend",
	"AnswerVM": "VirtualMachine.Interact.AnswerQuestion", "UpgradeVM_Task": "VirtualMachine.Config.UpgradeVirtualHardware",
	"CreateSnapshot_Task": "VirtualMachine.State.CreateSnapshot", "CreateSnapshotEx_Task": "VirtualMachine.State.CreateSnapshot",
	"RemoveAllSnapshots_Task": "VirtualMachine.State.RemoveSnapshot", "RevertToCurrentSnapshot_Task": "VirtualMachine.State.RevertToSnapshot",
	"MarkAsTemplate": "VirtualMachine.Provisioning.MarkAsTemplate", "MarkAsVirtualMachine": "VirtualMachine.Provisioning.MarkAsVM",
	"SetCustomValue": "Global.SetCustomField", "ReconfigureComputeResource_Task": "Host.Inventory.EditCluster", "ReconfigureCluster_Task": "Host.Inventory.EditCluster",
}

// rootPrivileges are those that they need on the root folder.
var rootPrivileges = map[string]string{
	"AddCustomFieldDef": "Global.ManageCustomFields", "RemoveCustomFieldDef": "Global.ManageCustomFields", "RenameCustomFieldDef": "Global.ManageCustomFields",
	"QueryServiceList": "Global.ServiceManagers", "ExecuteSimpleCommand": "Global.ServiceManagers", "CancelTask": "Global.CancelTask",
	"TerminateSession": "Sessions.TerminateSession",
}

// reading are the beginnings of methods that any account may call: what reads, and what an own session makes for that.
var reading = []string{
	"Retrieve", "Query", "Find", "Fetch", "WaitFor", "CheckFor", "Continue", "HasPrivilege", "HasUserPrivilege", "Login", "Logout", "SessionIsActive", "CurrentTime", "ReadNext", "ReadPrevious",
	"CreateFilter", "CreatePropertyCollector", "CreateContainerView", "CreateListView", "CreateInventoryView", "CreateCollectorFor", "ModifyListView", "ResetListView",
	"DestroyPropertyFilter", "DestroyPropertyCollector", "DestroyView", "DestroyCollector", "ResetCollector", "RewindCollector", "SetCollectorPageSize",
	"CancelRetrievePropertiesEx", "CancelWaitForUpdates", "CloneSession", "AcquireCloneTicket",
}

// needs returns the privileges that a call needs.
func (v *VCenter) needs(m *simulator.Method) []need {
	name := strings.ToUpper(m.Name[:1]) + m.Name[1:]
	if p := methodPrivileges[name]; p != "" {
		return []need{{p, m.This}}
	}
	root := v.Model.ServiceContent.RootFolder
	if p := rootPrivileges[name]; p != "" {
		return []need{{p, root}}
	}
	switch body := m.Body.(type) {
	case *types.PowerOnMultiVM_Task:
		var out []need
		for _, vm := range body.Vm {
			out = append(out, need{"VirtualMachine.Interact.PowerOn", vm})
		}
		return out
	case *types.ReconfigVM_Task:
		return specNeeds(&body.Spec, m.This)
	case *types.RelocateVM_Task, *types.MigrateVM_Task:
		if vm := v.vm(m.This); vm != nil && v.powered(vm) {
			return []need{{"Resource.HotMigrate", m.This}}
		}
		return []need{{"Resource.ColdMigrate", m.This}}
	case *types.SetField:
		return []need{{"Global.SetCustomField", body.Entity}}
	case *types.Rename_Task:
		if m.This.Type == "VirtualMachine" {
			return []need{{"VirtualMachine.Config.Rename", m.This}}
		}
	case *types.UpdateOptions:
		if host, ok := v.optionsOf[m.This]; ok {
			return []need{{"Host.Config.AdvancedConfig", host}}
		}
		return []need{{"Global.Settings", root}}
	}
	for _, p := range reading {
		if strings.HasPrefix(name, p) {
			return nil
		}
	}
	return []need{{unlisted + name, m.This}}
}

// unlisted begins the privilege of a method that is not listed here: an account with AllBut has it, with Only not.
const unlisted = "lab.unlisted."

// powered reports whether a VM runs.
func (v *VCenter) powered(vm *simulator.VirtualMachine) (on bool) {
	ctx := v.context()
	ctx.WithLock(vm, func() { on = vm.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn })
	return on
}

// specPrivileges are the privileges that fields of a VM's configuration need ("Reconfigure privilege" of VirtualMachineConfigSpec, spelled as in the
// role Administrator). For numCoresPerSocket and virtualNuma the reference names none: they are taken to be like numCPUs. Those not listed need
// VirtualMachine.Config.Settings.
var specPrivileges = map[string]string{
	"ChangeVersion": "", "Name": "VirtualMachine.Config.Rename", "Annotation": "VirtualMachine.Config.Rename",
	"NumCPUs": "VirtualMachine.Config.CPUCount", "NumCoresPerSocket": "VirtualMachine.Config.CPUCount", "VirtualNuma": "VirtualMachine.Config.CPUCount",
	"CpuHotAddEnabled": "VirtualMachine.Config.CPUCount", "CpuHotRemoveEnabled": "VirtualMachine.Config.CPUCount",
	"MemoryMB": "VirtualMachine.Config.Memory", "MemoryHotAddEnabled": "VirtualMachine.Config.Memory",
	"ExtraConfig": "VirtualMachine.Config.AdvancedConfig", "DeviceChange": "VirtualMachine.Config.EditDevice",
	"CpuAllocation": "VirtualMachine.Config.Resource", "MemoryAllocation": "VirtualMachine.Config.Resource", "LatencySensitivity": "VirtualMachine.Config.Resource",
	"CpuAffinity": "VirtualMachine.Config.Resource", "MemoryAffinity": "VirtualMachine.Config.Resource", "MemoryReservationLockedToMax": "VirtualMachine.Config.Resource",
	"NetworkShaper": "VirtualMachine.Config.Resource", "SwapPlacement": "VirtualMachine.Config.SwapPlacement", "ChangeTrackingEnabled": "VirtualMachine.Config.ChangeTracking",
	"ManagedBy": "VirtualMachine.Config.ManagedBy", "ScheduledHardwareUpgradeInfo": "VirtualMachine.Config.UpgradeVirtualHardware",
}

// specNeeds returns the privileges of the fields that a specification sets.
func specNeeds(spec *types.VirtualMachineConfigSpec, vm types.ManagedObjectReference) (out []need) {
	fields := reflect.ValueOf(spec).Elem()
	for i := range fields.NumField() {
		f := fields.Type().Field(i)
		if f.Anonymous || fields.Field(i).IsZero() {
			continue
		}
		p, listed := specPrivileges[f.Name]
		if !listed {
			p = "VirtualMachine.Config.Settings"
		}
		if p != "" {
			out = append(out, need{p, vm})
		}
	}
	return out
}
