package lab

import (
	"fmt"
	"testing"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/object"

	"example.org/homenode/numa"
)

// TestAttributeKeys adds custom attributes to those of the VMs: each has a key of its own, so that one that is removed takes no other along.
func TestAttributeKeys(t *testing.T) {
	f := &numa.Fleet{VMs: []numa.VM{{Name: "a", ID: "vm-a", Attributes: []numa.Attribute{{Name: "owner", Value: "x"}, {Name: "site", Value: "y"}}}}}
	vc, err := Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	c, err := govmomi.NewClient(t.Context(), vc.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	m, err := object.GetCustomFieldsManager(c.Client)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 110 {
		if _, err := m.Add(t.Context(), fmt.Sprint("added ", i), "", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	fields, err := m.Field(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[int32]string{}
	for _, one := range fields {
		if other, taken := names[one.Key]; taken {
			t.Errorf("%s and %s have the key %d", other, one.Name, one.Key)
		}
		names[one.Key] = one.Name
	}
	if len(fields) != 112 {
		t.Errorf("%d attributes", len(fields))
	}
}
