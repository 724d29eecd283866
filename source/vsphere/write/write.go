// Package write changes VMs and hosts over the vSphere API. It is the only package of homenode that writes. Only the command that applies a
// plan imports it (tested by internal/house).
package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/task"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere"
)

// A Writer changes VMs and hosts in one session.
type Writer struct{ *vsphere.Live }

// Fleet reads the inventory, with the same errors as other calls.
func (w Writer) Fleet(ctx context.Context) (*numa.Fleet, error) {
	f, err := w.Live.Fleet(ctx)
	if errors.Is(err, vsphere.ErrExpired) {
		return nil, fmt.Errorf("%w: %w", numa.ErrExpired, err)
	}
	return f, w.Refusal("inventory", err)
}

// patience is the timeout of a task.
const patience = 10 * time.Minute

func vmRef(id string) types.ManagedObjectReference {
	return types.ManagedObjectReference{Type: "VirtualMachine", Value: id}
}

// Reconfigure makes all edits of a VM in one task, and returns when it has ended. version is the changeVersion that the VM must have; "" for
// any. An upgrade of the virtual hardware is a task of its own, without other edits. started is called with the key of the task before
// waiting for it.
func (w Writer) Reconfigure(ctx context.Context, vm string, edits []numa.Edit, version string, started func(task string) error) error {
	if len(edits) == 1 && edits[0].Kind == numa.EditHardware {
		return w.task(ctx, "upgrade the virtual hardware", started, func(ctx context.Context, c *vim25.Client) (types.ManagedObjectReference, error) {
			res, err := methods.UpgradeVM_Task(ctx, c, &types.UpgradeVM_Task{This: vmRef(vm), Version: "vmx-" + edits[0].To.Text})
			if err != nil {
				return types.ManagedObjectReference{}, err
			}
			return res.Returnval, nil
		})
	}
	spec, err := specOf(edits)
	if err != nil {
		return err
	}
	spec.ChangeVersion = version
	return w.task(ctx, "reconfigure", started, func(ctx context.Context, c *vim25.Client) (types.ManagedObjectReference, error) {
		res, err := methods.ReconfigVM_Task(ctx, c, &types.ReconfigVM_Task{This: vmRef(vm), Spec: *spec})
		if err != nil {
			return types.ManagedObjectReference{}, err
		}
		return res.Returnval, nil
	})
}

// specOf converts the edits to the API's types.
func specOf(edits []numa.Edit) (*types.VirtualMachineConfigSpec, error) {
	spec := &types.VirtualMachineConfigSpec{}
	nodes := func() *types.VirtualMachineVirtualNuma {
		if spec.VirtualNuma == nil {
			spec.VirtualNuma = &types.VirtualMachineVirtualNuma{}
		}
		return spec.VirtualNuma
	}
	for _, e := range edits {
		number, err := strconv.ParseInt(e.To.Text, 10, 32)
		yes := strings.EqualFold(e.To.Text, "true")
		absent := !e.To.Set
		switch e.Kind {
		case numa.EditVCPUs, numa.EditMemory, numa.EditCoresPerSocket, numa.EditMemoryReservation, numa.EditCPUReservation:
			if err != nil {
				return nil, fmt.Errorf("%s: found %q, want a number", e.Name(), e.To)
			}
		}
		switch e.Kind {
		case numa.EditVCPUs:
			spec.NumCPUs = int32(number)
		case numa.EditMemory:
			spec.MemoryMB = number
		case numa.EditCoresPerSocket:
			spec.NumCoresPerSocket = types.NewInt32(int32(number))
		case numa.EditCPUHotAdd:
			spec.CpuHotAddEnabled = types.NewBool(yes)
		case numa.EditMemoryHotAdd:
			spec.MemoryHotAddEnabled = types.NewBool(yes)
		case numa.EditCoresPerNUMANode: // absent means assigned at power on
			if err != nil && !absent {
				return nil, fmt.Errorf("%s: found %q, want a number", e.Name(), e.To)
			}
			nodes().CoresPerNumaNode = types.NewInt32(int32(number))
		case numa.EditVNUMAHotAdd:
			nodes().ExposeVnumaOnCpuHotadd = types.NewBool(yes)
		case numa.EditCPUAffinity:
			if spec.CpuAffinity, err = affinityOf(e); err != nil {
				return nil, err
			}
		case numa.EditLatency:
			spec.LatencySensitivity = &types.LatencySensitivity{Level: types.LatencySensitivitySensitivityLevel(e.To.Text)}
		case numa.EditReserveAll:
			spec.MemoryReservationLockedToMax = types.NewBool(yes)
		case numa.EditMemoryReservation:
			spec.MemoryAllocation = &types.ResourceAllocationInfo{Reservation: types.NewInt64(number)}
		case numa.EditCPUReservation:
			spec.CpuAllocation = &types.ResourceAllocationInfo{Reservation: types.NewInt64(number)}
		case numa.EditExtraConfig: // an empty value removes it
			spec.ExtraConfig = append(spec.ExtraConfig, &types.OptionValue{Key: e.Key, Value: e.To.Text})
		default:
			return nil, fmt.Errorf("%s cannot be written: it is no setting of ReconfigVM_Task", e.Name())
		}
	}
	return spec, nil
}

