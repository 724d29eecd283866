//go:build linux

// Command simbench measures the speed and memory of the simulated NUMA scheduler: the kernel on
// different kinds of days, a large fleet, with and without a trace, and compared with CloudSim
// Plus on a fleet that both can represent. The contenders run in turns, each in its own
// process; the results are medians.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "simbench:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "run" {
		m, err := simulate(args[1:])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	s := settings{}
	fl := flag.NewFlagSet("simbench", flag.ContinueOnError)
	fl.IntVar(&s.hosts, "hosts", 2000, "hosts of the large fleet")
	fl.IntVar(&s.vms, "vms", 100_000, "VMs of the large fleet")
	fl.IntVar(&s.hours, "hours", 24, "simulated hours of the large fleet")
	fl.IntVar(&s.rounds, "rounds", 5, "rounds; each one runs every contender once")
	fl.IntVar(&s.slowRounds, "slow-rounds", 3, "rounds of the large fleet and of CloudSim Plus")
	fl.StringVar(&s.cloudsim, "cloudsim", "", "CloudSim Plus, as scripts/bench-cloudsim makes it; empty leaves it out")
	fl.BoolVar(&s.markdown, "markdown", false, "print the tables as Markdown")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() > 0 {
		return fmt.Errorf("found the argument %q, want flags only", fl.Arg(0))
	}
	return measure(&s)
}

// settings has the flags.
type settings struct {
	hosts, vms, hours  int
	rounds, slowRounds int
	cloudsim           string
	markdown           bool
}
