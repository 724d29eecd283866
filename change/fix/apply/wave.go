package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/internal/binpack"
	"example.org/homenode/numa"
	"example.org/homenode/source/privilege"
)

// A rider is a running VM of a host whose option a vMotion activates, and the change of that host.
type rider struct {
	vm     *numa.VM
	change int // index of the change
}

// riders returns the running VMs of the hosts whose changes hold and act on VMs that arrive.
func (r *run) riders() (out []rider) {
	if r.fleet == nil {
		return nil
	}
	for i := range r.p.Changes {
		c := &r.p.Changes[i]
		if c.Host == nil || !slices.ContainsFunc(c.Edits, fix.ByArrival) {
			continue
		}
		for k := range r.fleet.VMs {
			if v := &r.fleet.VMs[k]; v.Host == c.Host.ID && v.Power.Value == numa.PoweredOn {
				out = append(out, rider{v, i})
			}
		}
	}
	return out
}

// wave moves each running VM of the changed hosts once, to a host of its cluster with the same options: an option that acts on VMs that arrive then
// holds for all. Without PowerMove it says how many VMs wait for their next vMotion.
func (r *run) wave(ctx context.Context) {
	waiting, moved := map[int][]string{}, map[int]bool{} // the VMs by change, with the reason; the changes that have VMs
	for _, one := range r.riders() {
		res := &r.results[one.change]
		if res.left() || res.Outcome == Already && r.o.Power != PowerMove {
			continue
		}
		moved[one.change] = true
		if why := r.ride(ctx, one); why != nil {
			waiting[one.change] = append(waiting[one.change], one.vm.Name+why.Error())
		}
	}
	for i := range moved {
		res := &r.results[i]
		was := *res
		res.Outcome, res.Why = Done, ""
		if names := waiting[i]; names != nil {
			res.Outcome, res.Why = Pending, "running VMs get it with their next vMotion or power-on: "+few(names)
		}
		if *res != was {
			if err := r.j.Last(journal.Line{Step: journal.StepEnd, Plan: r.p.ID, Target: res.ID, Name: res.Name, State: string(res.Outcome), Why: res.Why}); err != nil {
				r.halt(&diskError{err})
			}
		}
	}
}

// few lists names, the first five of many.
func few(names []string) string {
	if n := len(names) - 5; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), n)
	}
	return strings.Join(names, ", ")
}

// ride moves one VM, unless it was moved before; the error is why it was not, to be read behind its name.
func (r *run) ride(ctx context.Context, one rider) error {
	if r.o.Power != PowerMove {
		return errors.New("")
	}
	c := &r.p.Changes[one.change]
	s := &step{run: r, c: &fix.Change{VM: &fix.Target{Name: one.vm.Name, ID: one.vm.ID}}}
	for _, k := range r.past { // it went where an earlier run moved it
		if k.moved[one.vm.ID] == one.vm.Host {
			return nil
		}
	}
	if r.halted(ctx) || !r.held(ctx) {
		return errors.New(" (the run ended before)")
	}
	st, err := s.settled(ctx)
	switch {
	case err != nil:
		return fmt.Errorf(" (%w)", err)
	case st.VM.Power.Value != numa.PoweredOn || st.VM.Host != c.Host.ID: // it has left the host since
		return nil
	case fix.Refused(&st) != "":
		return fmt.Errorf(" (%s)", fix.Refused(&st))
	}
	to := r.destination(one.vm, c)
	if to == nil {
		return errors.New(" (no other host of the cluster has the option and room)")
	}
	line := journal.Line{Step: journal.StepIntent, Plan: r.p.ID, Target: c.Host.ID, Name: one.vm.Name, Do: "move", Key: one.vm.ID, Host: to.ID}
	if err := r.j.Append(line); err != nil {
		r.halt(&diskError{err})
		return errors.New(" (the journal cannot be written)")
	}
	s.say("moving to %s", to.Name)
	err = r.once(ctx, func() error { return r.t.Move(ctx, one.vm.ID, to.ID, nil) })
	if st, readErr := s.settled(ctx); readErr != nil || st.VM.Host != to.ID {
		s.say("%s", Failed)
		return fmt.Errorf(" (it was not moved: %w)", cmp.Or(err, readErr, errors.New("it is where it was")))
	}
	s.say("%s", Done)
	one.vm.Host = to.ID // its memory counts there
	line.Step = journal.StepDone
	if err := r.j.Last(line); err != nil {
		r.halt(&diskError{err})
	}
	return nil
}

// destination returns the host of the VM's cluster that has the options of the change and the most free memory, which holds the VM, and no VM that DRS
// keeps apart from it; nil for none.
func (r *run) destination(v *numa.VM, c *fix.Change) *numa.Host {
	f := r.fleet
	left, at, apart := make([]binpack.Size, len(f.Hosts)), map[string]int{}, map[int]bool{}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		left[i].Mem, at[h.ID] = int64(h.Memory.Value-numa.MinFree(h.Memory.Value, h.Release.Value)), i
	}
	for i := range f.VMs {
		if h, ok := at[f.VMs[i].Host]; ok && f.VMs[i].Power.Value == numa.PoweredOn {
			left[h].Mem -= int64(f.VMs[i].Memory.Value)
			apart[h] = apart[h] || r.apart(v, &f.VMs[i])
		}
	}
	home, ok := at[c.Host.ID]
	best := binpack.Emptiest(left, binpack.Size{Mem: int64(v.Memory.Value)}, func(i int) bool {
		h := &f.Hosts[i]
		return ok && i != home && h.Cluster != "" && h.Cluster == f.Hosts[home].Cluster && h.Ready() && !apart[i] && r.has(h, c.Edits)
	})
	if best < 0 {
		return nil
	}
	return &f.Hosts[best]
}

// has reports whether a host has the values that the edits set: the plan changes it too, or it had them before.
func (r *run) has(h *numa.Host, edits []numa.Edit) bool {
	for i := range r.p.Changes {
		if c := &r.p.Changes[i]; c.Host != nil && c.Host.ID == h.ID {
			return slices.Contains(Good, r.results[i].Outcome) && !slices.ContainsFunc(edits, func(e numa.Edit) bool {
				return !slices.ContainsFunc(c.Edits, func(o numa.Edit) bool { return strings.EqualFold(o.Key, e.Key) && o.To.Same(e.To) })
			})
		}
	}
	return !slices.ContainsFunc(edits, func(e numa.Edit) bool {
		is, set := h.Options.Value.Lookup(e.Key)
		return !set || !numa.Is(is).Same(e.To)
	})
}

// apart reports whether a rule of DRS keeps two VMs on different hosts.
func (r *run) apart(a, b *numa.VM) bool {
	for i := range r.fleet.Clusters {
		for _, g := range r.fleet.Clusters[i].Apart {
			if slices.Contains(g.VMs, a.ID) && slices.Contains(g.VMs, b.ID) {
				return true
			}
		}
	}
	return false
}

// moves returns what moving the VMs needs.
func (r *run) moves() []fix.Need {
	if r.o.Power != PowerMove {
		return nil
	}
	need := fix.Need{Privilege: privilege.Move}
	for _, one := range r.riders() {
		need.Objects = append(need.Objects, "VirtualMachine "+one.vm.ID)
	}
	if need.Objects == nil {
		return nil
	}
	return []fix.Need{need}
}
