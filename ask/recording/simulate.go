package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/rules/verdict/simulation"
	"example.org/homenode/source/story"
)

// Simulate asks how the model of the NUMA scheduler places a fleet over time.
type Simulate struct {
	ask.Asked
	Scenario string `ask:"scenario,arg"`
	ask.Play `group:"Story"`
	VM       string   `ask:"vm" group:"Show" label:"One VM alone" example:"sql01" help:"this VM alone, as NAME or HOST/NAME; with --why also with * and ?, and HOST/* for all of a host; --format svg takes a host, too, and draws it without a name when there is one"`
	Why      bool     `ask:"why" help:"every decision of the scheduler with its reason and the rules it rests on"`
	Moment   string   `ask:"moment" label:"Moment" example:"02:30" help:"mark this time in the drawings and say what stood then: 14:30, or 2h after the start"`
	Details  bool     `ask:"details" help:"all of the story, all VMs, every finding with its advice (table, markdown)"`
	Grid     []string `ask:"grid,local" group:"Grid" help:"simulate each of these values: 'vm=sql* vcpus=8,12', 'nodesPerSocket=1,2', 'lose-host=esx01,esx02', 'cpu=x0.5,x2', 'seed=1..10'; several are combined (repeatable)"`
	Against  []string `ask:"against,local" group:"Against a capture" help:"start as this capture was at its start, with the load that was observed, and say how far the model was off (repeatable)"`
	From     string   `ask:"from" help:"of the captures: begin at this time: '2026-11-03 02:00' in UTC, or RFC 3339"`
	To       string   `ask:"to" help:"of the captures: end at this time"`
	FailOn   string   `ask:"fail-on" group:"Judge" default:"medium" help:"least severity that makes the exit code 1: info, low, medium, high"`
}

// MostHours is the longest simulation in a shared process.
const MostHours = 48.0

// Steps returns the number of running VMs times hours, twice if the same hours without the asked events and changes are simulated too.
func (f *Simulate) Steps(e *ask.Env) (n int, noun string, err error) {
	if f.Hours > MostHours {
		return 0, "", ask.Wrong("hours", fmt.Errorf("found %v, want at most %v on a page; the command has no limit", f.Hours, MostHours))
	}
	for _, line := range f.At {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "run" {
			return 0, "", ask.Wrong("at", errors.New("found run: on a page the length is the number of hours"))
		}
	}
	if e.Held == nil || e.Held.Result == nil {
		return 0, "", ask.ErrNoFleet
	}
	fleet := e.Held.Result.Fleet
	if f.Part != nil {
		if fleet, err = story.Part(fleet, f.Part); err != nil {
			return 0, "", ask.Wrong("part", err)
		}
	}
	hours := f.Hours
	if !f.Given("hours") {
		hours = 24
	}
	n = int(math.Ceil(float64(running(fleet)) * hours))
	if len(f.Happens()) > 0 {
		n *= 2
	}
	return n, "VMs times hours (events and changes double it; a cluster or host alone has fewer)", nil
}

// running returns the number of VMs that are or may be powered on.
func running(f *numa.Fleet) int {
	return words.Count(f.VMs, func(v numa.VM) bool { return v.MayRun() })
}

// Answer answers the question.
func (f *Simulate) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	from, err := least(f.FailOn)
	if err := cmp.Or(err, f.check(e)); err != nil {
		return nil, err
	}
	if f.Against != nil {
		return f.against(ctx, e)
	}
	if f.Scenario == "" {
		return nil, errors.New("want a SCENARIO or a SOURCE, as in: homenode simulate demo")
	}
	s, without, o, err := f.Told(ctx, e, &f.Asked, f.Scenario)
	if err != nil {
		return nil, err
	}
	r, err := (*ask.Reply)(nil), error(nil)
	if f.Grid != nil {
		r, err = f.grid(ctx, e, s, o, from)
	} else {
		r, err = f.simulate(ctx, e, s, without, o, from)
	}
	return ask.Partly(r, err, f.Incomplete())
}

// check validates the output fields before anything is read.
func (f *Simulate) check(e *ask.Env) error {
	switch {
	case f.Why && slices.Contains([]string{"svg", "sarif", "junit"}, e.Form):
		return ask.Wrong("why", fmt.Errorf("not with --format %s: decisions are no findings", e.Form))
	case f.Why && e.Table != "":
		return ask.Wrong("why", errors.New("it is the table decisions: not with --table"))
	}
	return nil
}

