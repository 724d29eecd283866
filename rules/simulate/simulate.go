// Package simulate runs a story in the simulated scheduler and assesses the result like a
// capture: the same ticks, the same recordings, the same rules.
//
//	story ──► scheduler ──► ticks ──► capture.Recorder ──► rules.Watch ──► findings
//	                    └──► cost: how fast the work of each VM runs
package simulate

import (
	"cmp"
	"context"
	"slices"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/cost"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// Options of a run.
type Options struct {
	// Rules are the choices of the model and the options of the rules.
	Rules rules.Options
	// Workers is the number of hosts that are simulated in parallel; 0 means one.
	Workers int
	// Silent omits the recordings: nothing is assessed or priced. This is many times faster for
	// a large fleet.
	Silent bool
	// Prices is the maximum number of times that the speed of each VM is computed; 0 means 288:
	// every five minutes of a day.
	Prices int
	// Tick, unless nil, is called with every tick of the trace: in the order of time for each
	// host, concurrently for different hosts if there are several Workers. The tick is valid
	// only during the call.
	Tick func(host int, t *numa.Tick)
	// Look, unless nil, is called like Tick, with the clients too; both are valid only during
	// the call.
	Look func(host int, t *numa.Tick, look *scheduler.Look)
}

// A Result is the result of a simulation.
type Result struct {
	Story   *numa.Story
	Outcome *scheduler.Outcome
	// Watched is the assessed run; nil with Options.Silent.
	Watched *rules.Watched
	// Lives contains an entry for each life of a VM in the recordings.
	Lives map[*capture.VM]Life
	// Speeds has one entry for each VM of the fleet; nil with Options.Silent.
	Speeds []Speed
}

// A Life contains facts of the simulation about one life of a VM on a host that are not in its
// recording.
type Life struct {
	VM int // index in the fleet
	// Interleaved memory is spread over all clients: N%L is meaningless (rule book C-13).
	Interleaved bool
}

// Run simulates a story and assesses it. The error is about the story or the context.
func Run(ctx context.Context, story *numa.Story, o Options) (*Result, error) {
	out := &Result{Story: story}
	so := scheduler.Options{Choices: o.Rules.Choices, Workers: o.Workers, Log: !o.Silent}
	var watchers []*watcher
	if !o.Silent {
		watchers = newWatchers(story, &o)
		out.Speeds = make([]Speed, len(story.Fleet.VMs))
	}
	if !o.Silent || o.Tick != nil || o.Look != nil {
		so.Observe = func(host int, t *numa.Tick, look *scheduler.Look) {
			if watchers != nil {
				watchers[host].watch(t, look)
			}
			if o.Tick != nil {
				o.Tick(host, t)
			}
			if o.Look != nil {
				o.Look(host, t, look)
			}
		}
	}
	var err error
	if out.Outcome, err = scheduler.Run(ctx, story, so); err != nil {
		return nil, err
	}
	if o.Silent {
		return out, nil
	}
	var recordings []*capture.Recording
	out.Lives = map[*capture.VM]Life{}
	for _, w := range watchers {
		if rec := w.recorder.Recording(); rec != nil {
			recordings = append(recordings, rec)
			for i := range rec.VMs {
				l := w.lives[rec.VMs[i].GID]
				out.Lives[&rec.VMs[i]] = Life{l.index, l.interleaved}
			}
		}
		w.speeds(out.Speeds)
		w.recorder = nil // for its memory
	}
	for i := range out.Speeds {
		out.Speeds[i].finish()
	}
	fleet, err := rules.RunContext(ctx, story.Fleet, rules.Options{Choices: o.Rules.Choices})
	if err != nil {
		return nil, err
	}
	out.Watched = rules.Watch(recordings, fleet, o.Rules)
	return out, nil
}

// Format is the format name of simulated ticks in recordings.
const Format = "simulation"

// priced is the default number of times that the speed of VMs is computed.
const priced = 288

// A watcher records one host.
type watcher struct {
	recorder *capture.Recorder
	machine  cost.Machine
	hidden   int // packages behind the only node of a host with node interleaving; otherwise 1
	every    int // ticks between two computations of the speed
	prices   int // computations in all
	ticks    int
	sums     map[int]*Speed  // by VM of the fleet
	lives    map[int64]*life // by scheduler group
	last     []*life         // of the VMs of the last tick
}

// A life is a VM on a host.
type life struct {
	index       int // in the fleet
	interleaved bool
	speed       *Speed // of the VM on the host; nil if nothing is known of it
	// CPU time since the last speed computation, in seconds.
	run, ready, coStop float64
	// placed is the speed without waiting while memory and homes are as they were when it was computed.
	placed   cost.Estimate
	err      error
	workload string
	known    bool // placed is that of the present
	told     bool // the speed has its reasons
}

func newWatchers(story *numa.Story, o *Options) []*watcher {
	all := make([]*watcher, len(story.Fleet.Hosts))
	prices := cmp.Or(o.Prices, priced)
	ticks := int(story.Length / max(story.Every, numa.Step))
	every := max(1, ticks/prices)
	for i := range all {
		host := story.Fleet.Hosts[i]
		hidden := 1
		if len(host.Nodes.Value) == 1 && host.Packages.Or(1) > 1 { // node interleaving
			hidden, host.Nodes = host.Packages.Value, numa.Fact[[]numa.Node]{}
		}
		all[i] = &watcher{
			hidden:   hidden,
			recorder: capture.NewRecorder(rules.CaptureOptions(o.Rules.Policy)),
			machine:  cost.For(&host), every: every, prices: ticks/every + 1,
			sums: map[int]*Speed{}, lives: map[int64]*life{},
		}
		all[i].recorder.Open(story.Name, Format)
	}
	return all
}

func (w *watcher) watch(t *numa.Tick, look *scheduler.Look) {
	w.recorder.Add(t)
	seconds, prices := t.Since.Seconds(), w.ticks%w.every == 0
	if n := len(t.VMs); len(w.last) != n {
		w.last = slices.Grow(w.last[:0], n)[:n]
		clear(w.last)
	}
	for i := range t.VMs {
		v, l := &t.VMs[i], w.last[i]
		if !t.Still[i] {
			l = w.life(v.GID, i, look)
			w.last[i], l.known = l, false
			if v.Swapped+v.Balloon > 0 {
				w.speed(l).take(v.Swapped, v.Balloon, t.Time)
			}
		}
		l.run += float64(v.Run * seconds)
		l.ready += float64(v.Ready * seconds)
		l.coStop += float64(v.CoStop * seconds)
		if prices {
			w.price(t, i, l, look)
			l.run, l.ready, l.coStop = 0, 0, 0
		}
	}
	w.ticks++
}

// life returns the life of the i-th VM of a tick.
func (w *watcher) life(gid int64, i int, look *scheduler.Look) *life {
	l := w.lives[gid]
	if l == nil {
		l = &life{}
		l.index, _ = look.VM(i)
		w.lives[gid] = l
	}
	return l
}
