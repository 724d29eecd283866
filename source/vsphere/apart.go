package vsphere

import (
	"context"
	"slices"

	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// configPage is the number of clusters per request for configurations: each names its VMs several times.
const configPage = 4

// readApart reads the anti-affinity rules of DRS. A failure costs a note.
func (inv *inventory) readApart(ctx context.Context) error {
	refs := make([]types.ManagedObjectReference, 0, len(inv.cluster))
	at := map[types.ManagedObjectReference]*compute{}
	for i := range inv.computes {
		if c := &inv.computes[i]; c.cluster {
			refs, at[c.ref] = append(refs, c.ref), c
		}
	}
	seen := make(map[string]bool, len(inv.vms))
	for i := range inv.vms {
		seen[inv.vms[i].ref.Value] = true
	}
	return pagewise(ctx, inv, refs, configPage, "configurationEx", "the DRS rules of the clusters", func(one *mo.ClusterComputeResource) {
		c, ok := at[one.Self]
		info, of := one.ConfigurationEx.(*types.ClusterConfigInfoEx)
		if ok && of {
			c.apart = apart(info, seen)
		}
	})
}

// pagewise reads a property of objects, so many in a request. A failure costs a note: nothing is known of what the property states.
func pagewise[T any](ctx context.Context, inv *inventory, refs []types.ManagedObjectReference, size int, path, what string, take func(*T)) error {
	for page := range slices.Chunk(refs, size) {
		var all []T
		err := inv.callFor(ctx, maxLabels, func(ctx context.Context) error {
			return property.DefaultCollector(inv.client).Retrieve(ctx, page, []string{path}, &all)
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			inv.notes = append(inv.notes, numa.Note{At: inv.host, Text: what + " could not be read: none is known (" + err.Error() + ")"})
			return nil
		}
		for i := range all {
			take(&all[i])
		}
	}
	return nil
}

// apart returns the enabled anti-affinity rules with at least two visible VMs.
func apart(info *types.ClusterConfigInfoEx, seen map[string]bool) (groups []numa.Group) {
	for _, r := range info.Rule {
		rule, ok := r.(*types.ClusterAntiAffinityRuleSpec)
		if !ok || rule.Enabled != nil && !*rule.Enabled {
			continue
		}
		g := numa.Group{Name: rule.Name}
		for _, vm := range rule.Vm {
			if seen[vm.Value] {
				g.VMs = append(g.VMs, vm.Value)
			}
		}
		if len(g.VMs) > 1 {
			groups = append(groups, g)
		}
	}
	return groups
}
