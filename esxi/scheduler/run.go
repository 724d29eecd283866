// Package scheduler simulates a story step by step, as the NUMA scheduler of ESXi would behave:
// docs/evidence/simulation.md is its specification, and package placement chooses the home nodes of its VMs.
package scheduler

import (
	"context"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// Options configure a run.
type Options struct {
	// Choices are those of the topology model.
	Choices vnuma.Choices
	// Workers is the number of hosts simulated in parallel; 0 means one. The outcome does not depend on it.
	Workers int
	// Log enables the decision log of the scheduler: all decisions that follow from the story, and the first half million
	// of the others, divided over the hosts.
	Log bool
	// Observe is called with every tick of the trace. Ticks of one host come in the order of time; with several workers
	// those of different hosts come concurrently. The tick and the look are valid only during the call. Nil for none.
	Observe func(host int, t *numa.Tick, look *Look)
}

// An Outcome is the result of a run.
type Outcome struct {
	// VMs has one entry for each VM of the fleet, in its order.
	VMs []VMOutcome
	// Decisions of all hosts in the order of time, then of hosts; nil without Options.Log.
	Decisions []Decision
	// Denied are the power-ons that did not happen, in the order of time.
	Denied []Denial
	// Problems are the hosts and VMs that were simulated only in part or not at all, with the reasons, and the decisions
	// omitted from the why-log.
	Problems []numa.Note
	// ClientTicks is the number of simulated steps of NUMA clients.
	ClientTicks int64
}

// A VMOutcome is the summary of a VM, added up over the steps in which it ran.
type VMOutcome struct {
	Steps    int64 `json:"steps"`              // of numa.Step, in which it ran
	Local    int64 `json:"local"`              // pages × steps, on its home nodes
	Remote   int64 `json:"remote"`             // pages × steps
	Homeless int64 `json:"homeless,omitempty"` // pages × steps without home nodes: neither local nor remote
	Far      int64 `json:"far"`                // pages × steps that are not on the node of the client they belong to
	Swapped  int64 `json:"swapped"`            // pages × steps
	// CPU time, in hundredths of a percent of a core × steps.
	Demand int64      `json:"demand"`
	Run    int64      `json:"run"`
	Ready  int64      `json:"ready"`
	CoStop int64      `json:"coStop"`
	Moves  numa.Moves `json:"moves"`
}

// A DecisionKind is the kind of a scheduler decision.
type DecisionKind uint8

// The kinds of decisions; the ids are those of the rule book.
const (
	Placed          DecisionKind = iota // initial placement (C-3, C-4)
	Unmanaged                           // runs without home node (C-12, C-14)
	Taken                               // as observed at the start of the run
	Spilled                             // new memory went to other nodes (C-15)
	Widened                             // a node was added to the home nodes (D-2)
	BalanceMoved                        // for load (C-9, C-10)
	BalanceSwapped                      //
	LocalityMoved                       // to its memory or a partner in communication (C-9, C-11)
	LocalitySwapped                     //
	FairnessMoved                       // for CPU time owed (C-9)
	AllLocal                            // page migration finished: all its memory is home (C-16)
	StateChanged                        // memory state of the host (C-23)
	Reclaimed                           // memory was taken from VMs: see Numbers (C-23)
	Shared                              // small pages were shared (C-21, C-22)
	PoweredOn
	PoweredOff
	Rebooted
	MovedIn  // vMotion, from the host Other
	Restart  // by HA, from the host Other
	NoRoom   // no host of the cluster accepts the VM
	Reshaped // resize or hot add
	OptionSet
)

// A Decision is one entry of the why-log.
type Decision struct {
	At     time.Duration // since the start of the story
	Kind   DecisionKind
	Host   int // index in the fleet
	VM     int // index in the fleet; -1 for the host itself
	Client int // of the VM; -1 for all of them
	Other  int // VM of a swap or a talk, or host it came from; -1
	From   int // node ID; -1 for none
	To     int // node ID; -1 for none
	// Numbers are the numbers behind the decision, by kind: see Why.
	Numbers [7]int64
}

// A Look shows an observer the clients of a host for a tick. It is valid only during the call.
type Look struct{ h *host }

// A ClientState is the state of one NUMA client.
type ClientState struct {
	VCPUs int
	Home  int // index of the node, in the order of IDs; -1 when it is not managed
	// Interleaved memory is used by all clients of the VM alike (rule book C-13).
	Interleaved bool
	OnNode      []numa.Bytes // by index of the node; valid only during the call
}

// Run runs a story from its start to its end. The outcome is the same for the same story, whatever the number of workers
// and the machine. The error concerns the story or the context.
func Run(ctx context.Context, story *numa.Story, o Options) (*Outcome, error) {
	w, err := New(story, o)
	if err != nil {
		return nil, err
	}
	if err := w.RunTo(ctx, story.Length); err != nil {
		return nil, err
	}
	return w.Outcome(), nil
}
