package size

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/pages"
	"example.org/homenode/source/open"
	"example.org/homenode/source/ticks"
)

// Pages asks how much memory page sharing saves.
type Pages struct {
	ask.Asked
	Published
	Files        []string `ask:"file,arg,local"`
	Memory       string   `ask:"memory" group:"Memory" label:"Memory of all VMs, configured" example:"1.5TB" help:"memory configured of all VMs, where nothing was counted: 1.5TB"`
	Consumed     string   `ask:"consumed" label:"Taken on the hosts" example:"1.2TB" help:"what of it they take on the hosts"`
	Gain         string   `ask:"gain" label:"Freed by sharing" example:"20%" help:"share of memory that sharing frees; as published when not given (20 %, 5 to 30 %)"`
	Large        string   `ask:"large" label:"In large pages that guests ask for" example:"2.6%" help:"share of memory for which guests ask for large pages; as published when not given (2.6 %)"`
	Host         string   `ask:"host-memory" label:"Memory of a host" example:"512GB" help:"memory of one host: when it breaks large pages by itself"`
	Release      string   `ask:"release" default:"8.0U3" label:"ESXi release" help:"ESXi release, for --host-memory"`
	VM           string   `ask:"vm-memory" label:"Memory of the largest VM" example:"128GB" help:"memory of the largest VM: how long the first pass over it takes"`
	Story        string   `ask:"simulate" group:"Simulation" help:"story or SOURCE, as homenode simulate reads it, or demo: what the model makes of it"`
	Hours        string   `ask:"hours" default:"2" help:"how long to simulate each setting"`
	Alike        string   `ask:"alike" help:"share of memory that VMs of one guest OS have alike, where the story states none"`
	Zero         string   `ask:"zero" help:"share of memory that is pages of zeros, where the story states none"`
	Details      bool     `ask:"details" help:"every VM"`
	ask.Captures `group:"Captures"`
	ask.Source   `only:"nodes-per-socket product evidence assume-host" group:"Source"`
}

// Answer answers the question.
func (f *Pages) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	r, err := f.or(f, "size pages", pages.Checks, func() (*answer.Answer, error) { return f.answer(ctx, e) })
	return ask.Partly(r, err, f.Captures.Incomplete(), f.Source.Incomplete())
}

// Flags that apply to one kind of question only.
var (
	counted   = []string{"host-name", "from", "to"}
	estimated = []string{"memory", "consumed", "host-memory", "release", "vm-memory"}
	simulated = []string{"hours", "alike", "zero", "nodes-per-socket", "assume-host"}
)

func (f *Pages) answer(ctx context.Context, e *ask.Env) (*answer.Answer, error) {
	gain := pages.PublishedGain()
	if err := ask.Set("gain", f.Gain, &gain, figure("gain")); err != nil {
		return nil, err
	}
	switch {
	case f.Story != "" && len(f.Files) > 0:
		return nil, fmt.Errorf("--simulate: found %s beside it, want its source alone", f.Files[0])
	case f.Story != "":
		return f.simulate(ctx, e)
	case len(f.Files) == 0 && f.Memory == "":
		return nil, errors.New("want a FILE to read, --memory or --simulate")
	}
	if err := f.Refuse("only with --simulate", simulated...); err != nil {
		return nil, err
	}
	if len(f.Files) > 0 {
		return f.counted(ctx, e, gain)
	}
	return f.estimate(gain)
}

// estimate answers with the published share.
func (f *Pages) estimate(gain unit.Figure[unit.Share]) (*answer.Answer, error) {
	q := &pages.Request{Gain: gain}
	var large unit.Figure[unit.Share]
	err := cmp.Or(f.Refuse("only with a FILE to read", counted...), f.Refuse("not with --memory", "details"),
		ask.Set("memory", f.Memory, &q.Memory, memory), ask.Set("consumed", f.Consumed, &q.Consumed, memory),
		ask.Set("host-memory", f.Host, &q.Host, memory), ask.Set("vm-memory", f.VM, &q.VM, memory),
		ask.Set("large", f.Large, &large, figure("large")), ask.Set("release", f.Release, &q.Release, numa.ParseRelease))
	switch {
	case err != nil:
		return nil, err
	case q.Consumed > q.Memory:
		return nil, fmt.Errorf("--consumed: found %s, want no more than --memory, %s", q.Consumed, q.Memory)
	case q.VM > q.Memory:
		return nil, fmt.Errorf("--vm-memory: found %s, want no more than --memory of all VMs, %s", q.VM, q.Memory)
	case f.Large != "":
		q.Large = &large
	}
	return standing(size.Answer("size pages", pages.Estimate(q)), nil), nil
}

