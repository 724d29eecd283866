package board

import (
	"slices"

	"example.org/homenode/numa"
)

// A placed is the host where a VM is registered, and its power state.
type placed struct {
	host  string // ID
	power numa.Fact[numa.PowerState]
}

// Update stores the current state of hosts and VMs; others keep their state until the next inventory. A VM that has left a
// host, or is powered off, is removed from that host's last tick.
func (b *Board) Update(name string, updates []numa.Update) {
	defer b.Touch()
	left := map[*host][]string{} // IDs of VMs
	b.mu.Lock()
	v := b.vcenter(name)
	for _, u := range updates {
		if !u.VM {
			if v.states != nil {
				v.states[u.ID] = merged(v.states[u.ID], u)
			}
			continue
		}
		i, ok := v.at[u.ID]
		if !ok {
			continue
		}
		vm := &v.result.Fleet.VMs[i]
		was, ok := v.placed[u.ID]
		if !ok {
			was = placed{vm.Host, vm.Power}
		}
		now := was
		if u.Host != "" {
			now.host = u.Host
		}
		if u.Power.Known() {
			now.power = u.Power
		}
		if now.host == was.host && now.power.Value == was.power.Value {
			continue
		}
		v.placed[u.ID] = now
		if now.host != was.host {
			from, to := was.host+", "+vm.Name, now.host+", "+vm.Name
			v.vms[from] = slices.DeleteFunc(v.vms[from], func(id string) bool { return id == u.ID })
			v.vms[to] = append(v.vms[to], u.ID)
		}
		if h := v.hosts[was.host]; h != nil && (now.host != was.host || now.power.Value != numa.PoweredOn) {
			left[h] = append(left[h], u.ID)
		}
	}
	b.mu.Unlock()
	for h, ids := range left {
		h.forget(ids)
	}
}

// merged adds the fields of an earlier update of a host to a later one that lacks them.
func merged(was, u numa.Update) numa.Update {
	if !u.Connection.Known() {
		u.Connection = was.Connection
	}
	if !u.Maintenance.Known() {
		u.Maintenance = was.Maintenance
	}
	return u
}

// forget removes VMs from the last tick.
func (h *host) forget(ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.VMs) - 1; i >= 0; i-- {
		if slices.Contains(ids, h.VMs[i].ID) {
			h.VMs, h.Tick.VMs = slices.Delete(h.VMs, i, i+1), slices.Delete(h.Tick.VMs, i, i+1)
		}
	}
}

// now returns the inventory with the current state of its hosts and VMs. b.mu is locked.
func (v *vcenter) now() *numa.Fleet {
	f := *v.result.Fleet
	f.Hosts, f.VMs = slices.Clone(f.Hosts), slices.Clone(f.VMs)
	cluster := map[string]string{} // of a host, both by ID
	for i := range f.Hosts {
		h := &f.Hosts[i]
		cluster[h.ID] = h.Cluster
		u := merged(numa.Update{Connection: h.Connection, Maintenance: h.Maintenance}, v.states[h.ID])
		h.Connection, h.Maintenance = u.Connection, u.Maintenance
	}
	for id, p := range v.placed {
		vm := &f.VMs[v.at[id]]
		vm.Power = p.power
		if k, ok := cluster[p.host]; ok {
			vm.Host, vm.Cluster = p.host, k
		}
	}
	return &f
}
