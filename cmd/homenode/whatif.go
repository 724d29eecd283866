package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/change/diff"
	"homenode/change/whatif"
	"homenode/numa"
	"homenode/output/change"
	"homenode/output/form"
	"homenode/rules"
	"homenode/rules/filter"
	"homenode/rules/finding"
)

// whatIfFlags collect the changes of --what-if, --lose-host and --add-host in the
// order of the command line.
type whatIfFlags struct {
	asked []asked
}

type asked struct{ flag, text string }

func (f *whatIfFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Var(&whatIfValue{f, "what-if"}, "what-if", "judge the fleet with this change beside today's: 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2', 'release=8.0U3 hw=21', or @FILE with such lines (repeatable)")
	fl.Var(&whatIfValue{f, "lose-host"}, "lose-host", "judge the fleet without these hosts, their VMs powered on where it suits them worst (repeatable)")
	fl.Var(&whatIfValue{f, "add-host"}, "add-host", "judge the fleet with further hosts: 'like=esx01', also count=2, name=esx30, cluster=test (repeatable)")
}

// A whatIfValue is one of the flags; pflag calls Set for each occurrence in order.
type whatIfValue struct {
	to   *whatIfFlags
	flag string
}

func (v *whatIfValue) Set(text string) error {
	v.to.asked = append(v.to.asked, asked{v.flag, text})
	return nil
}

func (v *whatIfValue) String() string { return "" }
func (v *whatIfValue) Type() string   { return "string" }

// changes reads what the flags say; format is the one of the output.
func (f *whatIfFlags) changes(format string) ([]whatif.Change, error) {
	if f.asked != nil && !slices.Contains(form.Tables, format) {
		return nil, fmt.Errorf("--format: found %q, want one of %s for a what-if", format, strings.Join(form.Tables, ", "))
	}
	var out []whatif.Change
	for _, a := range f.asked {
		var c whatif.Change
		var err error
		path, isFile := strings.CutPrefix(a.text, "@")
		switch {
		case a.flag == "lose-host":
			c, err = whatif.LoseHost(a.text)
		case a.flag == "add-host":
			c, err = whatif.AddHost(a.text)
		case isFile:
			lines, err := changesIn(path)
			if err != nil {
				return nil, err
			}
			out = append(out, lines...)
			continue
		default:
			c, err = whatif.Parse(a.text)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// changesIn reads a file of changes, one a line; # begins a comment.
func changesIn(path string) ([]whatif.Change, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []whatif.Change
	line := 0
	for text := range strings.Lines(string(b)) {
		line++
		text = strings.TrimRight(text, "\r\n")
		if bare := strings.TrimSpace(text); bare == "" || bare[0] == '#' {
			continue
		}
		c, err := whatif.ParseAt(path, line, text)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if out == nil {
		return nil, fmt.Errorf("%s: found no change", path)
	}
	return out, nil
}

// whatIf judges the fleet today and changed, and writes both side by side. Findings
// that are there today do not count for the exit code: those that the change makes do.
func whatIf(cmd *cobra.Command, out *outputFlags, fleet *numa.Fleet, changes []whatif.Change, ro rules.Options, shown *filter.Filter, o change.Options) error {
	r, err := whatif.Judge(fleet, changes, ro, shown)
	if err != nil {
		return err
	}
	if err := out.print(cmd, change.WhatIf(r, o)); err != nil {
		return err
	}
	if r.Worsens(o.FailOn) {
		return errFindings
	}
	return nil
}

func newDiff() *cobra.Command {
	var (
		src     sourceFlags
		out     outputFlags
		choose  choiceFlag
		config  configFlag
		part    filterFlags
		failOn  string
		details bool
	)
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compares two fleets: VMs with another topology, new and gone findings, other settings",
		Long: `diff judges two fleets and shows what differs: today's vCenter beside a snapshot of last month, or two
snapshots. VMs and hosts are the same when their IDs are, else their UUIDs, else cluster and name.

A and B are each a SOURCE; the flags hold for both. ` + sourceHelp + `

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
			choices, err := choose.choices()
			if err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			options, err := config.options(choices)
			if err != nil {
				return err
			}
			shown, err := part.filter()
			if err != nil {
				return err
			}
			var judged [2]*rules.Result
			for i, source := range args {
				fleet, err := src.read(cmd, source)
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
			if err := out.print(cmd, change.Diff(d, change.Options{Details: details, FailOn: least})); err != nil {
				return err
			}
			if findings, _ := d.Worsens(least); d.Differs() || findings > 0 {
				return errFindings
			}
			return src.incomplete()
		},
	}
	src.register(cmd)
	out.register(cmd, form.Tables...)
	choose.register(cmd)
	config.register(cmd)
	part.register(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "medium", "least severity of a new or worse finding that makes the exit code 1: info, low, medium, high")
	cmd.Flags().BoolVar(&details, "details", false, "a row for each VM and setting (table)")
	return cmd
}
