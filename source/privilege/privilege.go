// Package privilege says, once, which privileges the calls of the vSphere API need: a plan of changes asks for them before it writes, and
// the simulated vCenter refuses every call without them.
package privilege

// ReadOnly are the privileges of the role Read-only, which every role contains. View is what calls that read need, Read what they tell.
var ReadOnly = []string{"System.Anonymous", Read, View}

// The privileges that are asked for by name.
const (
	Read            = "System.Read"
	View            = "System.View"
	HostOptions     = "Host.Config.AdvancedConfig"
	ServiceManagers = "Global.ServiceManagers" // on the root folder, for esxtop's counters ("ServiceManager", vSphere Web Services API reference)
	SetField        = "Global.SetCustomField"
	ManageFields    = "Global.ManageCustomFields"
	PowerOff        = "VirtualMachine.Interact.PowerOff"
	PowerOn         = "VirtualMachine.Interact.PowerOn"
	Move            = "Resource.HotMigrate"
)

// Files are what reading a file of a datastore over HTTP needs ("Privilege Requirements for HTTP Access", vSphere Web Services SDK Programming
// Guide): "Browse datastore" and "Low level file operations". The latter can write and delete, too: give it for a while, on one datastore.
var Files = []string{"Datastore.Browse", "Datastore.FileManagement"}

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

// RootMethods are those that methods need on the root folder.
var RootMethods = map[string]string{
	"AddCustomFieldDef": ManageFields, "RemoveCustomFieldDef": ManageFields, "RenameCustomFieldDef": ManageFields,
	"QueryServiceList": ServiceManagers, "ExecuteSimpleCommand": ServiceManagers, "CancelTask": "Global.CancelTask",
	"TerminateSession": "Sessions.TerminateSession",
}

// Fields are the privileges that fields of a VM's configuration need ("Reconfigure privilege" of VirtualMachineConfigSpec, spelled as in the
// role Administrator). For numCoresPerSocket and virtualNuma the reference names none: they are taken to be like numCPUs. Those not listed need
// VirtualMachine.Config.Settings.
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
