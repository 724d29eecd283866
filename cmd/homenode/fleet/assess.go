package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/output/change"
	answers "homenode/output/fleet"
	"homenode/output/format"
	"homenode/rules/finding"
)

// NewAssess returns the command.
func NewAssess() *cobra.Command {
	var (
		src     flags.Source
		out     flags.Output
		choose  flags.Choice
		config  flags.Config
		changes flags.WhatIf
		failOn  string
		details bool
		table   flags.Table
		part    flags.Filter
	)
	cmd := &cobra.Command{
		Use:   "assess SOURCE...",
		Short: "Judges a fleet: which VMs have wrong NUMA, why, and what to change",
		Long: `assess predicts every VM on every host of its cluster, or takes the layouts of KVM as they are stated, and applies every rule.

` + flags.SourceHelp + `

Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, no VM could be judged, or no
finding in what could be read while some source could not. With --what-if the changed
fleet stands beside today's, after a power cycle (explain has --event); 1: something is worse at or above --fail-on.`,
		Example: `  homenode assess demo
  homenode assess https://vc01.example.com --format html -o report.html
  homenode assess https://vc01.example.com https://vc02.example.com --credentials vcenters.txt
  homenode assess export.xlsx --nodes-per-socket 'esx07=2'
  homenode assess fleet.json --format csv --table vms -o vms.csv
  homenode assess demo --what-if 'vm=sql* hotAdd=off coresPerSocket=16'
  homenode assess demo --what-if lose-host=esx01 --what-if 'add-host=like=esx11 cluster=prod-a'`,
		Args: cobra.MinimumNArgs(1),
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
			if err := table.Check(cmd, &out); err != nil {
				return err
			}
			options, err := config.Options(choices)
			if err != nil {
				return err
			}
			asked, err := changes.Changes(out.Format)
			if err != nil {
				return err
			}
			if asked != nil && cmd.Flags().Changed("table") {
				return errors.New("--table: a what-if writes all its tables")
			}
			shown, err := part.Compile()
			if err != nil {
				return err
			}
			start := time.Now()
			src.KVM = asked == nil
			if asked != nil {
				fleet, err := src.Read(cmd, args...)
				if err != nil {
					return err
				}
				err = whatIf(cmd, &out, flags.Known(cmd, options), fleet, asked, options, shown, change.Options{Details: details, FailOn: least})
				return cmp.Or(err, src.Incomplete())
			}
			whole, read, err := src.Judged(cmd, options, args...)
			if err != nil {
				return err
			}
			judged := time.Since(start) - read
			fleet := whole.Fleet
			kvm := fleet.Hypervisor == numa.KVM
			if kvm && (shown != nil || cmd.Flags().Changed("table")) {
				return fmt.Errorf("%s: a fleet of KVM is shown as a whole: leave out --table and what selects", fleet.Source)
			}
			result, err := shown.Fleet(whole)
			if err != nil {
				return err
			}
			o := answers.Options{Version: version.String(), Details: details, Sources: len(args),
				SourceWords: flags.Typed(cmd, args, append([]string{"choose", "config"}, flags.SourceNames...)),
				Words:       flags.Typed(cmd, args, slices.Concat([]string{"choose"}, flags.Answer, flags.FilterNames))}
			if flags.IsTerminal(cmd.OutOrStdout()) && out.File == "" { // elsewhere the same input gives the same bytes
				o.Read, o.Judged = read, judged
			}
			answer := answers.Assess
			if kvm {
				answer = answers.AssessStated
			}
			err = out.PrintJudged(cmd, format.Options{Details: details, FailOn: least, Table: table.Name, SourceFiles: flags.SourceFiles(args)}, answer(result, o))
			if err != nil {
				return err
			}
			if len(fleet.VMs) == 0 {
				return fmt.Errorf("%s: found no VM to judge", strings.Join(args, ", "))
			}
			if result.VMs == 0 && len(result.Fleet.VMs) > result.Templates {
				return fmt.Errorf("%s: none of %d VMs could be judged: see the notes", strings.Join(args, ", "), len(result.Fleet.VMs)-result.Templates)
			}
			if result.AtLeast(least) > 0 {
				return flags.ErrFindings
			}
			return src.Incomplete()
		},
	}
	src.Register(cmd)
	out.Register(cmd, format.Judged...)
	table.Register(cmd, answers.TableNames())
	choose.Register(cmd)
	config.Register(cmd)
	changes.Register(cmd)
	part.Register(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
	cmd.Flags().BoolVar(&details, "details", false, "every finding with its advice (table, markdown)")
	return cmd
}
