package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/size"
	show "homenode/output/size/pages"
	"homenode/size/pages"
)

// pagesFlags are the flags of size pages.
type pagesFlags struct {
	size    sizeFlags
	in      captureFlags
	model   modelFlags
	details bool
	checks  bool // --published

	memory, consumed, large, gain, host, release, vm string
}

func newSizePages() *cobra.Command {
	var f pagesFlags
	cmd := &cobra.Command{
		Use:   "pages FILE... | --memory SIZE | --simulate SOURCE",
		Short: "Memory that page sharing frees once large pages are small: counted, as published or simulated",
		Long: `pages says what page sharing saves, what it could save once large pages are small, and what stands in its way.

From captures, as homenode capture reads them: what is shared, what of it is saved, and the interval of what could be
saved more; no counter tells what is equal inside large pages (docs/size/pages.md).
With --memory: what the published share comes to, without a capture.
With --simulate: what the model makes of a story or a fleet with large pages always and on demand, and with each
salting (Mem.ShareForceSalting); how many pages are alike nobody knows, --alike states it.`,
		Example: `  homenode size pages demo
  homenode size pages esx07.csv.gz
  homenode size pages --memory 1.5TB --consumed 1.2TB
  homenode size pages --simulate demo
  homenode size pages --published
  homenode size pages --simulate https://vc01.example.com --alike 15%`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.memory, "memory", "", "memory configured of all VMs, where nothing was counted: 1.5TB")
	fl.StringVar(&f.consumed, "consumed", "", "what of it they take on the hosts")
	fl.StringVar(&f.gain, "gain", "", "share of memory that sharing frees; as published when not given (20 %, 5 to 30 %)")
	fl.StringVar(&f.large, "large", "", "share of memory for which guests ask for large pages; as published when not given (2.6 %)")
	fl.StringVar(&f.host, "host-memory", "", "memory of one host: when it breaks large pages by itself")
	fl.StringVar(&f.release, "release", "8.0U3", "ESXi release, for --host-memory")
	fl.StringVar(&f.vm, "vm", "", "memory of the largest VM: how long the first pass over it takes")
	fl.StringVar(&f.in.host, "host", "", "name of the host, for files that call it localhost or do not name it")
	fl.StringVar(&f.in.from, "from", "", "leave out what was before this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&f.in.to, "to", "", "leave out what was after this time: the last tick before it is taken")
	fl.BoolVar(&f.checks, "published", false, "show the published figures beside what they come to")
	fl.BoolVar(&f.details, "details", false, "every VM")
	f.model.register(cmd)
	f.size.register(cmd)
	return cmd
}

// counted and estimated are the flags of one way alone.
var (
	countedFlags   = []string{"host", "from", "to"}
	estimatedFlags = []string{"memory", "consumed", "host-memory", "release", "vm"}
)

func (f *pagesFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.size.check(); err != nil {
		return err
	}
	if f.checks {
		if len(args) > 0 || cmd.Flags().NFlag() > 1+changed(cmd, "format", "output") {
			return errors.New("--published: stands alone, beside --format and --output")
		}
		return f.size.write(cmd, size.Published("size pages", pages.Checks()))
	}
	gain := pages.PublishedGain()
	if f.gain != "" {
		share, err := unit.ParsePercent(f.gain)
		if err != nil {
			return fmt.Errorf("--gain: %w", err)
		}
		gain = unit.Exactly(share, unit.Given, "--gain", "")
	}
	const notSimulated = "only with --simulate"
	switch {
	case f.model.source != "" && len(args) > 0:
		return fmt.Errorf("--simulate: found %s beside it, want its source alone", args[0])
	case f.model.source != "":
		err := cmp.Or(otherWay(cmd, countedFlags, "not with --simulate"), otherWay(cmd, append(estimatedFlags, "gain"), "not with --simulate"))
		if err != nil {
			return err
		}
		return f.model.run(cmd, &f.size, f.large, f.details)
	case len(args) == 0 && f.memory == "":
		return errors.New("want a FILE to read, --memory or --simulate")
	}
	if err := otherWay(cmd, simulatedFlags, notSimulated); err != nil {
		return err
	}
	if len(args) > 0 {
		return f.count(cmd, args, gain)
	}
	return f.estimate(cmd, gain)
}

// changed counts those of the flags that were given.
func changed(cmd *cobra.Command, flags ...string) (n int) {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			n++
		}
	}
	return n
}

// otherWay returns an error when one of these flags was given.
func otherWay(cmd *cobra.Command, flags []string, why string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: %s", name, why)
		}
	}
	return nil
}

func (f *pagesFlags) estimate(cmd *cobra.Command, gain unit.Figure[unit.Share]) error {
	if err := cmp.Or(otherWay(cmd, countedFlags, "only with a FILE to read"), otherWay(cmd, []string{"details"}, "not with --memory")); err != nil {
		return err
	}
	q := &pages.Request{Gain: gain, Large: pages.PublishedLarge(), GainAt: pages.PublishedLarge().Value}
	for _, one := range []struct {
		flag, text string
		to         *numa.Bytes
	}{{"memory", f.memory, &q.Memory}, {"consumed", f.consumed, &q.Consumed}, {"host-memory", f.host, &q.Host}, {"vm", f.vm, &q.VM}} {
		if one.text == "" {
			continue
		}
		var err error
		if *one.to, err = memorySize(one.text); err != nil {
			return fmt.Errorf("--%s: %w", one.flag, err)
		}
	}
	if q.Consumed > q.Memory {
		return fmt.Errorf("--consumed: found %s, want no more than --memory, %s", q.Consumed, q.Memory)
	}
	if q.VM > q.Memory {
		return fmt.Errorf("--vm: found %s, want no more than --memory of all VMs, %s", q.VM, q.Memory)
	}
	if f.large != "" {
		share, err := unit.ParsePercent(f.large)
		if err != nil {
			return fmt.Errorf("--large: %w", err)
		}
		q.Large = unit.Exactly(share, unit.Given, "--large", "")
	}
	if gain.Origin == unit.Given {
		q.GainAt = q.Large.Value
	}
	var err error
	if q.Release, err = numa.ParseRelease(f.release); err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	return f.size.write(cmd, show.Estimated(q, pages.Estimate(q)))
}

// count reckons with the last tick of each host in the captures.
func (f *pagesFlags) count(cmd *cobra.Command, args []string, gain unit.Figure[unit.Share]) error {
	err := cmp.Or(otherWay(cmd, append(estimatedFlags, "large"), "only without a FILE to read"), f.in.check(args, false))
	if err != nil {
		return err
	}
	hosts, err := f.readHosts(cmd, args)
	if err != nil {
		return err
	}
	r := pages.Count(hosts)
	if err := tellsNothing(r); err != nil {
		return err
	}
	return cmp.Or(f.size.write(cmd, show.Counted(r, strings.Join(args, ", "), gain, f.details)), f.in.incomplete())
}

// tellsNothing returns an error when no host states anything about sharing.
func tellsNothing(r *pages.Counted) error {
	for i := range r.Hosts {
		c := &r.Hosts[i]
		if c.Shared != nil {
			return nil
		}
		for j := range c.VMs {
			if v := &c.VMs[j]; v.Shared != nil || v.Hint != nil || v.Large != nil {
				return nil
			}
		}
	}
	return fmt.Errorf("%s: found no counter about page sharing, want %s (esxtop -b -a records all counters)", r.Hosts[0].Host, strings.Join(r.Hosts[0].Missing, ", "))
}
