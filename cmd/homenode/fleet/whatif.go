package fleet

import (
	"github.com/spf13/cobra"

	"homenode/change/whatif"
	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/output/change"
	"homenode/rules"
	"homenode/rules/filter"
)

// whatIf judges the fleet today and changed, and writes both side by side. Findings
// that are there today do not count for the exit code: those that the change makes do.
func whatIf(cmd *cobra.Command, out *flags.Output, known *rules.Result, fleet *numa.Fleet, changes []whatif.Change, ro rules.Options, shown *filter.Filter, o change.Options) error {
	r, err := whatif.Beside(known, fleet, changes, ro, shown)
	if err != nil {
		return err
	}
	if err := out.Print(cmd, change.WhatIf(r, o)); err != nil {
		return err
	}
	if r.Worsens(o.FailOn) {
		return flags.ErrFindings
	}
	return nil
}
