package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vapi/rest"
	_ "github.com/vmware/govmomi/vapi/simulator" // serves REST
	"github.com/vmware/govmomi/vapi/tags"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// addAttributes defines the custom attributes of the VMs.
func (b *builder) addAttributes(f *numa.Fleet) error {
	b.attributes = map[string]int32{}
	manager, ok := b.ctx.Map.Get(*b.ctx.Map.Get(types.ManagedObjectReference{Type: "ServiceInstance", Value: "ServiceInstance"}).(*simulator.ServiceInstance).Content.CustomFieldsManager).(*simulator.CustomFieldsManager)
	if !ok {
		return nil
	}
	for i := range f.VMs {
		for _, a := range attributesOf(&f.VMs[i]) {
			if _, ok := b.attributes[a.Name]; ok {
				continue
			}
			added, ok := manager.AddCustomFieldDef(b.ctx, &types.AddCustomFieldDef{This: manager.Self, Name: a.Name, MoType: "VirtualMachine"}).(*methods.AddCustomFieldDefBody)
			if !ok || added.Res == nil {
				return fmt.Errorf("the custom attribute %s: %v", a.Name, added.Fault())
			}
			b.attributes[a.Name] = added.Res.Returnval.Key // the simulator counts keys for those that are added later too
		}
	}
	return nil
}

// attributesOf returns the custom attributes of a VM, including its stated product.
func attributesOf(v *numa.VM) []numa.Attribute {
	if !v.Product.Known() {
		return v.Attributes
	}
	return append(slices.Clone(v.Attributes), numa.Attribute{Name: numa.ProductLabel, Value: v.Product.Value})
}

// tag creates the tags of the VMs and attaches them, over the API: the simulator does not store
// them in its registry.
func (v *VCenter) tag(f *numa.Fleet) error {
	tagged := map[string][]mo.Reference{}
	for i := range f.VMs {
		for _, name := range f.VMs[i].Tags {
			tagged[name] = append(tagged[name], types.ManagedObjectReference{Type: "VirtualMachine", Value: f.VMs[i].ID})
		}
	}
	if len(tagged) == 0 {
		return nil
	}
	ctx := context.Background()
	c, err := govmomi.NewClient(ctx, v.URL, true)
	if err != nil {
		return err
	}
	r := rest.NewClient(c.Client)
	if err := r.Login(ctx, v.URL.User); err != nil {
		return err
	}
	m := tags.NewManager(r)
	category, err := m.CreateCategory(ctx, &tags.Category{Name: "lab", Cardinality: "MULTIPLE", AssociableTypes: []string{"VirtualMachine"}})
	if err != nil {
		return err
	}
	for name, refs := range tagged {
		id, err := m.CreateTag(ctx, &tags.Tag{Name: name, CategoryID: category})
		if err != nil {
			return err
		}
		if err := m.AttachTagToMultipleObjects(ctx, id, refs); err != nil {
			return err
		}
	}
	if err := r.Logout(ctx); err != nil {
		return err
	}
	return c.Logout(ctx)
}
