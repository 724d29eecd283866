package vsphere

import (
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// noteRestrictedView compares the read objects with the counts of the server itself. An account
// that sees part of an inventory gets no error, only shorter lists; a report on those must not look complete.
func (inv *inventory) noteRestrictedView() {
	hostsSeen := make(map[types.ManagedObjectReference]int)
	vmsSeen := make(map[string]int) // by cluster ID
	visible := make(map[types.ManagedObjectReference]bool, len(inv.vms))
	for i := range inv.hosts {
		hostsSeen[inv.hosts[i].parent]++
	}
	for i := range inv.vms {
		visible[inv.vms[i].ref] = true
		vmsSeen[inv.vms[i].Cluster]++
	}
	counted := make(map[types.ManagedObjectReference]bool) // clusters whose missing VMs are noted
	for i := range inv.computes {
		c := &inv.computes[i]
		switch seen := hostsSeen[c.ref]; {
		case seen >= c.hosts.Value:
		case c.cluster:
			inv.note(c.ref, "cluster %s: the account sees %d of its %d hosts", c.name, seen, c.hosts.Value)
		default:
			inv.note(c.ref, "the account does not see standalone host %s", c.name)
		}
		if seen := vmsSeen[c.ref.Value]; c.cluster && seen < c.totalVMs.Value {
			counted[c.ref] = true
			inv.note(c.ref, "cluster %s: the account sees %s of its %s VMs", c.name, words.Thousands(seen), words.Thousands(c.totalVMs.Value))
		}
	}
	for i := range inv.hosts {
		h := &inv.hosts[i]
		seen := 0
		for _, ref := range h.vms {
			if visible[ref] {
				seen++
			}
		}
		if seen < len(h.vms) && !counted[h.parent] {
			inv.note(h.ref, "host %s: the account sees %s of its %s VMs", h.Name, words.Thousands(seen), words.Thousands(len(h.vms)))
		}
	}
	if len(inv.hosts) == 0 {
		inv.notes = append(inv.notes, numa.Note{At: inv.reader.host, Text: "the account sees no hosts"})
	}
}
