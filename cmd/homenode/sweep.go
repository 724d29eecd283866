package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"homenode/change/sweep"
	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/output/change"
	"homenode/output/format"
	"homenode/rules/finding"
)

// sweepFlags make the grid of a sweep, and name the queue when others are to do it.
type sweepFlags struct {
	grid  []string
	queue flags.Queue
}

func newSweep() *cobra.Command {
	var (
		told flags.StoryInput
		grid sweepFlags
	)
	cmd := &cobra.Command{
		Use:   "sweep SCENARIO|SOURCE",
		Short: "Simulates a grid of changes and shows the points side by side",
		Long: `sweep simulates a story once for each point of a grid, as homenode simulate does, and beside them the story as it
is: which of the settings is best, by how much, and with how many of the seeds (docs/sweeps.md). The points are
simulated on the cores of this machine, or by the homenode work processes of --queue.

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
			return cmp.Or(grid.run(cmd, s, o.Silent, &told.Config, told.Choices, least, &told.Out), told.Src.Incomplete())
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
	f.queue.Register(cmd)
}

// check looks at the flags before anything is read.
func (f *sweepFlags) Check() error {
	switch {
	case f.grid == nil:
		return errors.New("want --grid: what to simulate, such as --grid 'nodesPerSocket=today,2' (docs/sweeps.md)")
	case f.queue.URL == "" && f.queue != flags.Queue{}:
		return errors.New("--token-file, --creds and --queue-ca: only with --queue URL")
	}
	return nil
}

// run simulates the grid and writes what it came to.
func (f *sweepFlags) run(cmd *cobra.Command, story *numa.Story, silent bool, config *flags.Config, choices vnuma.Choices, least finding.Severity, out *flags.Output) error {
	o := sweep.Options{Choices: choices, Version: version.String(), Silent: silent}
	name, text, err := config.Text()
	if err != nil {
		return err
	}
	if name != "" {
		o.ConfigName, o.Config, o.Today = name, string(text), time.Now().Format(time.DateOnly)
	}
	plan, err := sweep.New(story, f.grid, o)
	if err != nil {
		return err
	}
	result, err := f.simulate(cmd, plan)
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

// simulate does the runs, here or by the workers of the queue.
func (f *sweepFlags) simulate(cmd *cobra.Command, plan *sweep.Plan) (*sweep.Result, error) {
	line := flags.NewQueueProgress(cmd, "simulated", "run", "homenode work --queue URL")
	defer line.Clear()
	how := sweep.How{Progress: line.Show}
	if f.queue.URL != "" {
		tell := flags.Teller(cmd)
		c, err := f.queue.Dial(cmd, func(text string) { line.Clear(); tell(text) })
		if err != nil {
			return nil, err
		}
		defer c.Close()
		line.Workers, how.Queue = true, c
	}
	return plan.Run(cmd.Context(), how)
}
