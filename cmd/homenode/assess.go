package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/output/answer"
	"homenode/output/change"
	fleetanswer "homenode/output/fleet"
	"homenode/output/form"
	"homenode/rules"
	"homenode/rules/finding"
)

// outputFlags say in which form and where to a command writes.
type outputFlags struct {
	format string
	file   string
	forms  []string
}

func (f *outputFlags) register(cmd *cobra.Command, forms ...string) {
	f.forms = forms
	cmd.Flags().StringVar(&f.format, "format", forms[0], "form of the output: "+strings.Join(forms, ", "))
	cmd.Flags().StringVarP(&f.file, "output", "o", "", "write to this file, whole or not at all, instead of standard output")
	completeFlag(cmd, "format", among(forms))
}

func (f *outputFlags) check() error {
	for _, form := range f.forms {
		if f.format == form {
			return nil
		}
	}
	return fmt.Errorf("--format: found %q, want one of %s", f.format, strings.Join(f.forms, ", "))
}

// shared is what package flags has of it.
func (f *outputFlags) shared() *flags.Output { return &flags.Output{Format: f.format, File: f.file} }

// write writes to the file, or to standard output when none is named.
func (f *outputFlags) write(cmd *cobra.Command, write func(w io.Writer, colour bool) error) error {
	return f.shared().Write(cmd, write)
}

// print writes an answer in the form that was asked for, to a terminal at its width.
func (f *outputFlags) print(cmd *cobra.Command, a *answer.Answer) error {
	return f.shared().Print(cmd, a)
}

// printJudged does so with what o says of findings, of sources and of the table.
func (f *outputFlags) printJudged(cmd *cobra.Command, a *answer.Answer, o form.Options) error {
	return f.shared().PrintJudged(cmd, a, o)
}

// choiceFlag reads --choose.
type choiceFlag struct{ ids []string }

func (f *choiceFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.ids, "choose", nil, "take the other side where sources disagree, such as F-18 (list: homenode rules --conflicts)")
}

func (f *choiceFlag) choices() (c vnuma.Choices, err error) {
	for _, id := range f.ids {
		if err := c.Take(id); err != nil {
			return c, fmt.Errorf("--choose: %w", err)
		}
	}
	return c, nil
}

func newAssess() *cobra.Command {
	var (
		src     sourceFlags
		out     outputFlags
		choose  choiceFlag
		config  configFlag
		changes whatIfFlags
		failOn  string
		details bool
		table   tableFlag
		part    filterFlags
	)
	cmd := &cobra.Command{
		Use:   "assess SOURCE...",
		Short: "Judges a fleet: which VMs have wrong NUMA, why, and what to change",
		Long: `assess predicts every VM on every host of its cluster and applies every rule.

` + sourceHelp + `

Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, no VM could be judged, or no
finding in what could be read while some source could not. With --what-if, --lose-host or --add-host the
changed fleet stands beside today's, and 1 means that the change makes something worse at or above --fail-on.`,
		Example: `  homenode assess demo
  homenode assess https://vc01.example.com --format html -o report.html
  homenode assess https://vc01.example.com https://vc02.example.com --credentials vcenters.txt
  homenode assess export.xlsx --nodes-per-socket 'esx07=2'
  homenode assess fleet.json --format json --fail-on high
  homenode assess fleet.json --format xlsx -o numa.xlsx
  homenode assess fleet.json --format csv --table vms -o vms.csv
  homenode assess fleet.json --format junit -o numa.xml
  homenode assess demo --what-if 'vm=sql* hotAdd=off coresPerSocket=16'
  homenode assess demo --lose-host esx01 --add-host 'like=esx11 cluster=prod-a'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := finding.ParseSeverity(failOn)
			if err != nil {
				return fmt.Errorf("--fail-on: %w", err)
			}
			choices, err := choose.choices()
			if err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			if err := table.check(cmd, &out); err != nil {
				return err
			}
			options, err := config.options(choices)
			if err != nil {
				return err
			}
			asked, err := changes.changes(out.format)
			if err != nil {
				return err
			}
			if asked != nil && cmd.Flags().Changed("table") {
				return errors.New("--table: a what-if writes all its tables")
			}
			shown, err := part.filter()
			if err != nil {
				return err
			}
			start := time.Now()
			fleet, err := src.read(cmd, args...)
			if err != nil {
				return err
			}
			if asked != nil {
				err := whatIf(cmd, &out, fleet, asked, options, shown, change.Options{Details: details, FailOn: least})
				return cmp.Or(err, src.incomplete())
			}
			read := time.Since(start)
			start = time.Now()
			result, err := shown.Fleet(rules.Run(fleet, options))
			if err != nil {
				return err
			}
			judged := time.Since(start)
			o := fleetanswer.Options{Version: version(), Details: details, SourceWords: args}
			if isTerminal(cmd.OutOrStdout()) && out.file == "" { // elsewhere the same input gives the same bytes
				o.Read, o.Judged = read, judged
			}
			err = out.printJudged(cmd, fleetanswer.Assess(result, o), form.Options{Details: details, FailOn: least, Table: table.name, SourceFiles: sourceFiles(args)})
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
				return errFindings
			}
			return src.incomplete()
		},
	}
	src.register(cmd)
	out.register(cmd, form.Judged...)
	table.register(cmd, fleetanswer.TableNames())
	choose.register(cmd)
	config.register(cmd)
	changes.register(cmd)
	part.register(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
	cmd.Flags().BoolVar(&details, "details", false, "every finding with its advice (table, markdown)")
	return cmd
}
