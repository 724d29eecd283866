package lab_test

import (
	"errors"
	"testing"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/task"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/source/vsphere/lab"
)

func always(f types.BaseMethodFault) func() types.BaseMethodFault {
	return func() types.BaseMethodFault { return f }
}

// TestHook: a call is refused, its task fails, and the connection is cut before and after it is carried out.
func TestHook(t *testing.T) {
	for name, tc := range map[string]struct {
		hook    lab.Hook
		is      func(error) bool
		changed bool
	}{
		"refused": {lab.Once(lab.Arrives, "ReconfigVM_Task", always(&types.HostCommunication{})), func(err error) bool {
			return soap.IsSoapFault(err)
		}, false},
		"task fails": {lab.Once(lab.Runs, "ReconfigVM_Task", always(&types.FileLocked{})), func(err error) bool {
			f := task.Error{}
			if !errors.As(err, &f) {
				return false
			}
			_, ok := f.Fault().(*types.FileLocked)
			return ok
		}, false},
		"lost call":   {lab.Once(lab.Arrives, "ReconfigVM_Task", always(lab.Drop)), isCut, false},
		"lost answer": {lab.Once(lab.Answers, "ReconfigVM_Task", always(lab.Drop)), isCut, true},
	} {
		t.Run(name, func(t *testing.T) {
			vc := serve(t)
			c := login(t, vc, "vm-2")
			vc.On(tc.hook)
			err := c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "first"})
			if err == nil || !tc.is(err) {
				t.Errorf("got %v (%T)", err, err)
			}
			if tc.changed {
				c.until("config.changeVersion", func(vm mo.VirtualMachine) bool { return vm.Config.Annotation == "first" })
			} else if got := c.properties().Config.Annotation; got != "" {
				t.Errorf("the note is %q", got)
			}
			c.must(c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "second"}))
		})
	}
}

func isCut(err error) bool { return !soap.IsSoapFault(err) && !soap.IsVimFault(err) }

// TestTaskInProgress: a VM has one task at a time, can be read meanwhile, and the task is seen on it.
func TestTaskInProgress(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-2")
	started, goOn := make(chan bool), make(chan bool)
	vc.On(lab.Once(lab.Runs, "ReconfigVM_Task", func() types.BaseMethodFault {
		close(started)
		<-goOn
		return nil
	}))
	first, err := c.vm.Reconfigure(t.Context(), types.VirtualMachineConfigSpec{Annotation: "first"})
	c.must(err)
	<-started
	f := isFault[*types.TaskInProgress](t, "second", c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "second"}))
	if f != nil && f.Task != first.Reference() {
		t.Errorf("the fault names %v, want %v", f.Task, first.Reference())
	}
	isFault[*types.TaskInProgress](t, "power on", c.wait(c.vm.PowerOn(t.Context())))
	var info mo.Task
	c.must(object.NewTask(c.Client.Client, c.properties().RecentTask[0]).Properties(t.Context(), first.Reference(), []string{"info"}, &info))
	if info.Info.State != types.TaskInfoStateRunning || info.Info.Entity.Value != "vm-2" || info.Info.Name != "ReconfigVM_Task" {
		t.Errorf("the task of the VM is %s of %v, %s", info.Info.Name, info.Info.Entity, info.Info.State)
	}
	close(goOn)
	c.must(first.Wait(t.Context()))
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "third"}))
	if n := len(c.properties().RecentTask); n != 4 {
		t.Errorf("%d recent tasks of the VM, want one for each of four calls", n)
	}
}

// TestAnotherClient: a hook changes the VM over another session between a client's reading and its call.
func TestAnotherClient(t *testing.T) {
	vc := serve(t)
	c, other := login(t, vc, "vm-2"), login(t, vc, "vm-2")
	version := c.properties().Config.ChangeVersion
	vc.On(lab.Once(lab.Arrives, "ReconfigVM_Task", func() types.BaseMethodFault {
		other.must(other.reconfigure(types.VirtualMachineConfigSpec{Annotation: "of another"}))
		return nil
	}))
	isFault[*types.ConcurrentAccess](t, "mine", c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "mine", ChangeVersion: version}))
}

// TestExpiredSession: a session ends just before a call, another log-in goes on.
func TestExpiredSession(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-2")
	vc.On(lab.Once(lab.Arrives, "ReconfigVM_Task", func() types.BaseMethodFault { vc.ExpireSessions(); return nil }))
	spec := types.VirtualMachineConfigSpec{Annotation: "mine"}
	isFault[*types.NotAuthenticated](t, "after it expired", c.reconfigure(spec))
	isFault[*types.NotAuthenticated](t, "again", c.reconfigure(spec))
	c.must(c.Login(t.Context(), vc.URL.User))
	c.must(c.reconfigure(spec))
	vc.Restart()
	if err := c.reconfigure(spec); err == nil {
		t.Error("a session outlived a restart")
	}
	c.must(c.Login(t.Context(), vc.URL.User))
	c.must(c.reconfigure(spec))
}
