package script_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/whatif"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/fix/script"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/vsphere/lab"
)

// hostile are names that a VM may have.
var hostile = []string{"$(rm -rf ~)", "`id`", "it's \"quoted\"", "two\nlines; exit 1", "%2f/..\\", "Zürich ‘京都’", "'@\n\"@", "{{ jinja }} {% raw %}", "${hcl} %{if}", "#> -x", "\u202egnp"}

// A world is a simulated vCenter and a plan for it.
type world struct {
	vc    *lab.VCenter
	fleet *numa.Fleet
	plan  *fix.Plan
}

// newWorld serves the demo fleet, with hostile names.
func newWorld(t *testing.T) *world {
	t.Helper()
	f := given.Demo(t)
	for i := range f.VMs {
		f.VMs[i].Observed = nil
		f.VMs[i].Name = fmt.Sprint(hostile[i%len(hostile)], i)
	}
	f.Hosts[0].Options = numa.ReadAt(f.Hosts[0].Options.Value.With("Numa.PreferHT", "0"), "test")
	return worldOf(t, f)
}

// worldOf serves a fleet.
func worldOf(t *testing.T, f *numa.Fleet) *world {
	t.Helper()
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	return &world{vc: vc, fleet: f, plan: &fix.Plan{Format: fix.Format, Version: fix.Version, ID: "0123456789abcdef", Made: "2026-11-22T10:00:00Z", Source: "vc01\nexample", By: "homenode 1.4.0"}}
}

