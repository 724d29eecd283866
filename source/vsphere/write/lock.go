package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"homenode/numa"
)

// LockName is the custom attribute that a vCenter has while a run changes it. vCenter makes one attribute of a name (DuplicateName, vSphere Web
// Services API reference, AddCustomFieldDef), so of two runs that begin at once one makes it. Its value at the root folder names the run.
const LockName = "homenode.run"

// Lock takes the vCenter for the run mine, or returns the run that has it; a run that has it already keeps it. adopt takes a lock without a name too:
// it is removed and made anew, so that the run that made it cannot name it any more. A host without a vCenter has no custom attributes, and no lock.
func (w Writer) Lock(ctx context.Context, mine string, adopt bool) (holder string, err error) {
	manager, root := w.fields()
	if manager == nil {
		return "", nil
	}
	key, taken, err := w.makeLock(ctx, *manager)
	if err == nil && taken {
		var held string
		key, held, err = w.holder(ctx)
		switch {
		case err != nil || held == mine:
			return "", err
		case held != "" || key == noKey || !adopt:
			return orUnnamed(held), nil
		}
		if err = w.removeField(ctx, key); err == nil {
			key, taken, err = w.makeLock(ctx, *manager)
		}
		if err == nil && taken {
			return numa.UnnamedRun, nil
		}
	}
	if err == nil {
		err = w.Call(ctx, "write the lock", func(ctx context.Context, c *vim25.Client) error {
			_, err := methods.SetField(ctx, c, &types.SetField{This: *manager, Entity: root, Key: key, Value: mine})
			return err
		})
	}
	now, held, readErr := w.holder(ctx)
	switch {
	case readErr == nil && now != noKey && held != mine && (err == nil || held != ""): // also another run's that took this one for left
		return orUnnamed(held), nil
	case err != nil && now == key && key != noKey:
		err = errors.Join(err, w.removeField(ctx, key))
	}
	return "", errors.Join(err, readErr)
}

// makeLock makes the attribute, or reports that there is one.
func (w Writer) makeLock(ctx context.Context, manager types.ManagedObjectReference) (key int32, taken bool, err error) {
	err = w.Call(ctx, "make the lock", func(ctx context.Context, c *vim25.Client) error {
		res, err := methods.AddCustomFieldDef(ctx, c, &types.AddCustomFieldDef{This: manager, Name: LockName})
		if err == nil {
			key = res.Returnval.Key
			return nil
		}
		var twice *types.DuplicateName
		if _, taken = fault.As(err, &twice); taken {
			return nil
		}
		return err
	})
	return key, taken, err
}

func orUnnamed(holder string) string {
	if holder == "" {
		return numa.UnnamedRun
	}
	return holder
}

// Unlock gives the vCenter back that the run mine has, and looks whether it did; "" removes the lock of whatever run. It returns whose lock it removed.
func (w Writer) Unlock(ctx context.Context, mine string) (removed string, err error) {
	if manager, _ := w.fields(); manager == nil {
		return "", nil
	}
	for range 3 {
		key, held, err := w.holder(ctx)
		if err != nil || key == noKey || mine != "" && held != mine {
			return removed, err
		}
		removed = orUnnamed(held)
		if err := w.removeField(ctx, key); err != nil {
			return "", err
		}
		if mine == "" {
			return removed, nil
		}
	}
	return "", fmt.Errorf("the custom attribute %s was removed and is still there", LockName)
}

// Holder returns the run that has the vCenter; "" for none.
func (w Writer) Holder(ctx context.Context) (string, error) {
	if manager, _ := w.fields(); manager == nil {
		return "", nil
	}
	key, held, err := w.holder(ctx)
	if err != nil || key == noKey {
		return "", err
	}
	return orUnnamed(held), nil
}

// fields returns the manager of custom attributes, nil where there is none, and the root folder.
func (w Writer) fields() (*types.ManagedObjectReference, types.ManagedObjectReference) {
	content := w.Content()
	return content.CustomFieldsManager, content.RootFolder
}

// noKey is the key of a lock that is not there.
const noKey = -1

// holder reads the lock: its key, noKey for none, and its value.
func (w Writer) holder(ctx context.Context) (key int32, held string, err error) {
	manager, root := w.fields()
	key = noKey
	err = w.Call(ctx, "read the lock", func(ctx context.Context, c *vim25.Client) error {
		var fields mo.CustomFieldsManager
		if err := property.DefaultCollector(c).RetrieveOne(ctx, *manager, []string{"field"}, &fields); err != nil {
			return err
		}
		for _, f := range fields.Field {
			if f.Name == LockName {
				key = f.Key
			}
		}
		var folder mo.Folder
		if err := property.DefaultCollector(c).RetrieveOne(ctx, root, []string{"customValue"}, &folder); err != nil {
			return err
		}
		for _, v := range folder.CustomValue {
			if one, ok := v.(*types.CustomFieldStringValue); ok && one.Key == key {
				held = one.Value
			}
		}
		return nil
	})
	return key, held, err
}

func (w Writer) removeField(ctx context.Context, key int32) error {
	manager, _ := w.fields()
	return w.Call(ctx, "remove the lock", func(ctx context.Context, c *vim25.Client) error {
		_, err := methods.RemoveCustomFieldDef(ctx, c, &types.RemoveCustomFieldDef{This: *manager, Key: key})
		return err
	})
}
