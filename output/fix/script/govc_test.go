package script_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/output/fix/script"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/vsphere/lab"
)

// built is where govc is, once it is built.
var built string

// govcDir builds the commands of govc that scripts call, once, from the govmomi that the project pins.
var govcDir = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "govc")
	if err != nil {
		return "", err
	}
	built = dir
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "govc"), ".")
	build.Dir = "../../../cmd/bench/collect/govc"
	build.Env = append(os.Environ(), "GOWORK=off")
	out, err := build.CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// govcEnv returns the variables with which scripts find govc and the vCenter, and skips the test where govc's libraries are neither
// in the cache nor to be had.
func govcEnv(t *testing.T, w *world) []string {
	t.Helper()
	testdeps.Program(t, "jq")
	load := exec.Command("go", "mod", "download")
	load.Dir = "../../../cmd/bench/collect/govc"
	if out, err := load.CombinedOutput(); err != nil {
		t.Skipf("the libraries of govc are not there: %s", out)
	}
	dir, err := govcDir()
	if err != nil {
		t.Fatalf("build govc: %v\n%s", err, dir)
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "GOVC_URL=" + w.vc.URL.String(), "GOVC_INSECURE=1", "GOVMOMI_HOME=" + t.TempDir()}
}

func hotAdd(to string) numa.Edit { return numa.Edit{Kind: numa.EditCPUHotAdd, To: numa.Is(to)} }
func key(key, to string) numa.Edit {
	return numa.Edit{Kind: numa.EditExtraConfig, Key: key, To: numa.Value{Text: to, Set: to != ""}}
}

// TestGovc runs scripts for govc against the simulated vCenter: there twice and back twice. Every setting is as before.
func TestGovc(t *testing.T) {
	w := newWorld(t)
	env := govcEnv(t, w)
	w.change(w.pick(t, 0, func(vm *numa.VM) bool { return running(vm) && vm.CPUHotAdd.Value }), hotAdd("false"), key("numa.vcpu.preferHT", "TRUE"), key("homenode.test", `$(touch x) 'q' "d" `+"`id`\nü"))
	w.change(w.pick(t, 1, running), key("numa.vcpu.min", "12"))
	w.change(w.pick(t, 0, off), numa.Edit{Kind: numa.EditMemoryHotAdd, To: numa.Is("true")}, numa.Edit{Kind: numa.EditMemory, To: numa.Is("8192")}, key("sched.cpu.latencySensitivity", "high"))
	w.vc.SetGuest(w.plan.Changes[0].VM.ID, lab.Guest{Shutdown: 500 * time.Millisecond}) // the script waits for it
	w.twice(t, func(file string) (string, int) { return run(t, env, "sh", file) }, "govc")
}

// TestGovcReserved runs the script of a plan that reserves, lowers memory below what is reserved and raises latency sensitivity, of VMs
// that have every setting that a prediction rests on: there and back, twice each, and every setting is as before.
func TestGovcReserved(t *testing.T) {
	f := given.Fleet(t, "reserved", []byte(`release 8.0U3
cluster c
host h[1-2] nodes=2 cores=24 memory=1TB mhz=2600
vm basis host=h1 vcpus=32 memory=256GB hw=21 hotAdd=on memoryHotAdd=on vnumaHotAdd=on latency=medium iommu=on cpuAffinity=0-31 memoryAffinity=0 cpuReservation=40000 memoryReservation=256GB reserveAll=on
vm high host=h1 vcpus=16 memory=64GB memoryReservation=32GB
vm less host=h2 vcpus=32 memory=256GB memoryReservation=200GB power=off
vm all host=h2 vcpus=32 memory=256GB memoryReservation=256GB reserveAll=on power=off
`))
	w := worldOf(t, f)
	env := govcEnv(t, w)
	w.plan = w.wish(t, "vm=basis numa.vcpu.min=7", "vm=high latency=high reserveAll=on cpuReservation=41600", "vm=less,all memory=128GB")
	if n := len(w.plan.Changes); n != 4 {
		t.Fatalf("%d changes, left %v", n, w.plan.Left)
	}
	w.twice(t, func(file string) (string, int) { return run(t, env, "sh", file) }, "govc")
}

// twice runs the script of the plan twice and its undo twice.
func (w *world) twice(t *testing.T, sh func(file string) (string, int), tool string) {
	t.Helper()
	before := w.settings()
	for _, o := range []script.Options{{Power: true}, {Power: true, Undo: true}} {
		file := w.write(t, tool, o)
		if out, code := sh(file); code != 0 {
			t.Fatalf("undo %t ends with %d:\n%s", o.Undo, code, out)
		}
		if !o.Undo {
			w.arrived(t, w.plan.Changes...)
		}
		after := w.settings()
		n := w.changed()
		if out, code := sh(file); code != 0 || *n > 0 {
			t.Errorf("undo %t, the second time: exit code %d, %d changes:\n%s", o.Undo, code, *n, out)
		}
		same(t, "the second time", w.settings(), after)
	}
	same(t, "afterwards", w.settings(), before)
}

