// Package privilege lists the privileges that vSphere API calls need. A plan of changes checks them before it writes, and the simulated vCenter
// rejects calls without them.
package privilege

// ReadOnly are the privileges of the role Read-only, which every role contains. View is needed by calls that read; Read grants the data.
var ReadOnly = []string{"System.Anonymous", Read, View}

// The privileges that are checked by name.
const (
	Read            = "System.Read"
	View            = "System.View"
	HostOptions     = "Host.Config.AdvancedConfig"
	ServiceManagers = "Global.ServiceManagers" // on the root folder, for esxtop counters ("ServiceManager", vSphere Web Services API reference)
	SetField        = "Global.SetCustomField"
	ManageFields    = "Global.ManageCustomFields"
	PowerOff        = "VirtualMachine.Interact.PowerOff"
	PowerOn         = "VirtualMachine.Interact.PowerOn"
	Move            = "Resource.HotMigrate"
)

// Methods are the privileges that methods need on their object (vSphere Web Services API reference, "Required Privileges").
var Methods = map[string]string{
	"PowerOnVM_Task": PowerOn, "PowerOffVM_Task": PowerOff, "ShutdownGuest": PowerOff,
	"ResetVM_Task": "VirtualMachine.Interact.Reset", "RebootGuest": "VirtualMachine.Interact.Reset",
	"SuspendVM_Task": "VirtualMachine.Interact.Suspend", "StandbyGuest": "VirtualMachine.Interact.Suspend",
	"AnswerVM": "VirtualMachine.Interact.AnswerQuestion", "UpgradeVM_Task": "VirtualMachine.Config.UpgradeVirtualHardware",
	"CreateSnapshot_Task": "VirtualMachine.State.CreateSnapshot", "CreateSnapshotEx_Task": "VirtualMachine.State.CreateSnapshot",
	"RemoveAllSnapshots_Task": "VirtualMachine.State.RemoveSnapshot", "RevertToCurrentSnapshot_Task": "VirtualMachine.State.RevertToSnapshot",
	"MarkAsTemplate": "VirtualMachine.Provisioning.MarkAsTemplate", "MarkAsVirtualMachine": "VirtualMachine.Provisioning.MarkAsVM",
	"SetCustomValue": SetField, "ReconfigureComputeResource_Task": "Host.Inventory.EditCluster", "ReconfigureCluster_Task": "Host.Inventory.EditCluster",
}

// RootMethods are the privileges that methods need on the root folder.
var RootMethods = map[string]string{
	"AddCustomFieldDef": ManageFields, "RemoveCustomFieldDef": ManageFields, "RenameCustomFieldDef": ManageFields,
	"QueryServiceList": ServiceManagers, "ExecuteSimpleCommand": ServiceManagers, "CancelTask": "Global.CancelTask",
	"TerminateSession": "Sessions.TerminateSession",
}

// Fields are the privileges that fields of a VM configuration need ("Reconfigure privilege" of VirtualMachineConfigSpec, spelled as in the role
// Administrator). The reference names none for numCoresPerSocket and virtualNuma: the same as for numCPUs is assumed. Fields that are not
// listed need VirtualMachine.Config.Settings.
var Fields = map[string]string{
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
