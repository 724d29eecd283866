package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"homenode/change/sweep"
	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/output/change"
	"homenode/output/format"
	"homenode/rules/finding"
)

// sweepFlags make the grid of a sweep.
type sweepFlags struct{ grid []string }

func newSweep() *cobra.Command {
	var (
		told flags.StoryInput
		grid sweepFlags
	)
	cmd := &cobra.Command{
		Use:   "sweep SCENARIO|SOURCE",
		Short: "Simulates a grid of changes and shows the points side by side",
		Long: `sweep simulates a story once for each point of a grid, as homenode simulate does, and beside them the story as it
is: which of the settings is best, by how much, and with how many of the seeds (docs/sweeps.md). All cores of this
machine simulate the points.

` + flags.StoryHelp + `

Exit code 0: no finding at or above --fail-on in any point; 1: there are; 2: usage, I/O, or a point failed.`,
		Example: `  homenode sweep demo --grid 'nodesPerSocket=today,2' --grid 'cpu=x0.5,x1,x2' --grid 'seed=1..5'
  homenode sweep fleet.json --grid 'vm=sql* vcpus=8,12' --hours 8
  homenode sweep fleet.json --grid 'lose-host=esx01,esx02' --format csv -o lost.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := told.Check(cmd)
			if err := cmp.Or(err, grid.Check()); err != nil {
				return err
			}
			s, o, err := told.Read(cmd, args[0])
			if err != nil {
				return err
			}
			return cmp.Or(grid.run(cmd, s, sweep.Options{Rules: o.Rules, Silent: o.Silent}, least, &told.Out), told.Src.Incomplete())
		},
	}
	flags.Group(cmd, "Grid", grid.Register)
	flags.Group(cmd, "Show", told.Outputs(format.Tables...))
	told.Register(cmd)
	flags.Group(cmd, "Judge", told.Failing)
	return cmd
}

func (f *sweepFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.grid, "grid", nil, "simulate each of these values: 'vm=sql* vcpus=8,12', 'nodesPerSocket=1,2', 'lose-host=esx01,esx02', 'cpu=x0.5,x2', 'seed=1..10'; several are combined (repeatable)")
}

// check looks at the flags before anything is read.
func (f *sweepFlags) Check() error {
	if f.grid == nil {
		return errors.New("want --grid: what to simulate, such as --grid 'nodesPerSocket=today,2' (docs/sweeps.md)")
	}
	return nil
}

// run simulates the grid and writes what it came to.
func (f *sweepFlags) run(cmd *cobra.Command, story *numa.Story, o sweep.Options, least finding.Severity, out *flags.Output) error {
	plan, err := sweep.New(story, f.grid, o)
	if err != nil {
		return err
	}
	line := flags.NewProgress(cmd, "simulated", "run")
	result, err := plan.Run(cmd.Context(), sweep.How{Progress: line.Show})
	line.Clear()
	if err != nil {
		return err
	}
	err = out.Print(cmd, change.Sweep(result))
	switch {
	case err != nil:
		return err
	case result.AtLeast(least) > 0:
		return flags.ErrFindings
	case result.Failed() > 0:
		return fmt.Errorf("%d of %d points could not be simulated", result.Failed(), len(result.Points))
	}
	return nil
}
