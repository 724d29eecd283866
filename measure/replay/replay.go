// Package replay compares the simulated NUMA scheduler with what was observed: it takes
// the state of a host from the first tick of a capture and the load of its VMs from all of
// them, lets the simulation run, and says how far it was off, counter by counter, beside the
// forecast that nothing ever moves.
//
//	ticks ──► Recorder ──► story: Seen, Used, recorded demand ──► scheduler ──► ticks
//	             └────────────── observed moments ──────────────► error ◄───┘
package replay

import (
	"context"
	"fmt"
	"time"

	"homenode/esxi/scheduler"
	"homenode/esxi/vnuma"
	"homenode/numa"
)

// Options of a replay.
type Options struct {
	// Choices are those of the topology model.
	Choices vnuma.Choices
	// Fleet is the inventory: the shapes of hosts, the settings of VMs. VMs are found in it
	// by name, on their host or in its cluster. Nil for none.
	Fleet *numa.Fleet
	// Assume is the shape of a host that the inventory does not have; nil for none.
	Assume *numa.Host
	// Unstated is the load of VMs of which the capture states no CPU time, and the active
	// share of those of which it states no active memory. When it is unknown, they ask
	// for no CPU time, and nothing is active.
	Unstated numa.Fact[numa.Load]
}

// A Result is how a replay of one host compares with what was observed.
type Result struct {
	Host    string        `json:"host"`
	Start   time.Time     `json:"start"` // UTC, of what is compared
	End     time.Time     `json:"end"`
	Moments int           `json:"moments"` // that are compared
	Window  time.Duration `json:"-"`       // within which ticks are taken together
	Seconds float64       `json:"windowSeconds"`
	Story   *numa.Story   `json:"-"`        // what the simulation ran
	Totals  Errors        `json:"counters"` // of all VMs and nodes
	VMs     []VM          `json:"vms"`      // in the order of the capture
	Nodes   []Node        `json:"nodes"`    // by ID
	// Notes say what was assumed, left out, or is not stated by the capture.
	Notes []numa.Note `json:"-"`
}

// A VM is one VM of a replay; one that was powered off and on is one.
type VM struct {
	Name   string `json:"vm"`
	Known  bool   `json:"inInventory"` // its settings are not assumed
	Errors Errors `json:"counters"`
}

// A Node is the free memory of one node.
type Node struct {
	ID     int    `json:"node"`
	Errors Errors `json:"counters"` // NodeFree alone
}

// Run replays what was recorded of a host, which takes no more ticks then. The error says
// what is missing for a replay, or is of ctx.
func Run(ctx context.Context, r *Recorder, o Options) (*Result, error) {
	if err := r.finish(); err != nil {
		return nil, err
	}
	p := plan{rec: r, options: &o}
	if err := p.make(); err != nil {
		return nil, err
	}
	c := newComparison(&p)
	outcome, err := scheduler.Run(ctx, p.story, scheduler.Options{Choices: o.Choices, Observe: c.observe})
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.host, err)
	}
	p.notes = append(p.notes, outcome.Problems...)
	return c.result(), nil
}
