package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/measure/compare"
	"homenode/output/format"
	"homenode/output/measure"
	"homenode/source/open"
)

func newCompare() *cobra.Command {
	var (
		out    flags.Output
		failOn string
		two    twoCaptures
	)
	cmd := described("compare", &cobra.Command{
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.Check(cmd); err != nil {
				return err
			}
			if failOn != "never" && failOn != "worse" {
				return fmt.Errorf("--fail-on: found %q, want never or worse", failOn)
			}
			dash := cmd.ArgsLenAtDash()
			if two.at != "" {
				if dash >= 0 {
					return errors.New("--at: found two sets, want one that it divides")
				}
				return two.compare(cmd, &out, args, args, failOn)
			}
			if dash < 0 && len(args) == 2 { // one on each side
				dash = 1
			}
			if dash < 1 || dash == len(args) {
				return errors.New("want files on both sides of --, as in: homenode compare before.txt -- after.txt")
			}
			if err := errors.Join(eachOnce(args[:dash]), eachOnce(args[dash:])); err != nil {
				return err
			}
			if areMoved(cmd, args[dash:]) {
				return compareMoved(cmd, &out, args[:dash], args[dash:], failOn)
			}
			captured, err := areCaptures(cmd, args[:dash], args[dash:])
			switch {
			case err != nil:
				return err
			case captured:
				return two.compare(cmd, &out, args[:dash], args[dash:], failOn)
			}
			report, err := compareFiles(cmd.Context(), args[:dash], args[dash:])
			if err != nil {
				return err
			}
			err = out.Print(cmd, measure.Compare(report))
			if err == nil && failOn == "worse" && report.Count(compare.Worse) > 0 {
				return flags.ErrFindings
			}
			return err
		},
	})
	out.Register(cmd, format.Tables...)
	two.register(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "never", "verdict that makes the exit code 1: never, worse")
	return cmd
}

// eachOnce refuses a file that is named twice on one side: its runs would count twice, and feign
// a certainty that is not there.
func eachOnce(paths []string) error {
	seen := map[string]bool{}
	for _, path := range paths {
		clean := filepath.Clean(path)
		if seen[clean] {
			return fmt.Errorf("%s is named twice on one side: its runs would count twice", path)
		}
		seen[clean] = true
	}
	return nil
}

// compareFiles reads and compares both sets.
func compareFiles(ctx context.Context, a, b []string) (*compare.Report, error) {
	var (
		sets  [2]compare.Set
		notes []string
	)
	for i, names := range [][]string{a, b} {
		for _, name := range names {
			if _, err := os.Stat(name); err != nil && strings.HasPrefix(name, "-") {
				return nil, fmt.Errorf("%w (flags stand before --)", err)
			}
			results, doubts, err := open.Benchmarks(ctx, []string{name})
			if err != nil {
				return nil, err
			}
			notes = append(notes, doubts...)
			sets[i].Add(results)
		}
		if sets[i].Runs == 0 {
			return nil, fmt.Errorf("%s: found no result of a benchmark", strings.Join(names, " "))
		}
	}
	return compare.Of(&sets[0], &sets[1], notes)
}
