package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/change/sweep"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/output/sweeps"
	"homenode/rules/finding"
)

// sweepFlags make a grid of a simulation, and name the queue when others are to do it.
type sweepFlags struct {
	asked []string
	queue queueAccess
}

// sweepForms are the forms of a sweep.
var sweepForms = []string{"table", "json", "csv"}

func (f *sweepFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.asked, "sweep", nil, "simulate each of these values instead: 'vm=sql* vcpus=8,12', 'nodesPerSocket=1,2', 'lose-host=esx01,esx02', 'cpu=x0.5,x2', 'seed=1..10'; several are combined to a grid (repeatable; docs/sweeps.md)")
	f.queue.register(cmd)
}

// check looks at the flags together.
func (f *sweepFlags) check(cmd *cobra.Command, format string) error {
	switch {
	case f.asked == nil && f.queue != queueAccess{}:
		return errors.New("--queue and its flags: only with --sweep")
	case f.asked == nil:
		return nil
	case f.queue.url == "" && f.queue != queueAccess{}:
		return errors.New("--token-file, --creds and --queue-ca: only with --queue URL")
	case !slices.Contains(sweepForms, format):
		return fmt.Errorf("--format: found %q, want one of %s for a sweep", format, strings.Join(sweepForms, ", "))
	}
	for _, flag := range []string{"vm", "host", "why", "trace", "details", "table"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--sweep: not with --%s, which is about one simulation", flag)
		}
	}
	return nil
}

// run simulates the grid and writes what it came to.
func (f *sweepFlags) run(cmd *cobra.Command, story *numa.Story, silent bool, config *configFlag, choices vnuma.Choices, least finding.Severity, out *outputFlags) error {
	o := sweep.Options{Choices: choices, Version: version(), Silent: silent}
	name, text, err := config.text()
	if err != nil {
		return err
	}
	if name != "" {
		o.ConfigName, o.Config, o.Today = name, string(text), time.Now().Format(time.DateOnly)
	}
	plan, err := sweep.New(story, f.asked, o)
	if err != nil {
		return err
	}
	result, err := f.simulate(cmd, plan)
	if err != nil {
		return err
	}
	err = out.write(cmd, func(w io.Writer, colour bool) error {
		switch out.format {
		case "json":
			return sweeps.JSON(w, result)
		case "csv":
			return sweeps.CSV(w, result)
		}
		return sweeps.Text(w, result, colour)
	})
	switch {
	case err != nil:
		return err
	case result.AtLeast(least) > 0:
		return errFindings
	case result.Failed() > 0:
		return fmt.Errorf("%d of %d points could not be simulated", result.Failed(), len(result.Points))
	}
	return nil
}

// simulate does the runs, here or by the workers of the queue.
func (f *sweepFlags) simulate(cmd *cobra.Command, plan *sweep.Plan) (*sweep.Result, error) {
	line := newQueueProgress(cmd, "simulated", "run", "homenode work --queue URL")
	defer line.clear()
	how := sweep.How{Progress: line.show}
	if f.queue.url != "" {
		tell := teller(cmd)
		c, err := f.queue.dial(cmd, func(text string) { line.clear(); tell(text) })
		if err != nil {
			return nil, err
		}
		defer c.Close()
		line.workers, how.Queue = true, c
	}
	return plan.Run(cmd.Context(), how)
}
