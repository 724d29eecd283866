package lab

import (
	"reflect"
	"slices"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/source/privilege"
)

// A Need is a privilege on an object.
type Need struct {
	Privilege string
	On        types.ManagedObjectReference
}

// permit rejects a call of an account that lacks a privilege.
func (v *VCenter) permit(ctx *simulator.Context, m *simulator.Method) types.BaseMethodFault {
	v.mu.Lock()
	_, ok := v.accounts[ctx.Session.UserName]
	v.mu.Unlock()
	if !ok { // the administrator, or a call within the process
		return nil
	}
	for _, n := range v.needs(m) {
		if !v.may(ctx.Session.UserName, n.Privilege, n.On) {
			return &types.NoPermission{Object: &n.On, PrivilegeId: n.Privilege}
		}
	}
	return nil
}

// The prefixes of method names: own for methods that any account may call for its own session, telling for those that return facts of
// objects, and reading for all other reads.
var (
	own     = []string{"Login", "Logout", "SessionIsActive", "CurrentTime", "RetrieveServiceContent", "CloneSession", "AcquireCloneTicket"}
	telling = []string{"RetrieveProperties", "ContinueRetrieveProperties", "WaitFor", "CheckFor", "QueryEvents", "QueryOptions"}
	reading = []string{
		"Retrieve", "Query", "Find", "Fetch", "HasPrivilege", "HasUserPrivilege", "ReadNext", "ReadPrevious",
		"CreateFilter", "CreatePropertyCollector", "CreateContainerView", "CreateListView", "CreateInventoryView", "CreateCollectorFor", "ModifyListView", "ResetListView",
		"DestroyPropertyFilter", "DestroyPropertyCollector", "DestroyView", "DestroyCollector", "ResetCollector", "RewindCollector", "SetCollectorPageSize",
		"CancelRetrievePropertiesEx", "CancelWaitForUpdates",
	}
)

// needs returns the privileges required by a call.
func (v *VCenter) needs(m *simulator.Method) []Need {
	name := strings.ToUpper(m.Name[:1]) + m.Name[1:]
	if p := privilege.Methods[name]; p != "" {
		return []Need{{p, m.This}}
	}
	root := v.Model.ServiceContent.RootFolder
	if p := privilege.RootMethods[name]; p != "" {
		return []Need{{p, root}}
	}
	switch body := m.Body.(type) {
	case *types.PowerOnMultiVM_Task:
		var out []Need
		for _, vm := range body.Vm {
			out = append(out, Need{privilege.PowerOn, vm})
		}
		return out
	case *types.ReconfigVM_Task:
		return specNeeds(&body.Spec, m.This)
	case *types.RelocateVM_Task, *types.MigrateVM_Task:
		if vm := v.vm(m.This); vm != nil && v.powered(vm) {
			return []Need{{privilege.Move, m.This}}
		}
		return []Need{{"Resource.ColdMigrate", m.This}}
	case *types.SetField:
		return []Need{{privilege.SetField, body.Entity}}
	case *types.Rename_Task:
		if m.This.Type == "VirtualMachine" {
			return []Need{{"VirtualMachine.Config.Rename", m.This}}
		}
	case *types.UpdateOptions:
		if host, ok := v.optionsOf[m.This]; ok {
			return []Need{{privilege.HostOptions, host}}
		}
		return []Need{{"Global.Settings", root}}
	}
	switch begins := func(p string) bool { return strings.HasPrefix(name, p) }; {
	case slices.ContainsFunc(own, begins):
		return nil
	case slices.ContainsFunc(telling, begins): // a real one omits, or rejects, single objects
		return []Need{{privilege.View, root}, {privilege.Read, root}}
	case slices.ContainsFunc(reading, begins):
		return []Need{{privilege.View, root}}
	}
	return []Need{{unlisted + name, m.This}}
}

// unlisted is the prefix of the privilege of a method not listed here: an account with AllBut has it, with Only not.
const unlisted = "lab.unlisted."

// powered reports whether a VM runs.
func (v *VCenter) powered(vm *simulator.VirtualMachine) (on bool) {
	ctx := v.context()
	ctx.WithLock(vm, func() { on = vm.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn })
	return on
}

// specNeeds returns the privileges required by the fields that a specification sets.
func specNeeds(spec *types.VirtualMachineConfigSpec, vm types.ManagedObjectReference) (out []Need) {
	fields := reflect.ValueOf(spec).Elem()
	for i := range fields.NumField() {
		f := fields.Type().Field(i)
		if f.Anonymous || fields.Field(i).IsZero() {
			continue
		}
		p, listed := privilege.Fields[f.Name]
		if !listed {
			p = "VirtualMachine.Config.Settings"
		}
		if p != "" {
			out = append(out, Need{p, vm})
		}
	}
	return out
}
