package size

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	show "homenode/output/size/speed"
	"homenode/size/fit"
	"homenode/size/speed"
)

// speedFlags describe VMs with a vCPU speed and their hosts.
type speedFlags struct {
	common
	speed, model, guarantee, vm, core, host, kernel, release string
	hosts, vms                                               int
	details                                                  bool
}

func newSpeed() *cobra.Command {
	var f speedFlags
	cmd := f.command("speed", cobra.MaximumNArgs(1), f.answer)
	fl := cmd.Flags()
	fl.StringVar(&f.speed, "vcpu-speed", "", "vCPU speed of the organization VDC: 1GHz (the default of Cloud Director)")
	fl.StringVar(&f.model, "model", string(speed.Flex), "allocation model: flex, pay-as-you-go, allocation (elastic) or reservation")
	fl.StringVar(&f.guarantee, "guarantee", "", "CPU guarantee: 20% (default: that of the model, 20 % or 50 %)")
	fl.StringVar(&f.vm, "vm", "", "shape of the VMs: 8x64GB")
	fl.StringVar(&f.host, "host", "", "hosts, by sockets, cores of a socket and memory: 2x18c/1TB@3GHz (homenode size fit)")
	fl.StringVar(&f.core, "core", "", "nominal frequency of a core, when --host does not say it: 3GHz")
	fl.IntVar(&f.hosts, "host-count", 1, "hosts of the cluster")
	fl.IntVar(&f.vms, "vm-count", 0, "VMs that run on a host (default: as many as have a core for each vCPU)")
	fl.StringVar(&f.kernel, "kernel", "10%", "share of a host's CPU that VMs cannot reserve")
	fl.StringVar(&f.release, "release", "8.0U3", "ESXi release of the hosts")
	fl.BoolVar(&f.details, "details", false, "all columns; with a SOURCE all VMs")
	f.src.RegisterOnly(cmd, flags.SourceShapes...)
	return cmd
}

// asking are the flags of a question without a SOURCE.
var asking = []string{"vcpu-speed", "model", "guarantee", "vm", "host", "core", "host-count", "vm-count", "kernel", "release"}

func (f *speedFlags) answer(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	if len(args) == 1 {
		if err := flags.Refuse(cmd, "not with a SOURCE, of which the limits are read: found "+texttab.Clean(args[0]), asking...); err != nil {
			return nil, err
		}
		fleet, err := f.src.Read(cmd, args[0])
		if err != nil {
			return nil, err
		}
		return show.Limits(fleet.Source, speed.LimitsOf(fleet), f.details), nil
	}
	a := &speed.Ask{Hosts: f.hosts, VMs: f.vms}
	guarantee, kernel, err := f.ask(cmd, a)
	if err != nil {
		return nil, err
	}
	result, err := speed.Study(cmd.Context(), a, guarantee, kernel)
	if err != nil {
		return nil, err
	}
	result.HostText = f.hostText(a)
	return show.Answer(result, f.details), nil
}

// ask reads the flags. The guarantee and the kernel's share are figures with a source.
func (f *speedFlags) ask(cmd *cobra.Command, a *speed.Ask) (guarantee, kernel unit.Figure[unit.Share], err error) {
	for _, need := range []struct{ flag, value, want string }{
		{"vcpu-speed", f.speed, "the vCPU speed, such as 1GHz; or a SOURCE, to list its CPU limits"},
		{"vm", f.vm, "the shape of the VMs, such as 8x64GB"}, {"host", f.host, "the hosts, such as 2x18c/1TB@3GHz"},
	} {
		if need.value == "" {
			return guarantee, kernel, fmt.Errorf("--%s is missing: want %s", need.flag, need.want)
		}
	}
	if guarantee, kernel, err = f.allocation(a); err != nil {
		return guarantee, kernel, err
	}
	if !cmd.Flags().Changed("kernel") {
		kernel.Origin, kernel.Source = unit.Assumed, ""
		kernel.Note = "of a host's CPU, not for VMs: not published; --kernel"
	}
	err = cmp.Or(f.shapes(a), count(cmd, "host-count", f.hosts, speed.MostHosts), count(cmd, "vm-count", f.vms, speed.MostVMs))
	if err != nil {
		return guarantee, kernel, err
	}
	if f.vms == 0 {
		a.VMs = min(max(1, a.Host.Cores.Value/a.VCPUs), speed.MostVMs)
	}
	return guarantee, kernel, a.Check()
}

// allocation reads the model, the speed and the shares.
func (f *speedFlags) allocation(a *speed.Ask) (guarantee, kernel unit.Figure[unit.Share], err error) {
	err = cmp.Or(flags.Set("model", f.model, &a.Model, speed.ParseModel), flags.Set("vcpu-speed", f.speed, &a.Speed, unit.ParseHz))
	if err != nil {
		return guarantee, kernel, err
	}
	guarantee = speed.DefaultGuarantee(a.Model)
	err = cmp.Or(flags.Set("guarantee", f.guarantee, &guarantee, figure("guarantee")), flags.Set("kernel", f.kernel, &kernel, figure("kernel")))
	if err == nil && a.Model == speed.ReservationPool && guarantee.Value != 1 {
		err = fmt.Errorf("--guarantee: found %q: a reservation pool guarantees 100 %% of its allocation", f.guarantee)
	}
	if err == nil && kernel.Value >= 1 {
		err = fmt.Errorf("--kernel: found %q, want less than 100 %%", f.kernel)
	}
	a.Guarantee, a.Kernel = guarantee.Value, kernel.Value
	return guarantee, kernel, err
}

// shapes reads the VM and the host.
func (f *speedFlags) shapes(a *speed.Ask) error {
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
	err := cmp.Or(flags.Set("vm", f.vm, &shape, vm), flags.Set("release", f.release, &on, release))
	if err == nil {
		err = flags.Set("host", f.host, &host, func(text string) (fit.Type, error) { return fit.ParseType(text, on) })
	}
	if err != nil {
		return err
	}
	a.VCPUs, a.Memory, a.Host = shape.VCPUs, shape.Memory, host.Host
	own := unit.Hz(a.Host.CoreMHz.Value) * unit.MHz
	a.Core = own
	err = flags.Set("core", f.core, &a.Core, unit.ParseHz)
	switch {
	case err != nil:
		return err
	case a.Core == 0 && a.Host.Nodes.Known():
		return errors.New("--core: missing: want the nominal frequency of a core, such as 3GHz")
	case own > 0 && own != a.Core:
		return fmt.Errorf("--core: found %q, and %v in --host", f.core, own)
	}
	return nil
}

// hostText returns the hosts as the question has them.
func (f *speedFlags) hostText(a *speed.Ask) string {
	name, _, _ := strings.Cut(a.Host.Name, "@") // the frequency stands beside it
	if a.Hosts == 1 {
		return "host " + name
	}
	return fmt.Sprintf("%d hosts %s", a.Hosts, name)
}