// TestGovcDrift lets somebody change one VM of two: the script changes neither.
func TestGovcDrift(t *testing.T) {
	w := newWorld(t)
	env := govcEnv(t, w)
	w.change(w.pick(t, 0, running), key("numa.vcpu.min", "12"))
	w.change(w.pick(t, 1, running), key("numa.vcpu.maxPerMachineNode", "12"))
	for name, drift := range map[string]func(c *fix.Change){
		"a key":        func(c *fix.Change) { c.Edits[0].From = numa.Is("7") },
		"the basis":    func(c *fix.Change) { c.Basis[0].Value = "127" },
		"another VM":   func(c *fix.Change) { c.VM.UUID = "50000000-0000-0000-0000-000000000000" },
		"not there":    func(c *fix.Change) { c.VM.ID = "vm-999999" },
		"a quoted one": func(c *fix.Change) { c.Edits[0].From = numa.Is(`"; exit 0; "`) },
	} {
		saved := w.plan.Changes[1]
		c := saved
		target := *saved.VM
		c.VM, c.Edits, c.Basis = &target, append([]numa.Edit{}, saved.Edits...), append([]fix.Known{}, saved.Basis...)
		drift(&c)
		w.plan.Changes[1] = c
		n := w.changed()
		out, code := run(t, env, "sh", w.write(t, "govc", script.Options{}))
		if code != 1 || *n > 0 || !strings.Contains(strings.ToLower(out), "nothing was changed") {
			t.Errorf("%s: exit code %d, %d changes:\n%s", name, code, *n, out)
		}
		w.plan.Changes[1] = saved
	}
}

// TestGovcLeft runs the script of a plan with an edit that govc has no flag for, and one of a VM that runs: both are named and left,
// the rest is done.
func TestGovcLeft(t *testing.T) {
	w := newWorld(t)
	env := govcEnv(t, w)
	cores := w.pick(t, 0, off)
	w.change(cores, numa.Edit{Kind: numa.EditCoresPerSocket, To: numa.Is("1")}, key("numa.vcpu.min", "9"))
	runs := w.pick(t, 0, func(vm *numa.VM) bool { return running(vm) && vm.CPUHotAdd.Value })
	w.change(runs, hotAdd("false"))
	w.change(w.pick(t, 3, running), key("numa.vcpu.min", "12"))
	n := w.changed()
	out, code := run(t, env, "sh", w.write(t, "govc", script.Options{}))
	if code != 2 || *n != 1 {
		t.Errorf("exit code %d, %d changes", code, *n)
	}
	for _, want := range []string{cores.ID + " (", "govc vm.change has no flag for it; ansible, powercli, terraform and homenode fix --apply can", runs.ID + ": it runs and has to be off"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not say %q:\n%s", want, out)
		}
	}
	w.arrived(t, w.plan.Changes[2])
}

// TestGovcUUID runs the script of a plan that knows VMs by a UUID, of the instance or of the BIOS: the only VM that has it is changed, and none if two have it.
func TestGovcUUID(t *testing.T) {
	w := newWorld(t)
	env := govcEnv(t, w)
	of := func(id string) *types.VirtualMachineConfigInfo {
		return w.vc.Model.Map().Get(types.ManagedObjectReference{Type: "VirtualMachine", Value: id}).(*simulator.VirtualMachine).Config
	}
	for i := range 2 {
		vm := w.pick(t, i, running)
		w.change(vm, key("numa.vcpu.min", "12"))
		of(vm.ID).InstanceUuid, of(vm.ID).Uuid = fmt.Sprintf("500b85c1-ef0d-4a11-8c4e-%012d", i), fmt.Sprintf("420b85c1-ef0d-4a11-8c4e-%012d", i)
	}
	wanted := slices.Clone(w.plan.Changes)
	third := w.pick(t, 2, running)
	of(third.ID).Uuid = of(wanted[0].VM.ID).InstanceUuid
	for i, uuid := range []string{of(wanted[0].VM.ID).InstanceUuid, of(wanted[1].VM.ID).Uuid} {
		w.plan.Changes[i].VM = &fix.Target{Name: "db", ID: strings.ToUpper(uuid), UUID: strings.ToUpper(uuid), Named: true}
	}
	n := w.changed()
	out, code := run(t, env, "sh", w.write(t, "govc", script.Options{}))
	if code != 1 || *n > 0 || !strings.Contains(out, "not one VM has the UUID "+of(third.ID).Uuid) {
		t.Errorf("two have it: exit code %d, %d changes:\n%s", code, *n, out)
	}
	of(third.ID).Uuid = ""
	if out, code := run(t, env, "sh", w.write(t, "govc", script.Options{})); code != 0 || *n != 2 {
		t.Errorf("exit code %d, %d changes:\n%s", code, *n, out)
	}
	w.arrived(t, wanted...)
}

