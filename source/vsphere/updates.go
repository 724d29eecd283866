package vsphere

import (
	"context"
	"time"

	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// Timing of updates. The server answers after updatesWait even without changes, so that an ended session is noticed and
// a live one does not become idle. Answers are at least updatesPace apart, parts of a too large one updatesPart, however
// fast a server sends them. vCenter sends 100 objects at a time.
const (
	updatesWait = 10 * time.Second
	updatesPace = time.Second
	updatesPart = 50 * time.Millisecond
	mostUpdates = 500 // objects in one answer
	maxUpdates  = 4 << 20
)

// Updates calls each with the state of all hosts and VMs visible to the account, in parts, then with changes within
// seconds, until ctx ends or the server ends it. It always returns an error. Objects that it created in the session are
// removed when it returns.
func (l *Live) Updates(ctx context.Context, each func([]numa.Update)) error {
	return l.fail("updates", l.r.updates(ctx, each))
}

func (r *reader) updates(ctx context.Context, each func([]numa.Update)) error {
	cleanUp := func(end func(context.Context) error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		_ = r.call(ctx, end) // if it fails, it ends with the session
	}
	view, err := r.createView(ctx, []string{"HostSystem", "VirtualMachine"})
	if err != nil {
		return err
	}
	defer cleanUp(func(ctx context.Context) error { return r.destroyView(ctx, view) })
	// A separate collector, so that its filters end with it.
	var collector *property.Collector
	err = r.call(ctx, func(ctx context.Context) (err error) {
		collector, err = property.DefaultCollector(r.client).Create(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer cleanUp(collector.Destroy)
	err = r.call(ctx, func(ctx context.Context) error {
		_, err := collector.CreateFilter(ctx, types.CreateFilter{Spec: inView(view,
			types.PropertySpec{Type: "HostSystem", PathSet: []string{"runtime.connectionState", "runtime.inMaintenanceMode"}},
			types.PropertySpec{Type: "VirtualMachine", PathSet: []string{"runtime.host", "runtime.powerState"}})})
		return err
	})
	if err != nil {
		return err
	}
	// The library's own loop waits without limit, or forgets the version after a timeout, so that everything would be sent again.
	wait := types.NewInt32(int32(max(1, min(updatesWait, r.opts.CallTimeout/2).Seconds())))
	for version := ""; ; {
		var set *types.UpdateSet
		err := r.callFor(ctx, maxUpdates, func(ctx context.Context) error {
			res, err := methods.WaitForUpdatesEx(ctx, r.client, &types.WaitForUpdatesEx{This: collector.Reference(), Version: version,
				Options: &types.WaitOptions{MaxWaitSeconds: wait, MaxObjectUpdates: mostUpdates}})
			if err == nil {
				set = res.Returnval
			}
			return err
		})
		if err != nil {
			return err
		}
		pace := updatesPace
		if set != nil {
			version = set.Version
			if set.Truncated != nil && *set.Truncated {
				pace = updatesPart
			}
			each(updatesOf(set))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pace):
		}
	}
}

// updatesOf converts an answer. Objects that left the view are found by the next inventory.
func updatesOf(set *types.UpdateSet) (all []numa.Update) {
	for _, f := range set.FilterSet {
		for i := range f.ObjectSet {
			o := &f.ObjectSet[i]
			u := numa.Update{ID: o.Obj.Value, VM: o.Obj.Type == "VirtualMachine"}
			for _, c := range o.ChangeSet {
				switch v := c.Val.(type) {
				case types.ManagedObjectReference:
					u.Host = v.Value
				case types.VirtualMachinePowerState:
					if powerStates[v] != "" {
						u.Power = numa.ReadAt(powerStates[v], c.Name)
					}
				case types.HostSystemConnectionState:
					if v != "" {
						u.Connection = numa.ReadAt(string(v), c.Name)
					}
				case bool:
					u.Maintenance = numa.ReadAt(v, c.Name)
				}
			}
			if o.Kind != types.ObjectUpdateKindLeave {
				all = append(all, u)
			}
		}
	}
	return all
}