// affinityOf parses comma-separated CPU numbers; an empty list removes the affinity.
func affinityOf(e numa.Edit) (*types.VirtualMachineAffinityInfo, error) {
	set := &types.VirtualMachineAffinityInfo{AffinitySet: []int32{}}
	for text := range strings.FieldsFuncSeq(e.To.Text, func(r rune) bool { return r == ',' }) {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil { // an empty set would remove the affinity
			return nil, fmt.Errorf("%s: found %q, want comma-separated numbers", e.Name(), e.To)
		}
		set.AffinitySet = append(set.AffinitySet, int32(n))
	}
	return set, nil
}

// Shutdown asks the guest to shut down. It returns before the VM is off.
func (w Writer) Shutdown(ctx context.Context, vm string) error {
	return w.Call(ctx, "shut down the guest", func(ctx context.Context, c *vim25.Client) error {
		_, err := methods.ShutdownGuest(ctx, c, &types.ShutdownGuest{This: vmRef(vm)})
		return err
	})
}

// ShutdownAsked reports whether vCenter was asked to shut the guest down since a time, allowing for a minute of clock difference, and since its last
// power-on by the clock of the server, zero if unknown: a request before that was carried out.
func (w Writer) ShutdownAsked(ctx context.Context, vm string, since, boot time.Time) (asked bool, err error) {
	err = w.Call(ctx, "events of the VM", func(ctx context.Context, c *vim25.Client) error {
		if c.ServiceContent.EventManager == nil {
			return errors.New("the server keeps no events")
		}
		now, err := methods.GetCurrentTime(ctx, c)
		if err != nil {
			return err
		}
		begin := now.Add(-time.Since(since) - time.Minute) // by the server's clock
		if boot.After(begin) {
			begin = boot
		}
		res, err := methods.QueryEvents(ctx, c, &types.QueryEvents{This: *c.ServiceContent.EventManager, Filter: types.EventFilterSpec{
			Entity:      &types.EventFilterSpecByEntity{Entity: vmRef(vm), Recursion: types.EventFilterSpecRecursionOptionSelf},
			Time:        &types.EventFilterSpecByTime{BeginTime: &begin},
			EventTypeId: []string{"VmGuestShutdownEvent"},
		}})
		if err == nil {
			asked = len(res.Returnval) > 0
		}
		return err
	})
	return asked, err
}

// PowerOff powers the VM off hard.
func (w Writer) PowerOff(ctx context.Context, vm string, started func(task string) error) error {
	return w.task(ctx, "power off", started, func(ctx context.Context, c *vim25.Client) (types.ManagedObjectReference, error) {
		res, err := methods.PowerOffVM_Task(ctx, c, &types.PowerOffVM_Task{This: vmRef(vm)})
		if err != nil {
			return types.ManagedObjectReference{}, err
		}
		return res.Returnval, nil
	})
}

