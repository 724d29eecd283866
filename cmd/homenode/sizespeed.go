package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/numa/unit"
	show "homenode/output/size/speed"
	"homenode/size/fit"
	"homenode/size/speed"
)

// speedFlags describe VMs with a vCPU speed and their hosts.
type speedFlags struct {
	size      sizeFlags
	speed     string
	model     string
	guarantee string
	vm        string
	core      string
	host      string
	hosts     int
	vms       int
	kernel    string
	release   string
	details   bool
}

func newSizeSpeed() *cobra.Command {
	var (
		f   speedFlags
		src sourceFlags
	)
	cmd := &cobra.Command{
		Use:   "speed [SOURCE]",
		Short: "What a vCPU speed of VMware Cloud Director makes of VMs: limit, reservation, ready time, VMs admitted; SCAv1, SCAv2",
		Long: `speed takes the vCPU speed and the CPU guarantee of an organization VDC and says what they become by allocation model:
CPU limit and reservation of each VM, how much of a core each vCPU gets, how long it is held back, how many VMs the
reservations of a host admit. The VMs then run in the twin of the scheduler, with and without the limit, and under the
side-channel aware schedulers.

With a SOURCE it lists the VMs that have a CPU limit, whose limit acts, and which look left over.
` + sourceHelp,
		Example: `  homenode size speed --vcpu-speed 1GHz --model pay-as-you-go --vm 8x64GB --host 2x18c/1TB@3GHz --vms 20
  homenode size speed --vcpu-speed 2GHz --model flex --guarantee 50 --vm 4x16GB --host 2x32c/1TB --core 2.6GHz --count 8
  homenode size speed demo`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.size.check(); err != nil {
				return err
			}
			if len(args) == 1 {
				return f.limits(cmd, args[0], &src)
			}
			ask, figures, err := f.ask(cmd)
			if err != nil {
				return err
			}
			result, err := speedResult(cmd.Context(), ask, figures)
			if err != nil {
				return err
			}
			result.HostText = f.hostText(ask)
			return f.size.write(cmd, show.Answer(result, f.details))
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.speed, "vcpu-speed", "", "vCPU speed of the organization VDC: 1GHz (the default of Cloud Director)")
	fl.StringVar(&f.model, "model", string(speed.Flex), "allocation model: flex, pay-as-you-go, allocation (elastic) or reservation")
	fl.StringVar(&f.guarantee, "guarantee", "", "CPU guarantee: 20% (default: that of the model, 20 % or 50 %)")
	fl.StringVar(&f.vm, "vm", "", "shape of the VMs: 8x64GB")
	fl.StringVar(&f.host, "host", "", "hosts, by sockets, cores of a socket and memory: 2x18c/1TB@3GHz (homenode size fit)")
	fl.StringVar(&f.core, "core", "", "nominal frequency of a core, when --host does not say it: 3GHz")
	fl.IntVar(&f.hosts, "count", 1, "hosts of the cluster")
	fl.IntVar(&f.vms, "vms", 0, "VMs that run on a host (default: as many as have a core for each vCPU)")
	fl.StringVar(&f.kernel, "kernel", "10%", "share of a host's CPU that VMs cannot reserve")
	fl.StringVar(&f.release, "release", "8.0U3", "ESXi release of the hosts")
	fl.BoolVar(&f.details, "details", false, "all columns; with a SOURCE all VMs")
	f.size.register(cmd)
	src.register(cmd)
	return cmd
}

// speedFigures are those of the ask that have a source.
type speedFigures struct {
	guarantee, kernel unit.Figure[unit.Share]
}

// ask reads the flags.
func (f *speedFlags) ask(cmd *cobra.Command) (*speed.Ask, speedFigures, error) {
	for _, need := range []struct{ flag, value, want string }{
		{"vcpu-speed", f.speed, "the vCPU speed, such as 1GHz; or a SOURCE, to list its CPU limits"},
		{"vm", f.vm, "the shape of the VMs, such as 8x64GB"}, {"host", f.host, "the hosts, such as 2x18c/1TB@3GHz"},
	} {
		if need.value == "" {
			return nil, speedFigures{}, fmt.Errorf("--%s is missing: want %s", need.flag, need.want)
		}
	}
	a := &speed.Ask{Hosts: f.hosts, VMs: f.vms}
	figures, err := f.allocation(a, cmd.Flags().Changed("kernel"))
	if err = cmp.Or(err, f.shapes(a)); err != nil {
		return nil, figures, err
	}
	switch {
	case f.hosts < 1 || f.hosts > speed.MostHosts:
		return nil, figures, fmt.Errorf("--count: found %d, want 1 to %d", f.hosts, speed.MostHosts)
	case f.vms < 0 || f.vms == 0 && cmd.Flags().Changed("vms"):
		return nil, figures, fmt.Errorf("--vms: found %d, want 1 or more", f.vms)
	case f.vms == 0:
		a.VMs = min(max(1, a.Host.Cores.Value/a.VCPUs), speed.MostVMs)
	}
	return a, figures, a.Check()
}

// ofFlag names the flag that an error is about.
func ofFlag(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--%s: %w", name, err)
}