// TestGovcFails lets vCenter refuse the change of a VM that was shut down: it runs again, and the script says so.
func TestGovcFails(t *testing.T) {
	w := newWorld(t)
	env := govcEnv(t, w)
	vm := w.pick(t, 0, func(vm *numa.VM) bool { return running(vm) && vm.CPUHotAdd.Value })
	w.change(vm, hotAdd("false"))
	w.change(w.pick(t, 1, running), key("numa.vcpu.min", "12"))
	before := w.settings()
	file := w.write(t, "govc", script.Options{Power: true})
	w.vc.On(func(c lab.Call) types.BaseMethodFault {
		if c.Method == "ReconfigVM_Task" && c.Moment == lab.Runs {
			return &types.InvalidState{}
		}
		return nil
	})
	if out, code := run(t, env, "sh", file); code != 1 || !strings.Contains(out, vm.ID+": it was not changed") {
		t.Errorf("refused: exit code %d:\n%s", code, out)
	}
	same(t, "after a refused change", w.settings(), before)
	w.vc.On(nil)
	w.vc.SetTools(vm.ID, false)
	if out, code := run(t, env, "sh", file); code != 1 || !strings.Contains(out, "its guest does not shut down; it was not changed") {
		t.Errorf("without Tools: exit code %d:\n%s", code, out)
	}
	same(t, "without Tools", w.settings(), before)
}

// TestGovcHost sets options of a host there and back, and upgrades a VM, which has no way back.
func TestGovcHost(t *testing.T) {
	w := newWorld(t)
	env := govcEnv(t, w)
	host, option := &w.fleet.Hosts[0], numa.Setting{Key: "Numa.PreferHT", Value: "0"}
	old := w.pick(t, 0, func(vm *numa.VM) bool { return running(vm) && vm.Hardware.Value < 19 })
	w.plan.Changes = append(w.plan.Changes, fix.Change{Host: &fix.Target{Name: host.Name, ID: host.ID}, Edits: []numa.Edit{{Kind: numa.EditHostOption, Key: option.Key, From: numa.Is(option.Value), To: numa.Is("1" + option.Value)}}})
	w.change(old, numa.Edit{Kind: numa.EditHardware, To: numa.Is("19")}, key("numa.vcpu.maxPerClient", "12"))
	value := func() string {
		out, _ := run(t, env, "sh", "-c", `exec govc "$@"`, "govc", "host.option.ls", "-host", "HostSystem:"+host.ID, option.Key)
		return strings.TrimSpace(strings.TrimPrefix(out, option.Key+":"))
	}
	file := w.write(t, "govc", script.Options{Power: true})
	for range 2 {
		if out, code := run(t, env, "sh", file); code != 0 || value() != "1"+option.Value {
			t.Fatalf("exit code %d, %s is %q:\n%s", code, option.Key, value(), out)
		}
	}
	undo := w.write(t, "govc", script.Options{Power: true, Undo: true})
	if text, _ := os.ReadFile(undo); !strings.Contains(string(text), "the virtual hardware version cannot be lowered") {
		t.Error("the undo does not say that the virtual hardware stays")
	}
	if out, code := run(t, env, "sh", undo); code != 0 || value() != option.Value || w.now(t, old.ID, key("numa.vcpu.maxPerClient", "")).Set {
		t.Errorf("undo: exit code %d, %s is %q:\n%s", code, option.Key, value(), out)
	}
}

// TestGovcDemo runs every third change of the plan of the demo: what govc can write of it, there and back.
func TestGovcDemo(t *testing.T) {
	w := newWorld(t)
	env := govcEnv(t, w)
	var err error
	if w.plan, err = fix.Make(t.Context(), w.fleet, fix.Options{}); err != nil {
		t.Fatal(err)
	}
	var some []fix.Change
	for i := 0; i < len(w.plan.Changes); i += 3 {
		some = append(some, w.plan.Changes[i])
	}
	w.plan.Changes = some
	before := w.settings()
	for _, o := range []script.Options{{Power: true}, {Power: true, Undo: true}} {
		file := w.write(t, "govc", o)
		first := w.changed()
		if out, code := run(t, env, "sh", file); code != 2 || *first == 0 {
			t.Fatalf("undo %t: exit code %d, %d changes:\n%s", o.Undo, code, *first, out)
		}
		again := w.changed()
		if out, code := run(t, env, "sh", file); code != 2 || *again > 0 {
			t.Errorf("undo %t, the second time: exit code %d, %d changes:\n%s", o.Undo, code, *again, out)
		}
		t.Logf("undo %t: %d calls that change something", o.Undo, *first)
	}
	same(t, "afterwards", w.settings(), before)
}
