package vnuma

import "example.org/homenode/numa"

// AssumeStored adds to the VMs of f that are not off and whose advanced settings are unknown the size that their last power-on stored (rule
// book B-8): the one that PowerOnSeen shows, else the one that their present host chooses. A size that an earlier call assumed is
// replaced; one that the source or a user states stays. Call it for a fleet as it was read, before VMs or hosts are changed: a VM keeps its
// size when it moves.
func AssumeStored(f *numa.Fleet, ch Choices) {
	if f.Hypervisor == numa.KVM {
		return
	}
	hosts, machines := f.HostsByID(), map[string]*Machine{}
	on := func(h *numa.Host) *Machine {
		if h == nil {
			return nil
		}
		m, known := machines[h.ID]
		if !known {
			if made, err := NewMachine(h); err == nil {
				m = &made
			}
			machines[h.ID] = m
		}
		return m
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		_, has := v.Settings.Value.Lookup(numa.StoredKey)
		if v.Settings.Known() || has && !v.SizeAssumed {
			continue
		}
		v.AssumeStored(0, 0)
		if v.Planned != nil || v.Template.Value || v.Power.Value == numa.PoweredOff {
			continue
		}
		seen, m := PowerOnSeen(v), on(hosts[v.Host])
		if seen != nil && seen.By == numa.ByVMwareLog && seen.Host != "" {
			if named := f.FindHosts(seen.Host); len(named) == 1 {
				m = on(named[0])
			}
		}
		if m != nil {
			s := storedBy(v, seen, *m, ch)
			v.AssumeStored(s.Size, s.Cookie)
		}
	}
}

// PowerOnSeen returns the observation that shows the virtual nodes of the newest known power-on of v: a vmware.log, or several nodes in its
// guest that no log explains. One node in a guest has other causes too. nil if there is none for its present number of vCPUs.
func PowerOnSeen(v *numa.VM) (newest *numa.Observation) {
	for i := range v.Observed { // oldest first
		o := &v.Observed[i]
		nodes := o.VPDs.Value
		divided := o.By.InGuest() && largest(nodes) < len(nodes) && (newest == nil || largest(nodes) != largest(newest.VPDs.Value))
		if len(nodes) > 0 && len(nodes) == v.VCPUs.Value && (o.By == numa.ByVMwareLog || divided) {
			newest = o
		}
	}
	return newest
}

// largest returns the size of the largest of the groups that are given for each vCPU.
func largest(group []int) (most int) {
	size := map[int]int{}
	for _, g := range group {
		size[g]++
		most = max(most, size[g])
	}
	return most
}

// storedBy returns the size that a power-on of v on m stored, as seen shows it; nil seen means the predicted power-on. Zero if such a VM stores no size.
func storedBy(v *numa.VM, seen *numa.Observation, m Machine, ch Choices) Stored {
	then := *v
	if seen != nil {
		then.Config = seen.Config
		then.Inherit(&v.Config, "inventory")
		if old, ok := m.WithRelease(seen.Release.Value); ok && seen.Release.Known() {
			m = old
		}
	}
	g, _, err := NewGuest(&then)
	if err != nil {
		return Stored{}
	}
	l := Predict(&g, &m, &Case{Choices: ch, Ran: true})
	if seen != nil && l.Stored.Written {
		l.Stored.Size = largest(seen.VPDs.Value)
	}
	return l.Stored
}

// AsSeen returns g with the size of its virtual nodes that PowerOnSeen shows of v, so that a prediction of the nodes that the guest keeps (rule book D-1)
// starts from the nodes that it has.
func (g Guest) AsSeen(v *numa.VM) Guest {
	if seen := PowerOnSeen(v); seen != nil {
		g.Stored, g.CookieVCPUs, g.CookieCPS, g.SizeAssumed = int32(largest(seen.VPDs.Value)), g.VCPUs, 0, false
	}
	return g
}