// allocation takes the model, the speed and the shares; kernel says that its share is given.
func (f *speedFlags) allocation(a *speed.Ask, kernel bool) (figures speedFigures, err error) {
	if a.Model, err = speed.ParseModel(f.model); err != nil {
		return figures, ofFlag("model", err)
	}
	if a.Speed, err = unit.ParseHz(f.speed); err != nil {
		return figures, ofFlag("vcpu-speed", err)
	}
	figures.guarantee = speed.DefaultGuarantee(a.Model)
	if f.guarantee != "" {
		g, err := unit.ParsePercent(f.guarantee)
		if err == nil && a.Model == speed.ReservationPool && g != 1 {
			err = fmt.Errorf("found %q: a reservation pool guarantees 100 %% of its allocation", f.guarantee)
		}
		if err != nil {
			return figures, ofFlag("guarantee", err)
		}
		figures.guarantee = unit.Exactly(g, unit.Given, "--guarantee", "")
	}
	a.Guarantee = figures.guarantee.Value
	a.Kernel, err = unit.ParsePercent(f.kernel)
	if err == nil && a.Kernel >= 1 {
		err = fmt.Errorf("found %q, want less than 100 %%", f.kernel)
	}
	figures.kernel = unit.Exactly(a.Kernel, unit.Given, "--kernel", "")
	if !kernel {
		figures.kernel.Origin, figures.kernel.Source = unit.Assumed, ""
		figures.kernel.Note = "of a host's CPU, not for VMs: nobody publishes it; --kernel"
	}
	return figures, ofFlag("kernel", err)
}

// shapes takes the VM and the host.
func (f *speedFlags) shapes(a *speed.Ask) error {
	shape, err := fit.ParseShape(f.vm)
	if err == nil && shape.Count > 0 {
		err = errors.New("found a number of VMs: want it with --vms")
	}
	if err != nil {
		return ofFlag("vm", err)
	}
	a.VCPUs, a.Memory = shape.VCPUs, shape.Memory
	release, err := numa.ParseRelease(f.release)
	if err != nil {
		return ofFlag("release", err)
	}
	kind, err := fit.ParseType(f.host, release)
	if err != nil {
		return ofFlag("host", err)
	}
	a.Host = kind.Host
	return ofFlag("core", f.frequency(a))
}

// frequency takes that of a core from --core or --host.
func (f *speedFlags) frequency(a *speed.Ask) (err error) {
	a.Core = unit.Hz(a.Host.CoreMHz.Value) * unit.MHz
	if f.core == "" {
		if a.Core == 0 && a.Host.Nodes.Known() {
			return errors.New("missing: want the nominal frequency of a core, such as 3GHz")
		}
		return nil
	}
	own := a.Core
	if a.Core, err = unit.ParseHz(f.core); err == nil && own > 0 && own != a.Core {
		return fmt.Errorf("found %q, and %v in --host", f.core, own)
	}
	return err
}

// hostText returns the hosts as the question has them.
func (f *speedFlags) hostText(a *speed.Ask) string {
	name, _, _ := strings.Cut(a.Host.Name, "@") // the frequency stands beside it
	if a.Hosts == 1 {
		return "host " + name
	}
	return fmt.Sprintf("%d hosts %s", a.Hosts, name)
}

// speedDemands are those that the twin runs: 5 % to 100 %, and the one at which the limit
// begins to act.
func speedDemands(share unit.Share) []unit.Share {
	all := []unit.Share{share}
	for percent := 5; percent <= 100; percent += 5 {
		if s := unit.Share(percent) / 100; s != share {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all
}

// speedResult computes everything that the answer shows.
func speedResult(ctx context.Context, a *speed.Ask, figures speedFigures) (*show.Result, error) {
	r := &show.Result{
		Asked: a, Guarantee: figures.guarantee, Kernel: figures.kernel, Release: a.Host.Release.Value, Touched: a.Touched(),
		Terms: a.Terms(), Share: a.Share(), Held: speed.Held(1, a.Share()), Admission: a.Admit(), Local: a.Local(),
	}
	r.SpeedForVMs, _ = a.SpeedFor(a.VMs)
	demands := speedDemands(r.Share)
	var e1, e2, e3, e4 error
	r.Limited, e1 = a.Twin(ctx, demands, true)
	r.Free, e2 = a.Twin(ctx, demands, false)
	r.SCA, e3 = a.SideChannels(ctx)
	r.Changes, e4 = speedChanges(ctx, a)
	return r, cmp.Or(e1, e2, e3, e4)
}

// speedChanges asks the same of what could be otherwise.
func speedChanges(ctx context.Context, a *speed.Ask) ([]show.Change, error) {
	var out []show.Change
	for _, c := range []struct {
		name   string
		change func(*speed.Ask) bool
	}{
		{"vCPU speed twice as high", func(b *speed.Ask) bool { b.Speed *= 2; return true }},
		{"half the vCPUs, twice the speed", func(b *speed.Ask) bool { b.VCPUs /= 2; b.Speed *= 2; return a.VCPUs%2 == 0 }},
		{"guarantee 50 %", func(b *speed.Ask) bool { b.Guarantee = 0.5; return a.Guarantee != 0.5 }},
		{"guarantee 100 %", func(b *speed.Ask) bool { b.Guarantee = 1; return a.Guarantee != 1 }},
		{"one host fewer", func(b *speed.Ask) bool {
			b.Hosts--
			b.VMs = (a.VMs*a.Hosts + b.Hosts - 1) / max(1, b.Hosts) // the fullest host
			return b.Hosts > 0
		}},
	} {
		b := *a
		if !c.change(&b) || a.Model == speed.ReservationPool {
			continue
		}
		one := show.Change{If: c.name, Terms: b.Terms(), Held: speed.Held(1, b.Share()), Admission: b.Admit(), VMs: b.Running()}
		if one.VMs > 0 {
			full, err := b.Twin(ctx, []unit.Share{1}, true)
			if err != nil {
				return nil, err
			}
			one.Full = full[0]
		}
		out = append(out, one)
	}
	return out, nil
}
