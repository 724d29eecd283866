package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/internal/words"
	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/truth"
	"example.org/homenode/source/open"
	"example.org/homenode/source/story"
	"example.org/homenode/source/ticks"
)

// A replaying simulates hosts from captures. Each simulation starts with the placement at the start of the capture and uses the observed
// load.
type replaying struct {
	env    *ask.Env
	window [2]time.Time
	hosts  []*replay.Recorder
	notes  []fileNote
	failed int // number of files and hosts
}

// A fileNote is a warning about a file.
type fileNote struct {
	text  string
	hosts []string // hosts in the file
}

// against replays the captures and reports the error of the model. The scenario is the inventory: shapes of hosts, settings of VMs.
func (f *Simulate) against(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	const why = "not with --against: the capture says what happened"
	times := ask.Captures{From: f.From, To: f.To}
	err := cmp.Or(times.ReadTimes(), onlyTables(e, "against"), f.Refuse(why, "hours", "load", "at", "part", "what-if", "why", "moment", "vm", "grid"), notBeside(e, why), f.Refuse(why, "fail-on"))
	if err != nil {
		return nil, err
	}
	o := replay.Options{Unstated: story.Of(&numa.Fleet{}, story.Defaults{}).Unstated}
	if o.Choices, err = f.Choices(); err != nil {
		return nil, err
	}
	switch {
	case f.Scenario != "":
		o.Fleet, err = f.ReadBy(ctx, e, o.Choices, false, f.Scenario)
	case f.AssumeHost != "":
		var h numa.Host
		h, err = open.AssumedHost(f.AssumeHost)
		o.Assume = &h
	default:
		err = ask.Wrong("against", errors.New("a capture does not say how many cores a node has: want the SOURCE of its inventory, or --assume-host"))
	}
	if err != nil {
		return nil, err
	}
	again := replaying{env: e, window: times.Window}
	if err := again.read(ctx, f.Against, o.Fleet); err != nil {
		return nil, err
	}
	results, err := again.replay(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &ask.Reply{Answers: []*answer.Answer{truth.Replay(results, f.Details)}, AllTables: true}
	if again.failed > 0 {
		r.Partly = fmt.Errorf("not everything was replayed: %d of the files or hosts failed", again.failed)
	}
	return ask.Partly(r, nil, f.Incomplete())
}

// replay replays every host. Hosts that cannot be replayed are reported as warnings; if there is no other host, as an error.
func (f *replaying) replay(ctx context.Context, o replay.Options) (results []*replay.Result, err error) {
	var failed []error
	for _, r := range f.hosts {
		one, err := replay.Run(ctx, r, o)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			failed = append(failed, err)
		default:
			results = append(results, one)
		}
	}
	if results == nil {
		return nil, errors.Join(failed...)
	}
	for _, err := range failed {
		f.fail(err)
	}
	for _, n := range f.notes {
		to := results[0]
		for _, r := range results {
			if slices.ContainsFunc(n.hosts, func(host string) bool { return numa.SameHost(host, r.Host) }) {
				to = r
			}
		}
		to.Notes = append(to.Notes, numa.Note{Text: n.text})
	}
	return results, nil
}

// fail warns about a skipped file or host.
func (f *replaying) fail(err error) {
	f.failed++
	f.env.Tell(err.Error())
}

// read reads the captures, host by host. The files of one host must be in time order.
func (f *replaying) read(ctx context.Context, captures []string, fleet *numa.Fleet) error {
	o := ticks.Options{From: f.window[0], To: f.window[1], Workers: runtime.GOMAXPROCS(0)}
	o.MachineOf = func(name string) *numa.Host {
		if fleet == nil {
			return nil
		}
		if found := fleet.FindHosts(name); len(found) == 1 {
			return found[0]
		}
		return nil
	}
	v := ticks.Visit{Tick: f.tick, Done: func(file *ticks.File, err error) error {
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			f.fail(err)
		}
		for _, text := range file.Warnings {
			f.notes = append(f.notes, fileNote{text, file.Hosts})
		}
		return nil
	}}
	for _, name := range captures {
		passed, err := open.Ticks(ctx, name, f.env.In, o, v)
		if passed > 0 {
			f.notes = append(f.notes, fileNote{text: name + ": " + words.Plural(passed, "file") + " of other formats skipped"})
		}
		if err != nil {
			return err
		}
	}
	if len(f.hosts) == 0 {
		return fmt.Errorf("found no tick to replay in %s", strings.Join(captures, ", "))
	}
	return nil
}

// tick passes a tick to the recorder of its host.
func (f *replaying) tick(t *numa.Tick) error {
	from, to := f.window[0], f.window[1]
	if t.Time.Before(from) || !to.IsZero() && t.Time.After(to) {
		return nil
	}
	i := slices.IndexFunc(f.hosts, func(r *replay.Recorder) bool { return numa.SameHost(r.Host(), t.Host) })
	if i < 0 {
		i = len(f.hosts)
		f.hosts = append(f.hosts, &replay.Recorder{})
		f.hosts[i].Add(t)
		return nil
	}
	one := *t
	one.Host = f.hosts[i].Host()
	f.hosts[i].Add(&one)
	return nil
}
