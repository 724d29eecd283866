package size

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/size"
	show "homenode/output/size/pages"
	"homenode/size/pages"
	"homenode/source/open"
	"homenode/source/ticks"
)

// pagesFlags are the flags of size pages.
type pagesFlags struct {
	common
	memory, consumed, large, gain, host, release, vm string
	story, hours, alike, zero                        string
	details                                          bool
}

func newPages() *cobra.Command {
	var f pagesFlags
	f.checks = func() (*answer.Answer, error) { return size.Published("size pages", pages.Checks()), nil }
	cmd := f.command("pages", cobra.ArbitraryArgs, f.answer)
	fl := cmd.Flags()
	fl.StringVar(&f.memory, "memory", "", "memory configured of all VMs, where nothing was counted: 1.5TB")
	fl.StringVar(&f.consumed, "consumed", "", "what of it they take on the hosts")
	fl.StringVar(&f.gain, "gain", "", "share of memory that sharing frees; as published when not given (20 %, 5 to 30 %)")
	fl.StringVar(&f.large, "large", "", "share of memory for which guests ask for large pages; as published when not given (2.6 %)")
	fl.StringVar(&f.host, "host-memory", "", "memory of one host: when it breaks large pages by itself")
	fl.StringVar(&f.release, "release", "8.0U3", "ESXi release, for --host-memory")
	fl.StringVar(&f.vm, "vm-memory", "", "memory of the largest VM: how long the first pass over it takes")
	fl.BoolVar(&f.details, "details", false, "every VM")
	fl.StringVar(&f.story, "simulate", "", "story or SOURCE, as homenode simulate reads it, or demo: what the model makes of it")
	fl.StringVar(&f.hours, "hours", "2", "how long to simulate each setting")
	fl.StringVar(&f.alike, "alike", "", "share of memory that VMs of one guest OS have alike, where the story states none")
	fl.StringVar(&f.zero, "zero", "", "share of memory that is pages of zeros, where the story states none")
	f.in.RegisterPart(cmd)
	f.src.Register(cmd)
	return cmd
}

// The flags of one way to ask alone.
var (
	counted   = []string{"host-name", "from", "to"}
	estimated = []string{"memory", "consumed", "host-memory", "release", "vm-memory"}
	simulated = []string{"hours", "alike", "zero", "nodes-per-socket", "assume-host", "credentials", "insecure"}
)

func (f *pagesFlags) answer(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	gain := pages.PublishedGain()
	if err := flags.Set("gain", f.gain, &gain, figure("gain")); err != nil {
		return nil, err
	}
	switch {
	case f.story != "" && len(args) > 0:
		return nil, fmt.Errorf("--simulate: found %s beside it, want its source alone", args[0])
	case f.story != "":
		return f.simulate(cmd)
	case len(args) == 0 && f.memory == "":
		return nil, errors.New("want a FILE to read, --memory or --simulate")
	}
	if err := flags.Refuse(cmd, "only with --simulate", simulated...); err != nil {
		return nil, err
	}
	if len(args) > 0 {
		return f.count(cmd, args, gain)
	}
	return f.estimate(cmd, gain)
}

// estimate answers what the published share comes to.
func (f *pagesFlags) estimate(cmd *cobra.Command, gain unit.Figure[unit.Share]) (*answer.Answer, error) {
	q := &pages.Request{Gain: gain, Large: pages.PublishedLarge(), GainAt: pages.PublishedLarge().Value}
	err := cmp.Or(flags.Refuse(cmd, "only with a FILE to read", counted...), flags.Refuse(cmd, "not with --memory", "details"),
		flags.Set("memory", f.memory, &q.Memory, memory), flags.Set("consumed", f.consumed, &q.Consumed, memory),
		flags.Set("host-memory", f.host, &q.Host, memory), flags.Set("vm-memory", f.vm, &q.VM, memory),
		flags.Set("large", f.large, &q.Large, figure("large")), flags.Set("release", f.release, &q.Release, numa.ParseRelease))
	switch {
	case err != nil:
		return nil, err
	case q.Consumed > q.Memory:
		return nil, fmt.Errorf("--consumed: found %s, want no more than --memory, %s", q.Consumed, q.Memory)
	case q.VM > q.Memory:
		return nil, fmt.Errorf("--vm-memory: found %s, want no more than --memory of all VMs, %s", q.VM, q.Memory)
	case gain.Origin == unit.Given:
		q.GainAt = q.Large.Value
	}
	return show.Estimated(q, pages.Estimate(q)), nil
}