// wish returns the plan of wishes.
func (w *world) wish(t *testing.T, wishes ...string) *fix.Plan {
	t.Helper()
	var set []whatif.Change
	for _, text := range wishes {
		change, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, change)
	}
	p, err := fix.Make(t.Context(), w.fleet, fix.Options{Set: set, Resize: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// change adds a change of a VM to the plan, with what the VM has now.
func (w *world) change(vm *numa.VM, edits ...numa.Edit) {
	for i := range edits {
		edits[i].From = edits[i].ValueOf(&vm.Config)
	}
	w.plan.Changes = append(w.plan.Changes, fix.Change{
		VM: &fix.Target{Name: vm.Name, ID: vm.ID, UUID: vm.UUID}, Findings: []string{"N001"}, Edits: edits, Batch: len(w.plan.Changes) + 1,
		Basis: []fix.Known{{Name: "vcpus", Value: numa.Edit{Kind: numa.EditVCPUs}.ValueOf(&vm.Config).Text}},
	})
}

// pick returns a VM of the fleet that runs or is off, and that has hot add of CPUs or not.
func (w *world) pick(t *testing.T, nth int, fits func(*numa.VM) bool) *numa.VM {
	t.Helper()
	for i := range w.fleet.VMs {
		if vm := &w.fleet.VMs[i]; vm.VCPUs.Value > 1 && !vm.Template.Value && !vm.AutoCoresPerSocket.Value && fits(vm) {
			if nth--; nth < 0 {
				return vm
			}
		}
	}
	t.Fatal("the fleet has no such VM")
	return nil
}

func running(vm *numa.VM) bool { return vm.Power.Value == numa.PoweredOn }
func off(vm *numa.VM) bool     { return vm.Power.Value == numa.PoweredOff }

// settings returns everything that the vCenter has of its VMs, but versions, times and the sizes that ESXi stores itself.
func (w *world) settings() map[string]string {
	out := map[string]string{}
	for _, e := range w.vc.Model.Map().All("VirtualMachine") {
		vm := e.(*simulator.VirtualMachine)
		if vm.Config == nil {
			continue
		}
		c := *vm.Config
		c.ChangeVersion, c.Modified, c.DatastoreUrl = "", time.Time{}, nil
		if auto := c.Hardware.AutoCoresPerSocket; auto != nil && !*auto { // unset is false
			c.Hardware.AutoCoresPerSocket = nil
		}
		for _, a := range []**types.ResourceAllocationInfo{&c.CpuAllocation, &c.MemoryAllocation} { // the simulator forgets a limit that is not sent; vSphere keeps it
			if *a != nil {
				*a = &types.ResourceAllocationInfo{Reservation: (*a).Reservation}
			}
		}
		c.ExtraConfig = slices.Clone(c.ExtraConfig)
		slices.SortFunc(c.ExtraConfig, func(a, b types.BaseOptionValue) int {
			return cmp.Compare(a.GetOptionValue().Key, b.GetOptionValue().Key)
		})
		data, _ := json.MarshalIndent(struct {
			Config any
			Power  any
		}{c, vm.Runtime.PowerState}, "", " ")
		out[vm.Self.Value] = string(data)
	}
	return out
}

// same reports the settings that differ.
func same(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	for id, w := range want {
		if g := got[id]; g != w {
			gl, wl := strings.Split(g, "\n"), strings.Split(w, "\n")
			for i := range min(len(gl), len(wl)) {
				if gl[i] != wl[i] {
					t.Errorf("%s: VM %s: line %d is %s, want %s", when, id, i, gl[i], wl[i])
					break
				}
			}
			if len(gl) != len(wl) {
				t.Errorf("%s: VM %s has %d lines of settings, want %d:\n%s", when, id, len(gl), len(wl), g)
			}
		}
	}
}

// now returns what a VM has for a setting.
func (w *world) now(t *testing.T, vm string, e numa.Edit) numa.Value {
	t.Helper()
	m, ok := w.vc.Model.Map().Get(types.ManagedObjectReference{Type: "VirtualMachine", Value: vm}).(*simulator.VirtualMachine)
	if !ok {
		t.Fatalf("no VM %s", vm)
	}
	for _, o := range m.Config.ExtraConfig {
		if strings.EqualFold(o.GetOptionValue().Key, e.Key) {
			return numa.Is(o.GetOptionValue().Value.(string))
		}
	}
	c := &numa.Config{CPUHotAdd: numa.ReadAt(m.Config.CpuHotAddEnabled != nil && *m.Config.CpuHotAddEnabled, "lab"), Memory: numa.ReadAt(numa.Bytes(m.Config.Hardware.MemoryMB)*numa.MiB, "lab"),
		VCPUs: numa.ReadAt(int(m.Config.Hardware.NumCPU), "lab"), MemoryHotAdd: numa.ReadAt(m.Config.MemoryHotAddEnabled != nil && *m.Config.MemoryHotAddEnabled, "lab")}
	c.MemoryReservationLocked = numa.ReadAt(m.Config.MemoryReservationLockedToMax != nil && *m.Config.MemoryReservationLockedToMax, "lab")
	if l := m.Config.LatencySensitivity; l != nil {
		c.LatencySensitivity = numa.ReadAt(string(l.Level), "lab")
	}
	if a := m.Config.CpuAllocation; a != nil && a.Reservation != nil {
		c.CPUReservation = numa.ReadAt(int(*a.Reservation), "lab")
	}
	if a := m.Config.MemoryAllocation; a != nil && a.Reservation != nil {
		c.MemoryReservation = numa.ReadAt(numa.Bytes(*a.Reservation)*numa.MiB, "lab")
	}
	if n := m.Config.Hardware.NumCoresPerSocket; n != nil {
		c.CoresPerSocket = numa.ReadAt(int(*n), "lab")
	}
	if a := m.Config.Hardware.AutoCoresPerSocket; a != nil {
		c.AutoCoresPerSocket = numa.ReadAt(*a, "lab")
	}
	return e.ValueOf(c)
}

// arrived checks that every VM of the changes has what the plan wants.
func (w *world) arrived(t *testing.T, changes ...fix.Change) {
	t.Helper()
	for _, c := range changes {
		for _, e := range c.Edits {
			if v := w.now(t, c.VM.ID, e); !v.Same(e.To) {
				t.Errorf("%s of %s is %s, want %s", e.Name(), c.VM.ID, v, e.To)
			}
		}
	}
}

// write writes the script of the plan for a tool.
func (w *world) write(t *testing.T, tool string, o script.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := script.Write(&b, tool, w.plan, o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "script")
	golden.Write(t, file, b.Bytes())
	return file
}

// run runs a program and returns its output and exit code.
func run(t *testing.T, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// changed counts the calls that change something from now on.
func (w *world) changed() *int {
	n := new(int)
	w.vc.On(func(c lab.Call) types.BaseMethodFault {
		switch c.Method {
		case "ReconfigVM_Task", "PowerOnVM_Task", "PowerOffVM_Task", "ShutdownGuest", "UpdateOptions", "UpgradeVM_Task":
			if c.Moment == lab.Arrives {
				*n++
			}
		}
		return nil
	})
	return n
}
