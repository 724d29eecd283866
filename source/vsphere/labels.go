package vsphere

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vapi/rest"
	"github.com/vmware/govmomi/vapi/tags"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// labelsPage is the number of VMs per request for tags and attributes.
const labelsPage = 500

// readLabels reads the tags (REST) and the custom attributes (SOAP) of the VMs. Both only help to
// find VMs and do not affect topology: a server that refuses them costs a note. Standalone hosts have neither.
func (inv *inventory) readLabels(ctx context.Context) error {
	if !inv.client.IsVC() || len(inv.vms) == 0 {
		return nil
	}
	at := make(map[types.ManagedObjectReference]int, len(inv.vms))
	refs := make([]mo.Reference, len(inv.vms))
	for i := range inv.vms {
		at[inv.vms[i].ref], refs[i] = i, inv.vms[i].ref
	}
	for _, one := range []struct {
		what string
		read func(context.Context, []mo.Reference, map[types.ManagedObjectReference]int) error
	}{
		{"tags", inv.readTags}, {"custom attributes", inv.readAttributes},
	} {
		if err := one.read(ctx, refs, at); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			inv.notes = append(inv.notes, numa.Note{At: inv.host, Text: "the " + one.what + " of the VMs could not be read: none is known (" + err.Error() + ")"})
		}
	}
	return nil
}

// readTags reads the tags in its own REST session, which is closed afterwards.
func (inv *inventory) readTags(ctx context.Context, refs []mo.Reference, at map[types.ManagedObjectReference]int) (err error) {
	c := rest.NewClient(inv.client)
	c.Transport = boundedTransport{c.DefaultTransport()}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if err := inv.call(ctx, func(ctx context.Context) error { return c.Login(ctx, inv.user) }); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		err = errors.Join(err, inv.call(ctx, c.Logout))
	}()
	m := tags.NewManager(c)
	names := map[string]string{}      // by ID of the tag
	categories := map[string]string{} // their names, by ID
	products := map[string]bool{}     // tags of the category product, by ID
	for page := range slices.Chunk(refs, labelsPage) {
		var all []tags.AttachedTags
		if err := inv.callFor(ctx, maxLabels, func(ctx context.Context) (err error) {
			all, err = m.ListAttachedTagsOnObjects(ctx, page)
			return err
		}); err != nil {
			return err
		}
		for _, one := range all {
			i, ok := at[one.ObjectID.Reference()]
			if !ok {
				continue
			}
			for _, id := range one.TagIDs {
				if _, ok := names[id]; !ok {
					if err := inv.call(ctx, func(ctx context.Context) error {
						tag, err := m.GetTag(ctx, id)
						if err != nil {
							return err
						}
						names[id] = tag.Name
						if _, ok := categories[tag.CategoryID]; !ok {
							// Without the privilege to read it the category is unknown.
							if c, err := m.GetCategory(ctx, tag.CategoryID); err == nil {
								categories[tag.CategoryID] = c.Name
							}
						}
						products[id] = strings.EqualFold(categories[tag.CategoryID], numa.ProductLabel)
						return nil
					}); err != nil {
						return err
					}
				}
				if products[id] {
					inv.vms[i].Product = numa.ReadAt(names[id], "tag of category product")
				}
				inv.vms[i].Tags = append(inv.vms[i].Tags, names[id])
			}
			slices.Sort(inv.vms[i].Tags)
			inv.vms[i].Tags = slices.Compact(inv.vms[i].Tags)
		}
	}
	return nil
}

// readAttributes reads the custom attributes, if the vCenter has any.
func (inv *inventory) readAttributes(ctx context.Context, refs []mo.Reference, at map[types.ManagedObjectReference]int) error {
	manager := inv.client.ServiceContent.CustomFieldsManager
	if manager == nil {
		return nil
	}
	pc := property.DefaultCollector(inv.client)
	var fields mo.CustomFieldsManager
	if err := inv.call(ctx, func(ctx context.Context) error {
		return pc.RetrieveOne(ctx, *manager, []string{"field"}, &fields)
	}); err != nil || len(fields.Field) == 0 {
		return err
	}
	names := map[int32]string{}
	for _, f := range fields.Field {
		names[f.Key] = f.Name
	}
	for page := range slices.Chunk(refs, labelsPage) {
		list := make([]types.ManagedObjectReference, len(page))
		for i, ref := range page {
			list[i] = ref.Reference()
		}
		var vms []mo.VirtualMachine
		if err := inv.callFor(ctx, maxLabels, func(ctx context.Context) error { return pc.Retrieve(ctx, list, []string{"customValue"}, &vms) }); err != nil {
			return err
		}
		for i := range vms {
			which, ok := at[vms[i].Self]
			if !ok {
				continue
			}
			v := &inv.vms[which]
			for _, value := range vms[i].CustomValue {
				if s, ok := value.(*types.CustomFieldStringValue); ok && s.Value != "" && names[s.Key] != "" {
					v.Attributes = append(v.Attributes, numa.Attribute{Name: names[s.Key], Value: s.Value})
				}
			}
			slices.SortFunc(v.Attributes, func(a, b numa.Attribute) int { return cmp.Compare(a.Name, b.Name) })
		}
	}
	return nil
}