// simulate answers with one run. The overview also compares it with a run without the asked events and changes.
func (f *Simulate) simulate(ctx context.Context, e *ask.Env, s, without *numa.Story, o simulate.Options, from finding.Severity) (*ask.Reply, error) {
	if o.Silent && (f.Why || f.VM != "") {
		return nil, fmt.Errorf("--why, --vm: %d VMs are simulated in sum only: to watch each of them, say how often: --at 'run 24h every=5m'", len(s.Fleet.VMs))
	}
	start := time.Now()
	shown := recording.Options{Details: f.Details, VM: f.VM, Version: e.Version, Words: f.words(), Decided: e.Shared}
	if without != nil && !o.Silent && !f.Why && f.VM == "" && e.Form != "svg" {
		r, err := simulate.Run(ctx, without, o)
		if err != nil {
			return nil, err
		}
		shown.Without = &simulation.Without{Changes: f.Happens(), Harm: simulation.Of(r).Harm()}
	}
	result, err := run(ctx, e, s, o)
	if err != nil {
		return nil, err
	}
	if f.Moment != "" {
		if shown.Moment, err = story.Moment(s, f.Moment); err != nil {
			return nil, ask.Wrong("moment", err)
		}
	}
	if e.Timed {
		shown.Took = time.Since(start)
	}
	a, err := f.shown(result, e.Form, shown)
	if err != nil {
		return nil, err
	}
	r := &ask.Reply{Answers: []*answer.Answer{a}, Form: format.Options{Details: f.Details || f.VM != "", FailOn: from}}
	if f.Why {
		r.Form.Table = "decisions"
	}
	if result.Outcome.ClientTicks == 0 {
		why := "see the notes"
		if len(a.Notes) == 0 {
			why = "none is powered on"
		}
		r.Partly = fmt.Errorf("%s: no VM ran: %s", f.Scenario, why)
		return r, nil
	}
	r.Found = simulation.Stranded(result) || e.Form == "svg" && result.Watched != nil && result.Watched.AtLeast(from) > 0 || a.Findings != nil && a.Findings.AtLeast(from) > 0
	return r, nil
}

// shown returns the requested view of the simulation.
func (f *Simulate) shown(r *simulate.Result, form string, o recording.Options) (*answer.Answer, error) {
	switch {
	case f.Why:
		if host, ok := strings.CutSuffix(f.VM, "/*"); ok {
			return recording.Decisions(r, "", host, o)
		}
		return recording.Decisions(r, f.VM, "", o)
	case form == "svg":
		return recording.SimulationDrawing(r, f.VM)
	case f.VM != "":
		return recording.SimulatedVM(r, o)
	}
	return recording.Simulation(r, o), nil
}

// words returns the scenario and the fields that affect the answer, for the next commands.
func (f *Simulate) words() []string {
	var of []string
	if f.Scenario != "" {
		of = []string{f.Scenario}
	}
	return f.Words(of, slices.Concat(ask.PlayNames, ask.AnswerNames)...)
}

// run simulates the story. It reports progress and exports every tick.
func run(ctx context.Context, e *ask.Env, s *numa.Story, o simulate.Options) (*simulate.Result, error) {
	var count func()
	if e.Progress != nil && !o.Silent {
		show, clear := e.Doing("simulated", "tick")
		defer clear()
		count = counted(len(s.Fleet.Hosts)*int(s.Length/s.Every+1), show)
		o.Tick = func(int, *numa.Tick) { count() }
	}
	if e.Trace == nil {
		return simulate.Run(ctx, s, o)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t, err := e.Trace(s)
	if err != nil {
		return nil, err
	}
	defer t.Abort() // no effect after Close
	if t.Serial() {
		o.Workers = 1
	}
	o.Tick = func(host int, tick *numa.Tick) {
		if err := t.Tick(host, tick); err != nil { // the first error ends the run
			stop(err)
		}
		if count != nil {
			count()
		}
	}
	r, err := simulate.Run(ctx, s, o)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return r, t.Close()
}

// counted returns a function that counts the ticks of all hosts and shows each percent. It is safe for concurrent
// use.
func counted(all int, show func(done, total int)) func() {
	var done atomic.Int64
	var mu sync.Mutex
	return func() {
		n := int(done.Add(1))
		if n*100/all > (n-1)*100/all {
			mu.Lock()
			defer mu.Unlock()
			show(n, all)
		}
	}
}
