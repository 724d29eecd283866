package fleet

import (
	"errors"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/output/draw/topo"
	answers "homenode/output/fleet"
	"homenode/rules"
	"homenode/rules/rule"
)

// hosts draws the host with this name and the VMs on it; without a name one host of each kind.
func (x *explaining) hosts(cmd *cobra.Command, r *rules.Result, name string) error {
	all, err := hostDrawings(r, name)
	if err != nil {
		return err
	}
	if x.out.Format == "svg" && len(all) != 1 {
		return errors.New("an SVG file holds one drawing: name a VM or a host")
	}
	return x.out.Print(cmd, answers.Topo(all, r.Fleet.Source))
}

// hostDrawings returns the drawing of a host, or of one host of each kind.
func hostDrawings(r *rules.Result, name string) (out []*topo.Drawing, err error) {
	kvm := r.Fleet.Hypervisor == numa.KVM
	if name != "" {
		h, err := oneHost(r.Fleet, name)
		switch {
		case err != nil:
			return nil, err
		case kvm:
			return append(out, topo.OfStatedHost(r, h)), nil
		}
		return append(out, topo.OfHost(r, h)), nil
	}
	for _, c := range r.Clusters {
		for _, k := range c.Kinds {
			out = append(out, topo.OfHost(r, k.Hosts[0]))
		}
	}
	for i := range r.Fleet.Hosts {
		if h := &r.Fleet.Hosts[i]; kvm && h.Nodes.Known() {
			out = append(out, topo.OfStatedHost(r, h))
		}
	}
	if out == nil {
		return nil, errors.New("no host can be drawn: the NUMA nodes of none are known")
	}
	return out, nil
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
