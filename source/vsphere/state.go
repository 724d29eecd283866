package vsphere

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// statePaths are the additional properties, besides vmPaths, of VMs to be changed.
var statePaths = []string{
	"config.changeVersion", "config.managedBy", "runtime.bootTime", "runtime.question",
	"runtime.faultToleranceState", "guest.toolsRunningStatus", "snapshot", "recentTask",
}

// States reads the present state of VMs by their IDs; one that is gone is missing. Their place in the inventory is not read.
func (l *Live) States(ctx context.Context, ids []string) (map[string]numa.State, error) {
	r := *l.r
	r.answer = newAnswer(map[string]func(string) bool{"config.extraConfig": keepSetting}) // other queries use theirs
	inv := &inventory{reader: &r}
	q := inv.query("VMs", []string{"VirtualMachine"}, slices.Concat(vmPaths, statePaths)...)
	for _, id := range ids {
		q.only = append(q.only, types.ManagedObjectReference{Type: "VirtualMachine", Value: id})
	}
	out := make(map[string]numa.State, len(ids))
	tasks := map[types.ManagedObjectReference]string{} // VM by task
	for page := range slices.Chunk(q.only, int(inv.opts.PageSize)) {
		q.only = page
		_, err := collect(ctx, inv, q, func(o *object) string {
			v := inv.convertVM(o)
			s := numa.State{VM: v.VM, Snapshots: !o.unset("snapshot")}
			s.VM.Host = v.host.Value
			s.ChangeVersion, _ = value[string](o, "config.changeVersion")
			s.Boot, _ = value[time.Time](o, "runtime.bootTime")
			running, _ := value[string](o, "guest.toolsRunningStatus")
			s.Tools = running == string(types.VirtualMachineToolsRunningStatusGuestToolsRunning)
			if by, ok := value[types.ManagedByInfo](o, "config.managedBy"); ok {
				s.Manager = by.ExtensionKey
			}
			if q, ok := value[types.VirtualMachineQuestionInfo](o, "runtime.question"); ok {
				s.Question = q.Text
			}
			ft, _ := value[types.VirtualMachineFaultToleranceState](o, "runtime.faultToleranceState")
			s.Protected = ft != "" && ft != types.VirtualMachineFaultToleranceStateNotConfigured
			if list, ok := value[types.ArrayOfManagedObjectReference](o, "recentTask"); ok {
				for _, t := range list.ManagedObjectReference {
					tasks[t] = v.ID
				}
			}
			out[v.ID] = s
			return v.ID
		})
		if err != nil {
			if gone(err) && len(page) > 1 { // one of them no longer exists: read each separately
				for _, ref := range page {
					one, err := l.States(ctx, []string{ref.Value})
					if err != nil {
						return nil, err
					}
					for id, s := range one {
						out[id] = s
					}
				}
				continue
			}
			if gone(err) {
				continue
			}
			return nil, l.Refusal("states of VMs", err)
		}
	}
	return out, l.running(ctx, tasks, out)
}

func gone(err error) bool { return hasFault[*types.ManagedObjectNotFound](err) }

// running records which of the tasks run.
func (l *Live) running(ctx context.Context, tasks map[types.ManagedObjectReference]string, out map[string]numa.State) error {
	if len(tasks) == 0 {
		return nil
	}
	refs := make([]types.ManagedObjectReference, 0, len(tasks))
	for t := range tasks {
		refs = append(refs, t)
	}
	var found []mo.Task
	err := l.Call(ctx, "tasks", func(ctx context.Context, c *vim25.Client) error {
		return property.DefaultCollector(c).Retrieve(ctx, refs, []string{"info.state", "info.descriptionId"}, &found)
	})
	if err != nil && !gone(err) { // old tasks may disappear at any moment
		return err
	}
	for _, t := range found {
		if t.Info.State == types.TaskInfoStateRunning || t.Info.State == types.TaskInfoStateQueued {
			s := out[tasks[t.Self]]
			s.Task = t.Info.DescriptionId
			out[tasks[t.Self]] = s
		}
	}
	return nil
}

