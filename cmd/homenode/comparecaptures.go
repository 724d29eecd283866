package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/measure/captures"
	"homenode/output/measure"
	"homenode/rules"
	verdict "homenode/rules/verdict/recording"
	"homenode/source/open"
	"homenode/source/ticks"
)

// twoCaptures has the flags of compare that are for captures alone.
type twoCaptures struct {
	at, host string
	details  bool
}

func (t *twoCaptures) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&t.at, "at", "", "one capture, before and after this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&t.host, "host-name", "", "name of the host, for captures that call it localhost or do not name it")
	fl.BoolVar(&t.details, "details", false, "also the VMs of captures that do not differ; of fleets a row for each VM and setting")
}

// areCaptures reports whether both sides are captures of hosts. Results of benchmarks that hold
// captures too, as folders of HCIBench can, are results of benchmarks.
func areCaptures(cmd *cobra.Command, a, b []string) (bool, error) {
	if files, err := flags.CaptureFiles(cmd); files != nil || err != nil {
		return true, err // of a page
	}
	ctx := cmd.Context()
	var is [2]string
	for side, args := range [][]string{a, b} {
		for _, arg := range args {
			if arg != open.Demo {
				if l, err := ticks.List(arg); err != nil || len(l.Sources) == 0 {
					continue // what it is otherwise, the reader of benchmarks says
				}
				if found, _, err := open.Benchmarks(ctx, []string{arg}); err == nil && len(found) > 0 {
					continue
				}
			}
			is[side] = arg
		}
	}
	switch {
	case is[0] != "" && is[1] != "":
		return true, nil
	case is[0] != "" || is[1] != "":
		return false, fmt.Errorf("%s is a capture, and the other side has none: want captures on both sides of --, or results of benchmarks", cmp.Or(is[0], is[1]))
	}
	return false, nil
}

// compareCaptures compares two captures, or what is before and after --at.
func (c *comparing) compareCaptures(cmd *cobra.Command, a, b []string) error {
	t := &c.captures
	if len(a) == 0 {
		return errors.New("--at: want a capture, as in: homenode compare night.csv --at '2026-11-03 02:00'")
	}
	fails, err := c.worse()
	if err != nil {
		return err
	}
	shown, err := c.part.Compile()
	if err != nil {
		return err
	}
	var sides [2]*verdict.Judged
	var notes []string
	var incomplete error
	for i, args := range [][]string{a, b} {
		in := flags.Captures{Host: t.host}
		if t.at != "" {
			*[]*string{&in.To, &in.From}[i] = t.at
			if err := in.ReadTimes(); err != nil {
				return fmt.Errorf("--at: %w", errors.Unwrap(err))
			}
		}
		recordings, found, err := in.Read(cmd, args, rules.CaptureOptions(nil), nil)
		if err != nil {
			return err
		}
		for _, n := range found {
			notes = append(notes, n.String())
		}
		w, err := shown.Watched(rules.Watch(recordings, nil, rules.Options{}))
		if err != nil {
			return err
		}
		sides[i], incomplete = verdict.Of(w), cmp.Or(incomplete, in.Incomplete())
	}
	r, err := captures.Compare(sides[0], sides[1])
	if err != nil {
		return err
	}
	r.Notes = append(r.Notes, notes...)
	if err := c.out.Print(cmd, measure.Captures(r, t.details)); err != nil {
		return err
	}
	if v := r.All.Verdict; fails && (v == captures.Worse || v == captures.Mixed) {
		return flags.ErrFindings
	}
	return incomplete
}
