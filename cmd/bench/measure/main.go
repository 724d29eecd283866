//go:build linux

// Command measurebench compares the kernels of homenode measure with equivalent ones in C, with multichase and with
// likwid-bench. They alternate in turns of milliseconds in one run, on the same processors. The results are ratios, of
// which the median matters, because a shared machine also changes between two turns.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"example.org/homenode/cmd/bench/contest"
	"example.org/homenode/measure/guest/cpu"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "measurebench:", err)
		os.Exit(2)
	}
}

// settings has the flags and facts about the machine.
type settings struct {
	rounds         int
	most           int // size of the largest working set in bytes
	cc, multichase string
	homenode       string
	likwid         string
	markdown       bool
	cpus           []int // processors that can run a thread
	calm           calm
}

func run(ctx context.Context, args []string, w io.Writer) error {
	s := settings{}
	fl := flag.NewFlagSet("measurebench", flag.ContinueOnError)
	fl.IntVar(&s.rounds, "rounds", 15, "rounds; each one runs every contender several times in turn")
	mib := fl.Int("most-mb", 256, "largest working set of the chase, in MiB")
	patience := fl.Duration("patience", time.Minute, "how long each part waits in all for moments in which nothing else runs")
	fl.StringVar(&s.cc, "cc", "cc", "C compiler")
	fl.StringVar(&s.multichase, "multichase", "", "folder of a clone of github.com/google/multichase that was built there; empty leaves it out")
	fl.StringVar(&s.likwid, "likwid", "likwid-bench", "likwid-bench; left out where there is none")
	fl.StringVar(&s.homenode, "homenode", "", "binary of homenode; empty leaves the whole command out")
	only := fl.String("only", "", "run these parts: chase, page, pingpong, bandwidth, command")
	fl.BoolVar(&s.markdown, "markdown", false, "print the tables as Markdown")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() > 0 || s.rounds < 1 || *mib < 1 {
		return errors.New("want flags only, at least one round and at least 1 MiB")
	}
	s.most = *mib << 20
	for n := range runtime.NumCPU() {
		if cpu.On(n, func() error { return nil }) == nil {
			s.cpus = append(s.cpus, n)
		}
	}
	if len(s.cpus) == 0 {
		return errors.New("no processor takes a thread")
	}
	debug.SetGCPercent(-1) // as the command does
	c, err := startPeer(ctx, s.cc)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := fmt.Fprintf(w, "%s, %d vCPUs, %s, %s. Counter %s MHz.\n", contest.CPUModel(), runtime.NumCPU(), runtime.Version(),
		time.Now().Format("2 January 2006"), contest.Figure(cpu.Hz()/1e6)); err != nil {
		return err
	}
	var goals []goal
	for _, part := range []struct {
		name string
		run  func(context.Context, *settings, *peer, io.Writer) ([]goal, error)
	}{{"chase", chaseLadder}, {"page", pageProbe}, {"pingpong", swaps}, {"bandwidth", reads}, {"command", command}} {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), part.name) {
			continue
		}
		s.calm.patience = *patience
		g, err := part.run(ctx, &s, c, w)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		goals = append(goals, g...)
		debug.FreeOSMemory()
	}
	if err := writeGoals(w, s.markdown, goals); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%v\n", &s.calm)
	return err
}
