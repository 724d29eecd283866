package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/measure/compare"
	"homenode/output/format"
	"homenode/output/measure"
	"homenode/source/open"
)

// comparing has the flags of compare.
type comparing struct {
	src      flags.Source
	out      flags.Output
	choose   flags.Choice
	config   flags.Config
	part     flags.Filter
	captures twoCaptures
	failOn   string
}

func newCompare() *cobra.Command {
	var c comparing
	cmd := described("compare", &cobra.Command{
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.out.Check(cmd); err != nil {
				return err
			}
			dash := cmd.ArgsLenAtDash()
			if c.captures.at != "" {
				if dash >= 0 {
					return errors.New("--at: found two sets, want one that it divides")
				}
				return c.compareCaptures(cmd, args, args)
			}
			if dash <= 0 && len(args) == 2 { // one on each side
				dash = 1
			}
			if dash == 0 { // it ends the flags, and another one the first side
				if dash = slices.Index(args, "--"); dash > 0 {
					args = slices.Delete(args, dash, dash+1)
				}
			}
			if dash < 1 || dash == len(args) {
				return errors.New("want A and B, or several on each side of --: homenode compare before.json after.json, homenode compare *.txt -- later/*.txt")
			}
			return c.compare(cmd, args[:dash], args[dash:])
		},
	})
	flags.Group(cmd, "Compare", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&c.failOn, "fail-on", "", "makes the exit code 1: worse, or of two fleets the least severity of a new or worse finding (default: never, of two fleets medium)")
	}, c.captures.register)
	flags.Group(cmd, "Show", func(cmd *cobra.Command) { c.out.Register(cmd, format.Tables...) }, c.part.Register)
	flags.Group(cmd, "Judge", c.choose.Register, c.config.Register)
	flags.Group(cmd, "Source", c.src.Register)
	return cmd
}

// worse reports whether the exit code says that something is worse; an error where --fail-on names a severity.
func (c *comparing) worse() (bool, error) {
	if !slices.Contains([]string{"", "never", "worse"}, c.failOn) {
		return false, fmt.Errorf("--fail-on: found %q, want never or worse (a severity is for two fleets)", c.failOn)
	}
	return c.failOn == "worse", nil
}

// compare finds out what both sides are, and compares them.
func (c *comparing) compare(cmd *cobra.Command, a, b []string) error {
	if err := errors.Join(eachOnce(a), eachOnce(b)); err != nil {
		return err
	}
	if areMoved(cmd, b) {
		return c.compareMoved(cmd, a, b)
	}
	if areFleets(a, b) && len(a) == 1 && len(b) == 1 {
		return c.compareFleets(cmd, a[0], b[0])
	}
	captured, oneSide := areCaptures(cmd, a, b)
	switch {
	case captured:
		return c.compareCaptures(cmd, a, b)
	case oneSide != nil && !slices.Contains(slices.Concat(a, b), open.Demo): // the demo is a fleet too
		return oneSide
	}
	report, err := compareFiles(cmd.Context(), a, b)
	if err != nil {
		if len(a) == 1 && len(b) == 1 && areInventories(cmd.Context(), a[0], b[0]) {
			return c.compareFleets(cmd, a[0], b[0])
		}
		return cmp.Or(missing(slices.Concat(a, b)), oneSide, err)
	}
	fails, err := c.worse()
	if err != nil {
		return err
	}
	err = c.out.Print(cmd, measure.Compare(report))
	if err == nil && fails && report.Count(compare.Worse) > 0 {
		return flags.ErrFindings
	}
	return err
}

// missing returns the error of the first file that there is none of.
func missing(paths []string) error {
	for _, path := range paths {
		if strings.HasPrefix(path, "-") { // a flag behind --
			return nil
		}
		if _, err := os.Stat(path); err != nil && path != open.Demo {
			return err
		}
	}
	return nil
}

// areInventories reports whether each of the files holds a fleet.
func areInventories(ctx context.Context, paths ...string) bool {
	for _, path := range paths {
		if _, unread, err := open.Fleet(ctx, []string{path}, open.Options{}); err != nil || len(unread) > 0 {
			return false
		}
	}
	return true
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
