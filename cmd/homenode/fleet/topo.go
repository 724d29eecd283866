package fleet

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/alike"
	"homenode/numa"
	"homenode/output/draw/topo"
	answers "homenode/output/fleet"
	"homenode/output/format"
	"homenode/rules"
	"homenode/rules/rule"
)

// NewTopo returns the command.
func NewTopo() *cobra.Command {
	var (
		src    flags.Source
		out    flags.Output
		choose flags.Choice
	)
	cmd := described("topo", &cobra.Command{
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			choices, err := choose.Choices()
			if err != nil {
				return err
			}
			if err := out.Check(cmd); err != nil {
				return err
			}
			result, _, err := src.Judged(cmd, rules.Options{Choices: choices}, args[0])
			if err != nil {
				return err
			}
			fleet := result.Fleet
			drawings, err := drawings(fleet, result, args[1:])
			if err != nil {
				return err
			}
			if out.Format == "svg" && len(drawings) != 1 {
				return errors.New("an SVG file holds one drawing: name a HOST or VM")
			}
			return out.Print(cmd, answers.Topo(drawings, fleet.Source))
		},
	})
	src.KVM = true
	src.Register(cmd)
	out.Register(cmd, format.Names...)
	choose.Register(cmd)
	return cmd
}

// drawings returns what the name asks for: a host, a VM, or one host of each shape.
func drawings(fleet *numa.Fleet, r *rules.Result, names []string) ([]*topo.Drawing, error) {
	var out []*topo.Drawing
	if len(names) == 0 {
		for _, c := range r.Clusters {
			for _, k := range c.Kinds {
				out = append(out, topo.OfHost(r, k.Hosts[0]))
			}
		}
		for i := range fleet.Hosts {
			if fleet.Hypervisor == numa.KVM && fleet.Hosts[i].Nodes.Known() {
				out = append(out, topo.OfStatedHost(r, &fleet.Hosts[i]))
			}
		}
		if out == nil {
			return nil, errors.New("no host can be drawn: the NUMA nodes of none are known")
		}
		return out, nil
	}
	if hosts := fleet.FindHosts(names[0]); len(hosts) > 0 {
		h, err := oneHost(fleet, names[0])
		if err != nil {
			return nil, err
		}
		if fleet.Hypervisor == numa.KVM {
			return append(out, topo.OfStatedHost(r, h)), nil
		}
		return append(out, topo.OfHost(r, h)), nil
	}
	if len(fleet.FindVMs(names[0])) == 0 {
		return nil, fmt.Errorf("no host and no VM is named %q%s", names[0], alike.After(names[0], append(namesOfHosts(fleet), namesOfVMs(fleet)...)))
	}
	vm, err := oneVM(fleet, names[0])
	if err != nil {
		return nil, err
	}
	if fleet.Hypervisor == numa.KVM {
		v, err := statedVM(r, vm)
		if err != nil {
			return nil, err
		}
		d := topo.OfStated(v)
		if d == nil {
			return nil, fmt.Errorf("%s: the nodes of its host are unknown: virsh capabilities beside it states them", v.Name)
		}
		return append(out, d), nil
	}
	v := judged(r, vm)
	if v == nil {
		return nil, unjudged(r, vm)
	}
	h, err := hostFor(fleet, v, "")
	if err != nil {
		return nil, err
	}
	d := topo.OfVM(v, h)
	if d == nil {
		return nil, fmt.Errorf("%s does not power on on %s: homenode explain says why", v.Name, h.Name)
	}
	return append(out, d), nil
}

// judged returns the VM as the rules saw it; nil when it was left out.
func judged(r *rules.Result, vm *numa.VM) *rule.VM {
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			if v.VM == vm {
				return v
			}
		}
	}
	return nil
}