// PowerOn powers the VM on, on the host with this ID; with "" DRS or its registration decides.
func (w Writer) PowerOn(ctx context.Context, vm, host string, started func(task string) error) error {
	req := &types.PowerOnVM_Task{This: vmRef(vm)}
	if host != "" {
		req.Host = &types.ManagedObjectReference{Type: "HostSystem", Value: host}
	}
	return w.task(ctx, "power on", started, func(ctx context.Context, c *vim25.Client) (types.ManagedObjectReference, error) {
		res, err := methods.PowerOnVM_Task(ctx, c, req)
		if err != nil {
			return types.ManagedObjectReference{}, err
		}
		return res.Returnval, nil
	})
}

// Move moves a running VM to another host (vMotion); its storage stays.
func (w Writer) Move(ctx context.Context, vm, host string, started func(task string) error) error {
	to := types.ManagedObjectReference{Type: "HostSystem", Value: host}
	return w.task(ctx, "vMotion", started, func(ctx context.Context, c *vim25.Client) (types.ManagedObjectReference, error) {
		res, err := methods.RelocateVM_Task(ctx, c, &types.RelocateVM_Task{This: vmRef(vm), Spec: types.VirtualMachineRelocateSpec{Host: &to}})
		if err != nil {
			return types.ManagedObjectReference{}, err
		}
		return res.Returnval, nil
	})
}

