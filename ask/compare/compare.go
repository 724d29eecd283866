// Package compare has the question how two fleets, captures or benchmarks differ.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/measure/compare"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/truth"
	"example.org/homenode/source/open"
	"example.org/homenode/source/ticks"
)

// Entry is the question.
var Entry = &ask.Entry{Name: "compare", Title: "Compare", Configured: true, Lead: "Choose two captures, or one and a time: B, or what comes after, stands beside A.", New: func() ask.Question { return &Compare{} }, Budget: ask.Budget{Steps: ask.MostMegabytes}}

// Compare asks how B differs from A: two fleets, two captures, two sets of benchmark results, or a fleet before and
// after a migration.
type Compare struct {
	ask.Asked
	A          []string `ask:"a,arg"`
	B          []string `ask:"b,arg"`
	FailOn     string   `ask:"fail-on" group:"Compare" help:"makes the exit code 1: worse, or of two fleets the least severity of a new or worse finding (default: never, of two fleets medium)"`
	At         string   `ask:"at" label:"Time, UTC" example:"2026-11-03 02:00" help:"one capture, before and after this time: '2026-11-03 02:00' in UTC, or RFC 3339"`
	Host       string   `ask:"host-name" label:"Name of the host" example:"esx07" help:"name of the host, for captures that call it localhost or do not name it"`
	Details    bool     `ask:"details" label:"Also VMs that are not told apart" help:"also the VMs of captures that do not differ; of fleets a row for each VM and setting"`
	ask.Filter `group:"Show"`
	ask.Choice `group:"Judge"`
	ask.Source `only:"nodes-per-socket product evidence assume-host" group:"Source"`
}

// Steps returns the size of the files in megabytes.
func (f *Compare) Steps(e *ask.Env) (int, string, error) { return e.Megabytes(slices.Concat(f.A, f.B)) }

// Answer detects the type of both sides and compares them.
func (f *Compare) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	switch {
	case f.At != "" && len(f.B) > 0:
		return nil, ask.Wrong("at", errors.New("found two sets, want one that it divides"))
	case f.At != "" && len(f.A) == 0:
		return nil, ask.Wrong("at", errors.New("want a capture, as in: homenode compare night.csv --at '2026-11-03 02:00'"))
	case f.At != "":
		return f.captures(ctx, e, f.A, f.A)
	case len(f.A) == 0 || len(f.B) == 0:
		return nil, errors.New("want A and B, or several on each side of --: homenode compare before.json after.json, homenode compare *.txt -- later/*.txt")
	}
	if err := cmp.Or(eachOnce(f.A), eachOnce(f.B)); err != nil {
		return nil, err
	}
	if e.Own != nil { // a page compares captures only
		return f.captures(ctx, e, f.A, f.B)
	}
	if areMoved(f.B) {
		return f.moved(ctx)
	}
	if areFleets(f.A, f.B) && len(f.A) == 1 && len(f.B) == 1 {
		return f.fleets(ctx, e, f.A[0], f.B[0])
	}
	captured, capture := areCaptures(ctx, f.A, f.B)
	if captured {
		reply, err := f.captures(ctx, e, f.A, f.B)
		if fleets, _, _ := f.inventories(ctx, errors.Is(err, ticks.ErrUnknown)); fleets { // archives of other tools
			return f.fleets(ctx, e, f.A[0], f.B[0])
		}
		return reply, err
	}
	demo := slices.Contains(slices.Concat(f.A, f.B), open.Demo) // a fleet too
	report, err := compareFiles(ctx, f.A, f.B)
	if err != nil || capture != "" && !demo {
		fleets, other, why := f.inventories(ctx, true)
		switch {
		case fleets: // a workbook or zip may be anything
			return f.fleets(ctx, e, f.A[0], f.B[0])
		case capture != "" && other != capture && why != nil: // the capture is an inventory
			return nil, why
		case capture != "":
			err = fmt.Errorf("%s is a capture, and the other side has none: want captures on both sides of --, or results of benchmarks", capture)
		case why != nil:
			err = why
		}
		return nil, cmp.Or(missing(slices.Concat(f.A, f.B)), err)
	}
	fails, err := f.worse()
	if err != nil {
		return nil, err
	}
	return reply(truth.Compare(report), fails && report.Count(compare.Worse) > 0), nil
}

// reply returns a reply with one answer; found sets the exit code.
func reply(a *answer.Answer, found bool) *ask.Reply {
	return &ask.Reply{Answers: []*answer.Answer{a}, Found: found}
}

// worse reports whether --fail-on worse was given. It returns an error for a severity.
func (f *Compare) worse() (bool, error) {
	if !slices.Contains([]string{"", "never", "worse"}, f.FailOn) {
		return false, ask.Wrong("fail-on", fmt.Errorf("found %q, want never or worse (a severity is for two fleets)", f.FailOn))
	}
	return f.FailOn == "worse", nil
}

// missing returns the error of the first file that does not exist.
func missing(paths []string) error {
	for _, path := range paths {
		if strings.HasPrefix(path, "-") { // a flag after --
			return nil
		}
		if _, err := os.Stat(path); err != nil && path != open.Demo {
			return err
		}
	}
	return nil
}

// inventories reports whether each side is one fleet, unless asked is false. If one side is, other names the other one, and why is the reason why it is
// not.
func (f *Compare) inventories(ctx context.Context, asked bool) (fleets bool, other string, why error) {
	if !asked || len(f.A) != 1 || len(f.B) != 1 {
		return false, "", nil
	}
	read := 0
	for _, path := range []string{f.A[0], f.B[0]} {
		if _, _, err := open.Fleet(ctx, []string{path}, open.Options{}); err != nil {
			other, why = path, err
		} else {
			read++
		}
	}
	if read != 1 {
		return read == 2, "", nil
	}
	return false, other, why
}

// eachOnce rejects a file that is named twice on one side: counting its runs twice would understate the uncertainty.
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
