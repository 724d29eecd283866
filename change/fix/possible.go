package fix

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// possible says which numbers of a change of a VM no VM of its virtual hardware can have, by what the plan says that the VM has; nil for none.
func (c *Change) possible() error {
	changed := false
	after := func(kind numa.EditKind) int {
		text := c.known(string(kind))
		for _, e := range c.Edits {
			if e.Kind == kind {
				text, changed = e.To.Text, true
			}
		}
		n, _ := digits(text) // 0 is not known; texts that are no numbers are refused where they are read
		return n
	}
	vcpus, memory, cores, version := after(numa.EditVCPUs), after(numa.EditMemory), after(numa.EditCoresPerSocket), after(numa.EditHardware)
	h, ok := numa.HardwareOf(version)
	if !ok {
		h = numa.NewestHardware()
	}
	switch most := int(h.Memory / numa.MiB); {
	case !changed:
	case vcpus > h.VCPUs:
		return fmt.Errorf("found %d vCPUs, virtual hardware %d has at most %d", vcpus, h.Version, h.VCPUs)
	case most > 0 && memory > most:
		return fmt.Errorf("found %d MB of memory, virtual hardware %d has at most %d MB", memory, h.Version, most)
	case cores > h.CoresPerSocket:
		return fmt.Errorf("found %d cores per socket, virtual hardware %d has at most %d", cores, h.Version, h.CoresPerSocket)
	case cores > 0 && vcpus > 1 && vcpus%cores != 0:
		return fmt.Errorf("found %d cores per socket, which do not divide %d vCPUs", cores, vcpus)
	}
	return nil
}

// Impossible returns, by the ID of each VM of the plan whose edits vSphere would refuse or with which it would not power on on its host, why. f is the
// fleet as it is now. A VM that is refused before the change too is not listed.
func (p *Plan) Impossible(f *numa.Fleet) map[string]string {
	hosts, vms := f.HostsByID(), f.VMsByID()
	out := map[string]string{}
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.VM == nil || vms[c.VM.ID] == nil {
			continue
		}
		v := vms[c.VM.ID]
		if why := c.impossible(v, hosts[v.Host]); why != "" {
			out[v.ID] = why
		}
	}
	return out
}

// stranded says why a VM that runs would not power on again after a change, on a host that may be nil; "" when it would.
func stranded(v *numa.VM, h *numa.Host, needs numa.Needs) string {
	if h == nil || h.Ready() || v.Power.Value != numa.PoweredOn || needs == numa.NeedsNothing {
		return ""
	}
	return fmt.Sprintf("once it is off it does not power on: %s is not connected, or in maintenance", h.Name)
}

// changed returns the VM with the edits.
func (c *Change) changed(was *numa.VM) (is numa.VM, err error) {
	is = *was
	is.Settings.Value = slices.Clone(was.Settings.Value)
	for _, e := range c.Edits {
		err = cmp.Or(err, e.Configure(&is.Config, "the plan"))
	}
	return is, err
}

// impossible says why vSphere refuses the edits of a VM on a host, which may be nil; "" when it does not.
func (c *Change) impossible(was *numa.VM, h *numa.Host) string {
	if why := stranded(was, h, c.Needs()); why != "" {
		return why
	}
	is, err := c.changed(was)
	if err != nil {
		return err.Error()
	}
	before := was.Impossible()
	for _, no := range is.Impossible() {
		if !slices.ContainsFunc(before, func(o numa.Impossible) bool { return o.Text == no.Text }) {
			return no.Text
		}
	}
	if h == nil {
		return ""
	}
	m, err := vnuma.NewMachine(h)
	one, _, badOne := vnuma.NewGuest(was)
	two, _, badTwo := vnuma.NewGuest(&is)
	if cmp.Or(err, badOne, badTwo) != nil { // nothing is predicted
		return ""
	}
	if why := vnuma.Refuse(&two, &m); why.Any() && !vnuma.Refuse(&one, &m).Any() {
		return fmt.Sprintf("with the change it does not power on on %s: %s", h.Name, why)
	}
	return ""
}
