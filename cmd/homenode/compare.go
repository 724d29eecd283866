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
	"homenode/output/form"
	"homenode/output/measure"
	"homenode/source/benchmark"
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
			if dash < 1 || dash == len(args) {
				return errors.New("want files on both sides of --, as in: homenode compare before.txt -- after.txt")
			}
			if err := errors.Join(eachOnce(args[:dash]), eachOnce(args[dash:])); err != nil {
				return err
			}
			captured, err := areCaptures(cmd.Context(), args[:dash], args[dash:])
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
	out.Register(cmd, form.Tables...)
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
		runs  [2][]*benchmark.Run
		notes []string
	)
	for i, names := range [][]string{a, b} {
		set := &sets[i]
		for _, name := range names {
			got, err := readRuns(ctx, name, set, &notes)
			if err != nil {
				return nil, err
			}
			runs[i] = append(runs[i], got...)
		}
		for _, note := range compare.Means(runs[i]) {
			notes = append(notes, "AB"[i:i+1]+": "+note)
		}
		if set.Runs = len(runs[i]); set.Runs == 0 {
			return nil, fmt.Errorf("%s: found no result of a benchmark", strings.Join(names, " "))
		}
	}
	both := compare.Sets(runs[0], runs[1])
	if len(both.Metrics) == 0 {
		return nil, fmt.Errorf("nothing to compare: no metric is in both sets (A has %s; B has %s)", kinds(runs[0]), kinds(runs[1]))
	}
	return compare.Of(sets[0], sets[1], both, notes), nil
}

// kinds names the tools and test cases of runs.
func kinds(runs []*benchmark.Run) string {
	var list []string
	seen := map[string]bool{}
	for _, r := range runs {
		if l := r.Label(); !seen[l] {
			seen[l] = true
			list = append(list, l)
		}
	}
	const few = 3
	if len(list) > few {
		list = append(list[:few:few], fmt.Sprintf("%d more", len(list)-few))
	}
	return strings.Join(list, ", ")
}

// readRuns reads a file, or all results in a folder and the folders in it.
func readRuns(ctx context.Context, name string, set *compare.Set, notes *[]string) (runs []*benchmark.Run, err error) {
	if _, err := os.Stat(name); err != nil && strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("%w (flags stand before --)", err)
	}
	results, doubts, err := open.Benchmarks(ctx, []string{name})
	*notes = append(*notes, doubts...)
	for _, r := range results {
		set.Files = append(set.Files, r.Name)
		runs = append(runs, r.Runs...)
	}
	return runs, err
}
