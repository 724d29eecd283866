package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
)

// A client is a plain client of a simulated vCenter and one of its VMs.
type client struct {
	*testing.T
	*govmomi.Client
	vm *object.VirtualMachine
}

// serve starts a vCenter with two hosts and a VM that runs, vm-1, and one that is off, vm-2.
func serve(t *testing.T) *lab.VCenter {
	t.Helper()
	on := wideVM()
	on.AutoCoresPerSocket, on.AutoCoresPerNUMANode = read(false), read(false)
	off := wideVM()
	off.ID, off.Name, off.UUID, off.Power = "vm-2", "off", "u-2", read(numa.PoweredOff)
	off.AutoCoresPerSocket = read(false)
	f := sampleFleet()
	f.VMs = []numa.VM{on, off}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	return vc
}

// login logs in as the administrator.
func login(t *testing.T, vc *lab.VCenter, vm string) client {
	t.Helper()
	c, err := govmomi.NewClient(t.Context(), vc.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	return client{t, c, object.NewVirtualMachine(c.Client, types.ManagedObjectReference{Type: "VirtualMachine", Value: vm})}
}

// reconfigure waits for a reconfiguration and returns its fault.
func (c client) reconfigure(spec types.VirtualMachineConfigSpec) error {
	c.Helper()
	return c.wait(c.vm.Reconfigure(c.Context(), spec))
}

func (c client) wait(task *object.Task, err error) error {
	c.Helper()
	if err != nil {
		return err
	}
	return task.Wait(c.Context())
}

// must fails the test of an error.
func (c client) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// properties reads all properties of the VM.
func (c client) properties() (vm mo.VirtualMachine) {
	c.Helper()
	c.must(c.vm.Properties(c.Context(), c.vm.Reference(), nil, &vm))
	return vm
}

// setting returns a value of extraConfig.
func (c client) setting(key string) string {
	c.Helper()
	for _, o := range c.properties().Config.ExtraConfig {
		if v := o.GetOptionValue(); v.Key == key {
			return fmt.Sprint(v.Value)
		}
	}
	return ""
}

// isFault checks the kind of a fault.
func isFault[T types.BaseMethodFault](t *testing.T, what string, err error) (f T) {
	t.Helper()
	if _, ok := fault.As(err, &f); !ok {
		t.Errorf("%s: got %v (%T), want a %T", what, err, err, f)
	}
	return f
}

func key(name, value string) []types.BaseOptionValue {
	return []types.BaseOptionValue{&types.OptionValue{Key: name, Value: value}}
}

// TestChangeVersion: one that is not the VM's is refused, and every change makes a new one.
func TestChangeVersion(t *testing.T) {
	c := login(t, serve(t), "vm-2")
	first := c.properties().Config.ChangeVersion
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "of another", ChangeVersion: first}))
	second := c.properties().Config.ChangeVersion
	if second <= first {
		t.Errorf("a note changed the version from %q to %q, want a later one", first, second)
	}
	for _, version := range []string{first, "nonsense"} {
		isFault[*types.ConcurrentAccess](t, version, c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "mine", ChangeVersion: version}))
	}
	got := c.properties().Config
	if got.Annotation != "of another" || got.ChangeVersion != second {
		t.Errorf("refused changes left the note %q and the version %q, want %q and %q", got.Annotation, got.ChangeVersion, "of another", second)
	}
}

// TestReconfigureRunning: what needs power-off is refused while a VM runs, all of the specification with it, and taken when it is off.
func TestReconfigureRunning(t *testing.T) {
	vc := serve(t)
	on, off := login(t, vc, "vm-1"), login(t, vc, "vm-2")
	state := func(err error) { t.Helper(); isFault[*types.InvalidPowerState](t, "", err) }
	for name, tc := range map[string]struct {
		spec types.VirtualMachineConfigSpec
		want func(error)
	}{
		"cores per socket":           {types.VirtualMachineConfigSpec{NumCoresPerSocket: types.NewInt32(20)}, state},
		"automatic cores per socket": {types.VirtualMachineConfigSpec{NumCoresPerSocket: types.NewInt32(0)}, state},
		"CPU hot add":                {types.VirtualMachineConfigSpec{CpuHotAddEnabled: types.NewBool(false)}, state},
		"memory hot add":             {types.VirtualMachineConfigSpec{MemoryHotAddEnabled: types.NewBool(true)}, state},
		"virtual nodes":              {types.VirtualMachineConfigSpec{VirtualNuma: &types.VirtualMachineVirtualNuma{CoresPerNumaNode: types.NewInt32(20)}}, state},
		"expose vNUMA":               {types.VirtualMachineConfigSpec{VirtualNuma: &types.VirtualMachineVirtualNuma{ExposeVnumaOnCpuHotadd: types.NewBool(false)}}, state},
		"fewer vCPUs":                {types.VirtualMachineConfigSpec{NumCPUs: 20}, func(err error) { t.Helper(); isFault[*types.CpuHotPlugNotSupported](t, "", err) }},
		"memory":                     {types.VirtualMachineConfigSpec{MemoryMB: 1 << 20}, func(err error) { t.Helper(); isFault[*types.MemoryHotPlugNotSupported](t, "", err) }},
	} {
		t.Run(name, func(t *testing.T) {
			spec := tc.spec
			spec.Annotation = name
			tc.want(on.reconfigure(spec))
			if got := on.properties().Config.Annotation; got != "" {
				t.Errorf("the refused specification left the note %q", got)
			}
			off.must(off.reconfigure(spec))
		})
	}
	on.must(on.reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 60})) // it has CPU hot add
	on.must(on.reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 60, NumCoresPerSocket: types.NewInt32(10), CpuHotAddEnabled: types.NewBool(true)}))
	if got := on.properties().Config.Hardware.NumCPU; got != 60 {
		t.Errorf("hot add gave %d vCPUs, want 60", got)
	}
	now := off.properties().Config
	if hw := now.Hardware; hw.NumCPU != 20 || hw.MemoryMB != 1<<20 || *now.CpuHotAddEnabled || !*now.MemoryHotAddEnabled {
		t.Errorf("while off: %d vCPUs, %d MB, hot add %v and %v; want 20, %d, false, true", hw.NumCPU, hw.MemoryMB, *now.CpuHotAddEnabled, *now.MemoryHotAddEnabled, 1<<20)
	}
}