// task starts a task and waits for its end. A lost answer is numa.ErrLost: read the state to find the result.
func (w Writer) task(ctx context.Context, what string, started func(string) error, start func(context.Context, *vim25.Client) (types.ManagedObjectReference, error)) error {
	var ref types.ManagedObjectReference
	var client *vim25.Client
	err := w.Call(ctx, what, func(ctx context.Context, c *vim25.Client) (err error) {
		client = c
		ref, err = start(ctx, c)
		return err
	})
	if err != nil {
		return err
	}
	if started != nil {
		if err := started(ref.Value); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// Concurrent waiters on a shared collector would take each other's updates.
	own, err := property.DefaultCollector(client).Create(ctx)
	if err == nil {
		_, err = task.WaitEx(ctx, ref, own, nil)
		if ctx.Err() == nil {
			_ = own.Destroy(ctx) // it ends with the session
		}
	}
	if err != nil && ctx.Err() == nil {
		return w.Refusal(what, err)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: task %s has not ended within %v: %w", what, ref.Value, patience, numa.ErrLost)
	}
	return err
}

// HostOptions returns the options of a host with these keys. One without a value of its own has the default that the host states; without one it is missing.
func (w Writer) HostOptions(ctx context.Context, host string, keys []string) (numa.Settings, error) {
	manager, err := w.options(ctx, host)
	if err != nil {
		return nil, err
	}
	var out numa.Settings
	var absent []string
	for _, key := range keys {
		err := w.Call(ctx, "option "+key, func(ctx context.Context, c *vim25.Client) error {
			res, err := methods.QueryOptions(ctx, c, &types.QueryOptions{This: manager, Name: key})
			var unknown *types.InvalidName
			if _, ok := fault.As(err, &unknown); ok {
				return nil // it has no value, not even its default
			}
			if err != nil {
				return err
			}
			for _, o := range res.Returnval {
				if v := o.GetOptionValue(); strings.EqualFold(v.Key, key) {
					out = out.With(key, fmt.Sprint(v.Value))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if _, ok := out.Lookup(key); !ok {
			absent = append(absent, key)
		}
	}
	if absent == nil {
		return out, nil
	}
	err = w.Call(ctx, "defaults of options", func(ctx context.Context, c *vim25.Client) error {
		var m mo.OptionManager
		if err := property.DefaultCollector(c).RetrieveOne(ctx, manager, []string{"supportedOption"}, &m); err != nil {
			return err
		}
		for _, d := range m.SupportedOption {
			for _, key := range absent {
				if text := defaultOf(d.OptionType); strings.EqualFold(d.Key, key) && text != "" {
					out = out.With(key, text)
				}
			}
		}
		return nil
	})
	return out, err
}

// defaultOf returns the default of an option; "" where its type states none.
func defaultOf(t types.BaseOptionType) string {
	switch o := t.(type) {
	case *types.LongOption:
		return fmt.Sprint(o.DefaultValue)
	case *types.IntOption:
		return fmt.Sprint(o.DefaultValue)
	case *types.StringOption:
		return o.DefaultValue
	}
	return ""
}

// SetHostOptions sets options of a host. A number is written as a number: the API rejects another type.
func (w Writer) SetHostOptions(ctx context.Context, host string, edits []numa.Edit) error {
	manager, err := w.options(ctx, host)
	if err != nil {
		return err
	}
	req := &types.UpdateOptions{This: manager}
	for _, e := range edits {
		var value any = e.To.Text
		if n, err := strconv.ParseInt(e.To.Text, 10, 64); err == nil {
			value = n
		}
		req.ChangedValue = append(req.ChangedValue, &types.OptionValue{Key: e.Key, Value: value})
	}
	return w.Call(ctx, "set options", func(ctx context.Context, c *vim25.Client) error {
		_, err := methods.UpdateOptions(ctx, c, req)
		return err
	})
}

// options returns the option manager of a host.
func (w Writer) options(ctx context.Context, host string) (ref types.ManagedObjectReference, err error) {
	err = w.Call(ctx, "option manager", func(ctx context.Context, c *vim25.Client) error {
		var h mo.HostSystem
		self := types.ManagedObjectReference{Type: "HostSystem", Value: host}
		if err := property.DefaultCollector(c).RetrieveOne(ctx, self, []string{"configManager.advancedOption"}, &h); err != nil {
			return err
		}
		if h.ConfigManager.AdvancedOption == nil {
			return errors.New("the host has none")
		}
		ref = *h.ConfigManager.AdvancedOption
		return nil
	})
	return ref, err
}

// Missing returns the privileges that the account lacks on the objects, by type and ID ("VirtualMachine vm-12"). An object that is gone needs none.
func (w Writer) Missing(ctx context.Context, objects, privileges []string) (map[string][]string, error) {
	out := map[string][]string{}
	if len(objects) == 0 || len(privileges) == 0 {
		return out, nil
	}
	var refs []types.ManagedObjectReference
	for _, o := range objects {
		kind, id, _ := strings.Cut(o, " ")
		switch manager, root := w.fields(); {
		case o != numa.RootFolder:
			refs = append(refs, types.ManagedObjectReference{Type: kind, Value: id})
		case manager != nil: // a standalone host has no lock
			refs = append(refs, root)
		}
	}
	for page := range slices.Chunk(refs, 200) {
		err := w.Call(ctx, "privileges", func(ctx context.Context, c *vim25.Client) error {
			if c.ServiceContent.AuthorizationManager == nil {
				return errors.New("the server has no authorization manager")
			}
			m := mo.SessionManager{}
			if err := property.DefaultCollector(c).RetrieveOne(ctx, *c.ServiceContent.SessionManager, []string{"currentSession"}, &m); err != nil {
				return err
			}
			if m.CurrentSession == nil {
				return errors.New("the session is not known")
			}
			req := &types.HasPrivilegeOnEntities{This: *c.ServiceContent.AuthorizationManager, Entity: page, SessionId: m.CurrentSession.Key, PrivId: privileges}
			res, err := methods.HasPrivilegeOnEntities(ctx, c, req)
			var gone *types.ManagedObjectNotFound
			for err != nil {
				if _, is := fault.As(err, &gone); !is {
					return err
				}
				there := slices.DeleteFunc(slices.Clone(req.Entity), func(o types.ManagedObjectReference) bool { return o.Type == gone.Obj.Type && o.Value == gone.Obj.Value })
				if len(there) == 0 {
					return nil
				}
				if len(there) == len(req.Entity) {
					return err
				}
				req.Entity = there
				res, err = methods.HasPrivilegeOnEntities(ctx, c, req)
			}
			for _, o := range req.Entity {
				for _, p := range privileges {
					if !granted(res.Returnval, o, p) {
						out[p] = append(out[p], o.Type+" "+o.Value)
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// granted reports whether an answer states that the account has a privilege on an object. What it leaves out is not granted.
func granted(answer []types.EntityPrivilege, object types.ManagedObjectReference, privilege string) bool {
	return slices.ContainsFunc(answer, func(e types.EntityPrivilege) bool {
		return e.Entity.Type == object.Type && e.Entity.Value == object.Value && slices.Contains(e.PrivAvailability, types.PrivilegeAvailability{PrivId: privilege, IsGranted: true})
	})
}
