//go:build linux

package main

import (
	"context"
	"fmt"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/view"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/source/vsphere"
)

// readByLibrary is the process that collects page by page with govmomi's own decoder and
// discards the results. It is the lower bound for a reader based on govmomi.
func readByLibrary(args []string) error {
	u, page, vms, err := arguments(args)
	if err != nil {
		return err
	}
	ctx := context.Background()
	c, err := govmomi.NewClient(ctx, u, true)
	if err != nil {
		return err
	}
	v, err := view.NewManager(c.Client).CreateContainerView(ctx, c.ServiceContent.RootFolder, []string{"VirtualMachine"}, true)
	if err != nil {
		return err
	}
	first, err := methods.RetrievePropertiesEx(ctx, c, &types.RetrievePropertiesEx{
		This: c.ServiceContent.PropertyCollector,
		SpecSet: []types.PropertyFilterSpec{{
			ObjectSet: []types.ObjectSpec{{Obj: v.Reference(), Skip: types.NewBool(true), SelectSet: []types.BaseSelectionSpec{v.TraversalSpec()}}},
			PropSet:   []types.PropertySpec{{Type: "VirtualMachine", PathSet: vsphere.VMProperties()}},
		}},
		Options: types.RetrieveOptions{MaxObjects: page},
	})
	if err != nil {
		return err
	}
	read := 0
	for result := first.Returnval; result != nil; {
		read += len(result.Objects)
		if result.Token == "" {
			break
		}
		next, err := methods.ContinueRetrievePropertiesEx(ctx, c, &types.ContinueRetrievePropertiesEx{
			This: c.ServiceContent.PropertyCollector, Token: result.Token,
		})
		if err != nil {
			return err
		}
		result = &next.Returnval
	}
	if read != vms {
		return fmt.Errorf("read %d VMs, want %d", read, vms)
	}
	return c.Logout(ctx)
}