// TestCoresPerSocket: they divide the vCPUs, and 0 makes them automatic.
func TestCoresPerSocket(t *testing.T) {
	c := login(t, serve(t), "vm-2")
	for name, spec := range map[string]types.VirtualMachineConfigSpec{
		"3 of 40":  {NumCoresPerSocket: types.NewInt32(3)},
		"10 of 24": {NumCPUs: 24},
		"5 of 8":   {NumCPUs: 8, NumCoresPerSocket: types.NewInt32(5)},
		"-1":       {NumCoresPerSocket: types.NewInt32(-1)},
	} {
		f := isFault[*types.InvalidArgument](t, name, c.reconfigure(spec))
		if f != nil && f.InvalidProperty != "configSpec.numCoresPerSocket" {
			t.Errorf("%s: the fault names %q", name, f.InvalidProperty)
		}
	}
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{NumCoresPerSocket: types.NewInt32(0)}))
	if hw := c.properties().Config.Hardware; !*hw.AutoCoresPerSocket {
		t.Error("0 cores per socket are not automatic")
	}
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 7}))
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 8, NumCoresPerSocket: types.NewInt32(4)}))
	if hw := c.properties().Config.Hardware; *hw.AutoCoresPerSocket || *hw.NumCoresPerSocket != 4 {
		t.Errorf("4 cores per socket: automatic %v, %d cores", *hw.AutoCoresPerSocket, *hw.NumCoresPerSocket)
	}
}

// TestVirtualNUMA: virtual nodes are kept and shown, 0 is automatic.
func TestVirtualNUMA(t *testing.T) {
	c := login(t, serve(t), "vm-2")
	set := func(n types.VirtualMachineVirtualNuma) types.VirtualMachineVirtualNumaInfo {
		t.Helper()
		c.must(c.reconfigure(types.VirtualMachineConfigSpec{VirtualNuma: &n}))
		return *c.properties().Config.NumaInfo
	}
	if got := set(types.VirtualMachineVirtualNuma{CoresPerNumaNode: types.NewInt32(20), ExposeVnumaOnCpuHotadd: types.NewBool(false)}); *got.CoresPerNumaNode != 20 || *got.AutoCoresPerNumaNode || *got.VnumaOnCpuHotaddExposed {
		t.Errorf("20 cores per node, not exposed: got %d, automatic %v, exposed %v", *got.CoresPerNumaNode, *got.AutoCoresPerNumaNode, *got.VnumaOnCpuHotaddExposed)
	}
	if got := set(types.VirtualMachineVirtualNuma{CoresPerNumaNode: types.NewInt32(0)}); !*got.AutoCoresPerNumaNode || *got.VnumaOnCpuHotaddExposed {
		t.Errorf("0 cores per node: automatic %v, exposed %v; want true, false", *got.AutoCoresPerNumaNode, *got.VnumaOnCpuHotaddExposed)
	}
	// The update comes to those who wait for it, too.
	seen := make(chan error, 1)
	go func() {
		seen <- property.Wait(t.Context(), property.DefaultCollector(c.Client.Client), c.vm.Reference(), []string{"config.numaInfo"}, func(changes []types.PropertyChange) bool {
			for _, one := range changes {
				info, ok := one.Val.(types.VirtualMachineVirtualNumaInfo)
				if ok && *info.CoresPerNumaNode == 8 {
					return true
				}
			}
			return false
		})
	}()
	set(types.VirtualMachineVirtualNuma{CoresPerNumaNode: types.NewInt32(8)})
	c.must(<-seen)
}

// TestExtraConfig: keys are compared without case, an empty value removes one, those that have a field are ignored.
func TestExtraConfig(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: append(key("NUMA.vcpu.preferht", "FALSE"), key("cpuid.coresPerSocket", "2")...)}))
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: append(key("Vcpu.HotAdd", "FALSE"), key("numa.never", "")...)}))
	for name, want := range map[string]string{"numa.vcpu.preferHT": "FALSE", "NUMA.vcpu.preferht": "", "cpuid.coresPerSocket": "", "Vcpu.HotAdd": ""} {
		if got := c.setting(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if now := c.properties().Config; *now.Hardware.NumCoresPerSocket != 10 || !*now.CpuHotAddEnabled {
		t.Errorf("keys changed fields: %d cores per socket, CPU hot add %v", *now.Hardware.NumCoresPerSocket, *now.CpuHotAddEnabled)
	}
	if v, _ := vc.InEffect("vm-1"); lookup(v, "numa.vcpu.preferHT") != "TRUE" {
		t.Errorf("a running VM has preferHT = %q in effect, want TRUE as before", lookup(v, "numa.vcpu.preferHT"))
	}
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: key("numa.VCPU.preferHT", "")}))
	for _, o := range c.properties().Config.ExtraConfig {
		if k := strings.ToLower(o.GetOptionValue().Key); k == "numa.vcpu.preferht" || k == "numa.never" {
			t.Errorf("%s is still there", k)
		}
	}
}

func lookup(v numa.VM, name string) string {
	s, _ := v.Settings.Value.Lookup(name)
	return s
}
