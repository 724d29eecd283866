package recording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/change/sweep"
	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/output/change"
	"homenode/output/format"
	"homenode/rules/finding"
	"homenode/rules/simulate"
)

// simulateGrid simulates a story once for each point of a grid, and writes the points side by side.
func simulateGrid(cmd *cobra.Command, told *flags.StoryInput, grid []string, story *numa.Story, o simulate.Options, least finding.Severity) error {
	if !slices.Contains(format.Tables, told.Out.Format) {
		return fmt.Errorf("--format: found %q, want one of %s with --grid", told.Out.Format, strings.Join(format.Tables, ", "))
	}
	if err := flags.Refuse(cmd, "not with --grid: its points are compared as a whole", "why", "moment", "vm", "details", "table", "trace"); err != nil {
		return err
	}
	plan, err := sweep.New(story, grid, sweep.Options{Rules: o.Rules, Silent: o.Silent})
	if err != nil {
		return err
	}
	line := flags.NewProgress(cmd, "simulated", "run")
	result, err := plan.Run(cmd.Context(), sweep.How{Progress: line.Show})
	line.Clear()
	if err != nil {
		return err
	}
	err = told.Out.Print(cmd, change.Sweep(result))
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