// count answers by the last tick of each host in the captures.
func (f *pagesFlags) count(cmd *cobra.Command, args []string, gain unit.Figure[unit.Share]) (*answer.Answer, error) {
	err := cmp.Or(flags.Refuse(cmd, "only without a FILE to read", slices.Concat(estimated, []string{"large"})...), f.in.Check(args))
	if err != nil {
		return nil, err
	}
	last := pages.Latest{From: f.in.Window[0], To: f.in.Window[1]}
	visit := ticks.Visit{
		Tick: func(t *numa.Tick) error { last.Add(t); return nil },
		Done: func(_ *ticks.File, err error) error {
			if err != nil {
				f.in.Failed++
				fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", flags.ErrorText(err))
			}
			return nil
		},
	}
	o := ticks.Options{Host: f.in.Host, From: last.From, To: last.To, Workers: runtime.GOMAXPROCS(0)}
	for _, arg := range args {
		if _, err := open.Ticks(cmd.Context(), arg, cmd.InOrStdin(), o, visit); errors.Is(err, ticks.ErrUnknown) {
			return nil, fmt.Errorf("%w; what a fleet or story would share is simulated: --simulate %s", err, arg)
		} else if err != nil {
			return nil, err
		}
	}
	hosts := last.Hosts()
	switch {
	case len(hosts) == 0 && f.in.Failed > 0:
		return nil, errors.New("nothing could be read")
	case len(hosts) == 0:
		return nil, flags.NothingFound(strings.Join(args, ", "), last.Outside, nil)
	}
	r := pages.Count(hosts)
	return show.Counted(r, strings.Join(args, ", "), gain, f.details), tellsNothing(r)
}

// simulate answers by the model, with each setting of large pages and salting.
func (f *pagesFlags) simulate(cmd *cobra.Command) (*answer.Answer, error) {
	m := &pages.Model{Workers: runtime.GOMAXPROCS(0)}
	err := cmp.Or(flags.Refuse(cmd, "not with --simulate", slices.Concat(counted, estimated, []string{"gain"})...), flags.Set("alike", f.alike, &m.Alike, unit.ParsePercent),
		flags.Set("zero", f.zero, &m.Zero, unit.ParsePercent), flags.Set("large", f.large, &m.Large, unit.ParsePercent), flags.Set("hours", f.hours, &m.Length, hours))
	if err == nil && m.Alike+m.Zero > 1 {
		err = fmt.Errorf("--alike: found %s beside %s of zeros, want no more than 100 %% together", m.Alike, m.Zero)
	}
	if err != nil {
		return nil, err
	}
	if m.Story, _, err = f.src.Story(cmd, f.story); err != nil {
		return nil, err
	}
	if len(m.Story.Fleet.Hosts) == 0 {
		return nil, fmt.Errorf("%s: found no host to simulate", f.story)
	}
	if m.Alike == 0 && !pages.Shares(m.Story) {
		return nil, errors.New("--alike: how much memory VMs have alike is unknown: want a percentage such as 15, or loads with common= and image= in a story")
	}
	r, err := pages.Simulate(cmd.Context(), m)
	if err == nil && r.VMs == 0 {
		err = fmt.Errorf("%s: no VM ran", f.story)
	}
	if err != nil {
		return nil, err
	}
	return show.Simulated(m, r, f.story, flags.Given(cmd, "hours"), f.details), nil
}

// hours reads a number of hours, to whole minutes.
func hours(text string) (time.Duration, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n <= 168) {
		return 0, fmt.Errorf("found %q, want a number of hours above 0 and at most 168", text)
	}
	d := time.Duration(n * float64(time.Hour)).Round(time.Minute)
	if d <= 0 {
		return 0, fmt.Errorf("found %q, want a minute or more", text)
	}
	return d, nil
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
