package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// LockName is the custom attribute that locks a vCenter while a run changes it. vCenter allows one attribute with a name (DuplicateName, vSphere Web
// Services API reference, AddCustomFieldDef), so of two runs that begin at once only one creates it. Its value at the root folder names the run.
const LockName = "homenode.run"

// Lock locks the vCenter for the run mine, or returns the run that has the lock; a run may lock again. With adopt it also replaces a lock without a
// name: it is removed and created again, so that its creator can no longer name it. A host without a vCenter has no custom attributes, and no lock.
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
	case readErr == nil && now != noKey && held != mine && (err == nil || held != ""): // including the lock of another run that considered this one abandoned
		return orUnnamed(held), nil
	case err != nil && now == key && key != noKey:
		err = errors.Join(err, w.removeField(ctx, key))
	}
	return "", errors.Join(err, readErr)
}

// makeLock creates the attribute, or reports that it exists.
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
	return cmp.Or(holder, numa.UnnamedRun)
}

// Unlock removes the lock of this run alone, as Holder names it, and checks that it had it. It reports whether the run had the lock.
func (w Writer) Unlock(ctx context.Context, run string) (removed bool, err error) {
	if manager, _ := w.fields(); manager == nil {
		return false, nil
	}
	for range 3 {
		key, held, err := w.holder(ctx)
		if err != nil || key == noKey || orUnnamed(held) != run {
			return removed, err
		}
		if err := w.removeField(ctx, key); err != nil {
			return false, err
		}
		removed = true
	}
	return false, fmt.Errorf("the custom attribute %s was removed and is still there", LockName)
}

// Held reports whether the run mine has the lock. A host without a vCenter has no lock, and no other run that it keeps away.
func (w Writer) Held(ctx context.Context, mine string) (bool, error) {
	if manager, _ := w.fields(); manager == nil {
		return true, nil
	}
	_, held, err := w.holder(ctx)
	return held == mine, err
}

// Holder returns the run that has the lock; "" for none.
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

// noKey is the key of a missing lock.
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
