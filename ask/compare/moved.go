package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/ask"
	movedvms "example.org/homenode/change/moved"
	"example.org/homenode/esxi/vnuma"
	answers "example.org/homenode/output/moved"
	"example.org/homenode/rules"
	"example.org/homenode/source/open"
)

// areMoved reports whether the second side is a list of KVM hosts: both sides are then fleets.
func areMoved(after []string) bool {
	return !slices.ContainsFunc(after, func(name string) bool { return !open.KVM(name) })
}

// moved compares the VMs of a fleet with the KVM domains that they were migrated to.
func (f *Compare) moved(ctx context.Context) (*ask.Reply, error) {
	fails, err := f.worse()
	if err != nil {
		return nil, err
	}
	var sides [2]*rules.Result
	var damaged ask.Lacks
	for i, names := range [][]string{f.A, f.B} {
		fleet, unread, err := open.Fleet(ctx, names, open.Options{})
		if err == nil && len(unread) > 0 {
			err = fmt.Errorf("%s", unread[0])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", []string{"before", "after"}[i], err)
		}
		damaged.Of(fleet)
		vnuma.AssumeStored(fleet, vnuma.Choices{})
		if sides[i], err = rules.RunContext(ctx, fleet, rules.Options{}); err != nil {
			return nil, err
		}
	}
	r, err := movedvms.Compare(ctx, sides[0], sides[1])
	if err != nil {
		return nil, err
	}
	if len(r.VMs) == 0 && len(r.Only[0])+len(r.Only[1]) == 0 {
		return nil, fmt.Errorf("%s and %s: found no VM", strings.Join(f.A, " "), strings.Join(f.B, " "))
	}
	return ask.Partly(reply(answers.Moved(r), fails && r.Worse() > 0), nil, damaged.Err())
}
