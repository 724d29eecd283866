package fleet

import (
	"errors"

	"example.org/homenode/ask"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/topo"
	answers "example.org/homenode/output/fleet"
	"example.org/homenode/rules"
)

// hosts draws the named host and its VMs, or one host of each kind without a name.
func hosts(e *ask.Env, r *rules.Result, name string) (*ask.Reply, error) {
	all, err := hostDrawings(r, name)
	if err != nil {
		return nil, err
	}
	if e.Form == "svg" && len(all) != 1 {
		return nil, errors.New("an SVG file holds one drawing: name a VM or a host")
	}
	return ask.Answered(answers.Topo(all, r.Fleet.Source), nil)
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
