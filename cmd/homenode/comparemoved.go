package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	movedvms "homenode/change/moved"
	"homenode/cmd/homenode/flags"
	answers "homenode/output/moved"
	"homenode/rules"
	"homenode/source/kvm"
	"homenode/source/open"
)

// areMoved reports whether the second side is KVM hosts: then both are fleets.
func areMoved(cmd *cobra.Command, after []string) bool {
	if files, err := flags.CaptureFiles(cmd); files != nil || err != nil {
		return false // a page
	}
	for _, arg := range after {
		if !kvm.Detect(arg) {
			return false
		}
	}
	return true
}

// compareMoved compares the VMs of a fleet with those of the KVM hosts that they were moved to.
func (c *comparing) compareMoved(cmd *cobra.Command, before, after []string) error {
	fails, err := c.worse()
	if err != nil {
		return err
	}
	var sides [2]*rules.Result
	damaged := 0
	for i, args := range [][]string{before, after} {
		fleet, unread, err := open.Fleet(cmd.Context(), args, open.Options{})
		if err == nil && len(unread) > 0 {
			err = fmt.Errorf("%s", unread[0])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", []string{"before", "after"}[i], err)
		}
		damaged += len(fleet.Unread)
		sides[i] = rules.Run(fleet, rules.Options{})
	}
	r := movedvms.Compare(sides[0], sides[1])
	if len(r.VMs) == 0 && len(r.Only[0])+len(r.Only[1]) == 0 {
		return fmt.Errorf("%s and %s: found no VM", strings.Join(before, " "), strings.Join(after, " "))
	}
	err = c.out.Print(cmd, answers.Moved(r))
	if err == nil && fails && r.Worse() > 0 {
		return flags.ErrFindings
	}
	return cmp.Or(err, flags.Unread(damaged))
}