// counted answers with the last tick of each host in the captures.
func (f *Pages) counted(ctx context.Context, e *ask.Env, gain unit.Figure[unit.Share]) (*answer.Answer, error) {
	err := cmp.Or(f.Refuse("only without a FILE to read", slices.Concat(estimated, []string{"large"})...), f.Check(f.Files))
	if err != nil {
		return nil, err
	}
	last := pages.Latest{From: f.Window[0], To: f.Window[1]}
	visit := ticks.Visit{
		Tick: func(t *numa.Tick) error { last.Add(t); return nil },
		Done: func(_ *ticks.File, err error) error {
			if err != nil {
				f.Failed++
				e.Tell(err.Error())
			}
			return nil
		},
	}
	o := ticks.Options{Host: f.Host, From: last.From, To: last.To, Workers: runtime.GOMAXPROCS(0)}
	for _, arg := range f.Files {
		if _, err := open.Ticks(ctx, arg, e.In, o, visit); errors.Is(err, ticks.ErrUnknown) {
			return nil, fmt.Errorf("%w; what a fleet or story would share is simulated: --simulate %s", err, arg)
		} else if err != nil {
			return nil, err
		}
	}
	hosts := last.Hosts()
	switch {
	case len(hosts) == 0 && f.Failed > 0:
		return nil, errors.New("nothing could be read")
	case len(hosts) == 0:
		return nil, ask.NothingFound(strings.Join(f.Files, ", "), last.Outside, nil)
	}
	r := pages.Count(hosts)
	counted, vms := r.Sheets(strings.Join(f.Files, ", "), gain, f.Details)
	a := standing(size.Answer("size pages", counted), r)
	a.Tables = append(a.Tables, size.Rows("vms", vms))
	return a, tellsNothing(r)
}

// simulate answers with the model, for each setting of large pages and salting.
func (f *Pages) simulate(ctx context.Context, e *ask.Env) (*answer.Answer, error) {
	m := &pages.Model{Workers: runtime.GOMAXPROCS(0)}
	err := cmp.Or(f.Refuse("not with --simulate", slices.Concat(counted, estimated, []string{"gain"})...), ask.Set("alike", f.Alike, &m.Alike, unit.ParsePercent),
		ask.Set("zero", f.Zero, &m.Zero, unit.ParsePercent), ask.Set("large", f.Large, &m.Large, unit.ParsePercent), ask.Set("hours", f.Hours, &m.Length, hours))
	if err == nil && m.Alike+m.Zero > 1 {
		err = fmt.Errorf("--alike: found %s beside %s of zeros, want no more than 100 %% together", m.Alike, m.Zero)
	}
	if err != nil {
		return nil, err
	}
	if m.Story, _, err = f.Source.Story(ctx, e, f.Story, false); err != nil {
		return nil, err
	}
	if len(m.Story.Fleet.Hosts) == 0 {
		return nil, fmt.Errorf("%s: found no host to simulate", f.Story)
	}
	if m.Alike == 0 && !pages.Shares(m.Story) {
		return nil, errors.New("--alike: how much memory VMs have alike is unknown: want a percentage such as 15, or loads with common= and image= in a story")
	}
	r, err := pages.Simulate(ctx, m)
	if err == nil && r.VMs == 0 {
		err = fmt.Errorf("%s: no VM ran", f.Story)
	}
	if err != nil {
		return nil, err
	}
	setups, hosts := r.Sheets(m, f.Story, f.Given("hours"))
	a := standing(size.Answer("size pages", setups), r)
	if f.Details {
		a.Tables = append(a.Tables, size.Rows("hosts", hosts))
	}
	return a, nil
}

// standing adds the notes of every answer. result is the JSON value that replaces the sheet.
func standing(a *answer.Answer, result any) *answer.Answer {
	a.Note(pages.Standing...)
	if result != nil {
		a.Result = result
	}
	return a
}

// hours parses a number of hours, in whole minutes.
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

// tellsNothing returns an error if no host has sharing counters.
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
