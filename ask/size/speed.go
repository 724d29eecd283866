package size

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/fit"
	"example.org/homenode/size/speed"
)

// Speed asks how fast the vCPUs of an organization VDC run on its hosts.
type Speed struct {
	ask.Asked
	VCPUSpeed string `ask:"vcpu-speed" group:"Organization VDC" label:"vCPU speed" example:"1GHz" help:"vCPU speed of the organization VDC: 1GHz (the default of Cloud Director)"`
	Model     string `ask:"model" default:"flex" likely:"flex,pay-as-you-go,allocation,reservation" label:"Allocation model" help:"allocation model: flex, pay-as-you-go, allocation (elastic) or reservation"`
	Guarantee string `ask:"guarantee" label:"CPU guarantee" example:"20%" help:"CPU guarantee: 20% (default: that of the model, 20 % or 50 %)"`
	VM        string `ask:"vm" group:"VMs" label:"Shape of the VMs" example:"8x64GB" help:"shape of the VMs: 8x64GB"`
	Host      string `ask:"host" group:"Hosts" label:"Hosts" example:"2x18c/1TB@3GHz" help:"hosts, by sockets, cores of a socket and memory: 2x18c/1TB@3GHz (homenode size fit)"`
	Core      string `ask:"core" label:"Frequency of a core" example:"3GHz" help:"nominal frequency of a core, when --host does not say it: 3GHz"`
	Hosts     int    `ask:"host-count" default:"1" label:"Hosts of the cluster" help:"hosts of the cluster"`
	VMs       int    `ask:"vm-count" label:"VMs on a host" example:"4" help:"VMs that run on a host (default: as many as have a core for each vCPU)"`
	Kernel    string `ask:"kernel" default:"10%" label:"CPU that VMs cannot reserve" help:"share of a host's CPU that VMs cannot reserve"`
	Release   string `ask:"release" default:"8.0U3" label:"ESXi release" help:"ESXi release of the hosts"`
	Details   bool   `ask:"details" group:"Show" help:"all columns"`
}

// Answer answers the question.
func (f *Speed) Answer(ctx context.Context, _ *ask.Env) (*ask.Reply, error) {
	return answered(f.answer(ctx))
}

func (f *Speed) answer(ctx context.Context) (*answer.Answer, error) {
	a := &speed.Ask{Hosts: f.Hosts, VMs: f.VMs}
	guarantee, kernel, err := f.ask(a)
	if err != nil {
		return nil, err
	}
	result, err := speed.Study(ctx, a, guarantee, kernel)
	if err != nil {
		return nil, err
	}
	result.HostText = f.hostText(a)
	demands, changes, schedulers := result.Sheets(f.Details)
	out := size.Answer("size speed", demands)
	out.Result = result
	for _, more := range []*answer.Answer{size.Answer("", changes), size.Answer("", schedulers)} {
		out.Changes = append(out.Changes, more.Changes...)
		out.Notes = append(out.Notes, more.Notes...)
	}
	if f.Details {
		out.Tables = append(out.Tables, size.Rows("sca", schedulers))
	}
	return out, nil
}

// ask parses the fields. The guarantee and the kernel's share are figures with a source.
func (f *Speed) ask(a *speed.Ask) (guarantee, kernel unit.Figure[unit.Share], err error) {
	for _, need := range []struct{ flag, value, want string }{
		{"vcpu-speed", f.VCPUSpeed, "the vCPU speed, such as 1GHz"},
		{"vm", f.VM, "the shape of the VMs, such as 8x64GB"}, {"host", f.Host, "the hosts, such as 2x18c/1TB@3GHz"},
	} {
		if need.value == "" {
			return guarantee, kernel, fmt.Errorf("--%s is missing: want %s", need.flag, need.want)
		}
	}
	if guarantee, kernel, err = f.allocation(a); err != nil {
		return guarantee, kernel, err
	}
	if !f.Given("kernel") {
		kernel.Origin, kernel.Source = unit.Assumed, ""
		kernel.Note = "of a host's CPU, not for VMs: not published; --kernel"
	}
	err = cmp.Or(f.shapes(a), count(&f.Asked, "host-count", f.Hosts, speed.MostHosts), count(&f.Asked, "vm-count", f.VMs, speed.MostVMs))
	if err != nil {
		return guarantee, kernel, err
	}
	if f.VMs == 0 {
		a.VMs = min(max(1, a.Host.Cores.Value/a.VCPUs), speed.MostVMs)
	}
	return guarantee, kernel, a.Check()
}

// allocation parses the model, the speed and the shares.
func (f *Speed) allocation(a *speed.Ask) (guarantee, kernel unit.Figure[unit.Share], err error) {
	err = cmp.Or(ask.Set("model", f.Model, &a.Model, speed.ParseModel), ask.Set("vcpu-speed", f.VCPUSpeed, &a.Speed, unit.ParseHz))
	if err != nil {
		return guarantee, kernel, err
	}
	guarantee = speed.DefaultGuarantee(a.Model)
	err = cmp.Or(ask.Set("guarantee", f.Guarantee, &guarantee, figure("guarantee")), ask.Set("kernel", f.Kernel, &kernel, figure("kernel")))
	if err == nil && a.Model == speed.ReservationPool && guarantee.Value != 1 {
		err = fmt.Errorf("--guarantee: found %q: a reservation pool guarantees 100 %% of its allocation", f.Guarantee)
	}
	if err == nil && kernel.Value >= 1 {
		err = fmt.Errorf("--kernel: found %q, want less than 100 %%", f.Kernel)
	}
	a.Guarantee, a.Kernel = guarantee.Value, kernel.Value
	return guarantee, kernel, err
}

// shapes parses the VM and the host.
func (f *Speed) shapes(a *speed.Ask) error {
	var on numa.Release
	vm := func(text string) (fit.Shape, error) {
		shape, err := fit.ParseShape(text)
		if err == nil && shape.Count > 0 {
			err = errors.New("found a number of VMs: want it with --vm-count")
		}
		return shape, err
	}
	var shape fit.Shape
	var host fit.Type
	err := cmp.Or(ask.Set("vm", f.VM, &shape, vm), ask.Set("release", f.Release, &on, release))
	if err == nil {
		err = ask.Set("host", f.Host, &host, func(text string) (fit.Type, error) { return fit.ParseType(text, on) })
	}
	if err != nil {
		return err
	}
	a.VCPUs, a.Memory, a.Host = shape.VCPUs, shape.Memory, host.Host
	own := unit.Hz(a.Host.CoreMHz.Value) * unit.MHz
	a.Core = own
	err = ask.Set("core", f.Core, &a.Core, unit.ParseHz)
	switch {
	case err != nil:
		return err
	case a.Core == 0 && a.Host.Nodes.Known():
		return errors.New("--core: missing: want the nominal frequency of a core, such as 3GHz")
	case own > 0 && own != a.Core:
		return fmt.Errorf("--core: found %q, and %v in --host", f.Core, own)
	}
	return nil
}

// hostText describes the hosts of the question.
func (f *Speed) hostText(a *speed.Ask) string {
	name, _, _ := strings.Cut(a.Host.Name, "@") // without the frequency, which is shown separately
	if a.Hosts == 1 {
		return "host " + name
	}
	return fmt.Sprintf("%d hosts %s", a.Hosts, name)
}
