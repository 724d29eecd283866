// Package replay compares the simulated NUMA scheduler with observations. It takes the state of
// a host from the first tick of a capture and the load of its VMs from all ticks, and runs the
// simulation. Then it reports the error of each counter, beside that of the forecast that
// nothing ever moves.
//
//	ticks ──► Recorder ──► story: Seen, Used, recorded demand ──► scheduler ──► ticks
//	             └────────────── observed moments ──────────────► error ◄───┘
package replay

import (
	"context"
	"fmt"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// Options of a replay.
type Options struct {
	// Choices are those of the topology model.
	Choices vnuma.Choices
	// Fleet is the inventory, with the shapes of hosts and the settings of VMs. VMs are found
	// by name, on their host or in its cluster. Nil for none.
	Fleet *numa.Fleet
	// Assume is the shape of a host that is not in the inventory; nil for none.
	Assume *numa.Host
	// Unstated is the load of VMs without CPU time in the capture, and the active share of VMs
	// without active memory. If it is unknown, they demand no CPU time, and nothing is active.
	Unstated numa.Fact[numa.Load]
}

// A Result is the comparison of a replay of one host with the observations.
type Result struct {
	Host    string        `json:"host"`
	Start   time.Time     `json:"start"` // UTC; start of the comparison
	End     time.Time     `json:"end"`
	Moments int           `json:"moments"` // compared moments
	Window  time.Duration `json:"-"`       // ticks within it are combined
	Seconds float64       `json:"windowSeconds"`
	Story   *numa.Story   `json:"-"`        // input of the simulation
	Totals  Errors        `json:"counters"` // of all VMs and nodes
	VMs     []VM          `json:"vms"`      // in the order of the capture
	Nodes   []Node        `json:"nodes"`    // by ID
	// Notes list assumptions, omissions, and data that the capture lacks.
	Notes []numa.Note `json:"-"`
}

// A VM is one VM of a replay; a VM that was powered off and on is one.
type VM struct {
	Name   string `json:"vm"`
	Known  bool   `json:"inInventory"` // its settings are not assumed
	Errors Errors `json:"counters"`
}

// A Node is the free memory of one node.
type Node struct {
	ID     int    `json:"node"`
	Errors Errors `json:"counters"` // NodeFree only
}

// Run replays the recording of a host, which must not get more ticks then. The error names data
// that is missing for a replay, or comes from ctx.
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