// Call makes a request in the session, within Options.CallTimeout. what is its name in errors, which wrap a numa.Refusal if
// the server refuses. It does not log in again.
func (l *Live) Call(ctx context.Context, what string, request func(context.Context, *vim25.Client) error) error {
	err := l.r.call(ctx, func(ctx context.Context) error { return request(ctx, l.r.client) })
	return l.Refusal(what, err)
}

// Login logs in again after the session expired. It is an error when another instance answers at the address now: the IDs are those of other objects there.
func (l *Live) Login(ctx context.Context) error {
	err := l.r.call(ctx, func(ctx context.Context) error {
		now, err := methods.GetServiceContent(ctx, l.r.client)
		if err == nil && now.About.InstanceUuid != l.Instance() {
			err = fmt.Errorf("another vCenter answers now: the instance is %q, not %q", now.About.InstanceUuid, l.Instance())
		}
		return err
	})
	if err == nil {
		err = l.r.login(ctx)
	}
	return l.Refusal(l.r.host+": log in", err)
}

// Refusal adds the request to an error, with a numa.Refusal where it is one; nil for nil.
func (l *Live) Refusal(what string, err error) error {
	if err == nil {
		return nil
	}
	var missing privilegeError
	var noPermission *types.NoPermission
	kind := numa.Refusal("")
	switch _, ok := fault.As(err, &noPermission); {
	case errors.As(err, new(expiredError)) || hasFault[*types.NotAuthenticated](err):
		kind = numa.ErrExpired
	case errors.As(err, &missing) || ok:
		kind = numa.ErrPrivilege
	case hasFault[*types.ConcurrentAccess](err):
		kind = numa.ErrChanged
	case hasFault[*types.TaskInProgress](err):
		kind = numa.ErrBusy
	case hasFault[*types.InvalidPowerState](err):
		kind = numa.ErrPower
	case gone(err):
		kind = numa.ErrGone
	case hasFault[*types.InvalidName](err):
		kind = numa.ErrNoOption
	case hasFault[*types.ToolsUnavailable](err):
		kind = numa.ErrNoTools
	case dropped(err) || errors.As(err, new(noAnswerError)) || errors.As(err, new(syscall.Errno)) || strings.Contains(err.Error(), "503 Service Unavailable"):
		kind = numa.ErrLost
	}
	if kind == "" {
		return fmt.Errorf("%s: %w", what, named(err))
	}
	text := string(kind)
	if ok := noPermission != nil && noPermission.PrivilegeId != ""; ok {
		text += ": " + noPermission.PrivilegeId
	} else if missing.id != "" && !strings.Contains(text, missing.id) {
		text += ": " + missing.id
	}
	return liveError{kind, what + ": " + text}
}

// A namedError has the name of its fault, where the server sent no text for people.
type namedError struct {
	error
	text string
}

func (e namedError) Error() string { return e.text }
func (e namedError) Unwrap() error { return e.error }

// named gives an error whose text is the type of a fault, as "*types.InvalidArgument", the fault's name and the property that it is about.
func named(err error) error {
	text := err.Error()
	fault.In(err, func(f types.BaseMethodFault, said string, _ []types.LocalizableMessage) bool {
		kind := fmt.Sprintf("%T", f)
		if !strings.Contains(text, kind) {
			return false
		}
		name := "the server refuses it: " + strings.TrimPrefix(kind, "*types.")
		if one, ok := f.(*types.InvalidArgument); ok && one.InvalidProperty != "" {
			name += " " + one.InvalidProperty
		}
		text = strings.ReplaceAll(text, kind, name)
		return true
	})
	if text == err.Error() {
		return err
	}
	return namedError{err, text}
}

// Clock returns the time of the server's clock.
func (l *Live) Clock(ctx context.Context) (time.Time, error) {
	t, err := l.r.currentTime(ctx)
	return t, l.Refusal("the time", err)
}
