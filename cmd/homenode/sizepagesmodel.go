package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/numa/unit"
	show "homenode/output/size/pages"
	"homenode/size/pages"
)

// modelFlags are those of the simulation.
type modelFlags struct {
	source      string
	src         sourceFlags
	hours       string
	alike, zero string
}

func (f *modelFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.source, "simulate", "", "story or SOURCE, as homenode simulate reads it, or demo: what the model makes of it")
	fl.StringVar(&f.hours, "hours", "2", "how long to simulate each setting")
	fl.StringVar(&f.alike, "alike", "", "share of memory that VMs of one guest OS have alike, where the story states none")
	fl.StringVar(&f.zero, "zero", "", "share of memory that is pages of zeros, where the story states none")
	f.src.register(cmd)
}

// simulatedFlags are the flags of this way alone.
var simulatedFlags = []string{"hours", "alike", "zero", "nodes-per-socket", "evidence", "assume-host", "password-file", "credentials", "tls-known-hosts", "tls-ca-certs", "insecure", "timeout"}

// run simulates each setting of large pages and salting.
func (f *modelFlags) run(cmd *cobra.Command, flags *sizeFlags, large string, details bool) error {
	m := &pages.Model{Workers: runtime.GOMAXPROCS(0)}
	for _, one := range []struct {
		flag, text string
		to         *unit.Share
	}{{"alike", f.alike, &m.Alike}, {"zero", f.zero, &m.Zero}, {"large", large, &m.Large}} {
		if one.text == "" {
			continue
		}
		var err error
		if *one.to, err = unit.ParsePercent(one.text); err != nil {
			return fmt.Errorf("--%s: %w", one.flag, err)
		}
	}
	if m.Alike+m.Zero > 1 {
		return fmt.Errorf("--alike: found %s beside %s of zeros, want no more than 100 %% together", m.Alike, m.Zero)
	}
	number, err := strconv.ParseFloat(f.hours, 64)
	if err != nil || !(number > 0 && number <= 168) {
		return fmt.Errorf("--hours: found %q, want a number of hours above 0 and at most 168", f.hours)
	}
	if m.Length = time.Duration(number * float64(time.Hour)).Round(time.Minute); m.Length <= 0 {
		return fmt.Errorf("--hours: found %q, want a minute or more", f.hours)
	}
	story, _, err := (&storyFlags{}).source(cmd, &f.src, f.source)
	if err != nil {
		return err
	}
	if len(story.Fleet.Hosts) == 0 {
		return fmt.Errorf("%s: found no host to simulate", f.source)
	}
	m.Story = story
	if m.Alike == 0 && !sharing(story) {
		return errors.New("--alike: nobody says how much memory VMs have alike: want a percentage such as 15, or loads with common= and image= in a story")
	}
	r, err := pages.Simulate(cmd.Context(), m)
	if err != nil {
		return err
	}
	if r.VMs == 0 {
		return fmt.Errorf("%s: no VM ran", f.source)
	}
	return cmp.Or(flags.write(cmd, show.Simulated(m, r, f.source, map[string]bool{"hours": cmd.Flags().Changed("hours")}, details)), f.src.incomplete())
}

// sharing reports whether any load of the story has pages that can be shared.
func sharing(s *numa.Story) bool {
	can := func(l *numa.Load) bool { return l.Zero > 0 || l.Common > 0 && l.Image != "" }
	for i := range s.Loads {
		if can(&s.Loads[i].Load) {
			return true
		}
	}
	return can(&s.Unstated.Value)
}
