package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/form"
)

func newSize() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "size",
		Short: "Answers an architect's sums: CPU for I/O, dumps, how many VMs fit, vCPU speed, pages, latency",
		Long: `size answers sums of capacity with the published measurements behind them, or with your own
(homenode size calibrate). Each answer says first what it assumes and where each figure is from, then the result, then
what would change it.`,
		Example: `  homenode size fit demo --cluster prod-a --hosts 2x32c/1TB,2x48c/2TB
  homenode size io --published`,
		Args: cobra.ArbitraryArgs,
		RunE: subcommand,
	}
	cmd.AddCommand(
		newSizeCalibrate(),
		newSizeDump(),
		newSizeFit(),
		newSizeIO(),
		newSizePages(),
		newSizeLatency(),
		newSizeRightSize(),
		newSizeSpeed(),
	// one line for each, in the order of names
	)
	return cmd
}

// subcommand prints the help; it refuses what is no subcommand, and names those that are
// spelt nearly so.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "\n  Did you mean this?\n  " + strings.Join(near, "\n  ")
	} else {
		text += ": " + cmd.CommandPath() + " --help lists them"
	}
	return errors.New(text)
}

// sizeFlags are those that all size commands have.
type sizeFlags struct {
	out outputFlags
}

func (f *sizeFlags) register(cmd *cobra.Command) { f.out.register(cmd, form.Names...) }

// check looks at the flags before anything is read.
func (f *sizeFlags) check() error { return f.out.check() }

// write writes the answer in the form that was asked for.
func (f *sizeFlags) write(cmd *cobra.Command, a *answer.Answer) error {
	a.Version = 2 // 1 had sentences as notes
	return f.out.print(cmd, a)
}

// memorySize reads an amount of memory or of a disk; its error shows one, not a block.
func memorySize(text string) (numa.Bytes, error) {
	v, err := unit.ParseSize(text)
	if err != nil {
		return 0, fmt.Errorf("found %q, want a size such as 512GB or 1.5TB", text)
	}
	return v, nil
}
