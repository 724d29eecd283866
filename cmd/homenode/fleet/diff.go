package fleet

import (
	"fmt"

	"github.com/spf13/cobra"

	"homenode/change/diff"
	"homenode/change/whatif"
	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/output/change"
	"homenode/output/format"
	"homenode/rules"
	"homenode/rules/filter"
	"homenode/rules/finding"
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

// NewDiff returns the command.
func NewDiff() *cobra.Command {
	var (
		src     flags.Source
		out     flags.Output
		choose  flags.Choice
		config  flags.Config
		part    flags.Filter
		failOn  string
		details bool
	)
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compares two fleets: VMs with another topology, new and gone findings, other settings",
		Long: `diff judges two fleets and shows what differs: today's vCenter beside a snapshot of last month, or two
snapshots. VMs and hosts are the same when their IDs are, else their UUIDs, else cluster and name.

A and B are each a SOURCE; the flags hold for both. ` + flags.SourceHelp + `

Exit code 0: no drift; 1: layouts, settings, hosts or VMs differ, or findings at or above --fail-on are new
or worse; 2: usage or I/O. Facts that one side alone knows, power states, moves to another host without consequence and stored sizes (a
power-on may write them) are no drift.`,
		Example: `  homenode diff last-month.json https://vc01.example.com
  homenode diff monday.json friday.json --details
  homenode diff before.json after.json --format json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := finding.ParseSeverity(failOn)
			if err != nil {
				return fmt.Errorf("--fail-on: %w", err)
			}
			choices, err := choose.Choices()
			if err != nil {
				return err
			}
			if err := out.Check(cmd); err != nil {
				return err
			}
			options, err := config.Options(choices)
			if err != nil {
				return err
			}
			shown, err := part.Compile()
			if err != nil {
				return err
			}
			var judged [2]*rules.Result
			for i, source := range args {
				fleet, err := src.Read(cmd, source)
				if err != nil {
					return err
				}
				judged[i] = rules.Run(fleet, options)
			}
			d, err := diff.Compare(judged[0], judged[1], diff.Options{
				Judge: func(f *numa.Fleet) *rules.Result { return rules.Run(f, options) }, Filter: shown,
			})
			if err != nil {
				return err
			}
			if err := out.Print(cmd, change.Diff(d, change.Options{Details: details, FailOn: least})); err != nil {
				return err
			}
			if findings, _ := d.Worsens(least); d.Differs() || findings > 0 {
				return flags.ErrFindings
			}
			return src.Incomplete()
		},
	}
	src.Register(cmd)
	out.Register(cmd, format.Tables...)
	choose.Register(cmd)
	config.Register(cmd)
	part.Register(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "medium", "least severity of a new or worse finding that makes the exit code 1: info, low, medium, high")
	cmd.Flags().BoolVar(&details, "details", false, "a row for each VM and setting (table)")
	return cmd
}
