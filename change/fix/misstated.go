package fix

import (
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// Misstated returns, by the ID of a VM, where its layout is another one than the plan states: each is predicted again, with the VM and the hosts as they are
// now, and with the edits of both. A plan may have been forged, or be of another version.
func (p *Plan) Misstated(f *numa.Fleet, ch vnuma.Choices) map[string]string {
	now, after := p.machines(f, false), p.machines(f, true)
	vms, out := f.VMsByID(), map[string]string{}
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.VM == nil || vms[c.VM.ID] == nil {
			continue
		}
		was := vms[c.VM.ID]
		is, err := c.changed(was)
		if err != nil {
			continue // it is Impossible
		}
		why := c.misstated(&is, after, ch, "with these settings", func(e *Effect) *Layout { return &e.After })
		if side, _ := c.Compare(&was.Config); side == Before && why == "" {
			why = c.misstated(was, now, ch, "without the change", func(e *Effect) *Layout { return &e.Now })
		}
		if why != "" {
			out[c.VM.ID] = why
		}
	}
	return out
}

// machines returns the hosts by name, those of which predictions are made, as they are or with the options that the plan sets.
func (p *Plan) machines(f *numa.Fleet, changed bool) map[string]*vnuma.Machine {
	out := map[string]*vnuma.Machine{}
	for _, h := range f.Hosts {
		for i := range p.Changes {
			if c := &p.Changes[i]; changed && c.Host != nil && c.Host.ID == h.ID {
				setOptions(&h, c.Edits)
			}
		}
		if m, err := vnuma.NewMachine(&h); err == nil {
			out[h.Name] = &m
		}
	}
	return out
}

// misstated says where a VM gets another layout than the one that the plan states; "" for nowhere.
func (c *Change) misstated(v *numa.VM, on map[string]*vnuma.Machine, ch vnuma.Choices, when string, of func(*Effect) *Layout) string {
	g, _, err := vnuma.NewGuest(v)
	if err != nil {
		return "nothing can be predicted of it: " + err.Error()
	}
	for i := range c.Layout {
		e := &c.Layout[i]
		do := vnuma.Case{Choices: ch}
		if e.Moved {
			do.Event, do.From = vnuma.VMotionIn, on[c.VM.Host]
		}
		for _, host := range e.Hosts {
			if on[host] == nil || e.Moved && do.From == nil {
				return "nothing can be predicted of it on " + host
			}
			l := vnuma.Predict(&g, on[host], &do)
			if said, is := of(e).spoken(), layoutOf(&l); said != is.spoken() {
				return fmt.Sprintf("the plan says %s on %s, and %s there would be %s", said, host, when, is.spoken())
			}
		}
	}
	return ""
}

// spoken returns all that a layout states, in words.
func (l *Layout) spoken() string {
	return fmt.Sprintf("%s with %v vCPUs and %s with %v (%s), %v of its memory remote and the stored size %d",
		words.Plural(len(l.VPDs), "node"), l.VPDs, words.Plural(len(l.PPDs), "client"), l.PPDs, l.Text, l.FarShare, l.Stores)
}
