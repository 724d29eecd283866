// Package propose computes a better distribution of the VMs of a cluster, and simulates the
// story of the cluster with the present and the proposed distribution.
//
//	story ──► optimise.FromFleet ──► optimise.Solve ──► steps
//	  └─────► simulate without them, and with them ──► Outcomes
package propose

import (
	"context"
	"slices"
	"time"

	"example.org/homenode/change/optimise"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/simulate"
)

// A Result is a proposal, with the predicted results of both distributions.
type Result struct {
	Source  string         `json:"source"`  // as the user typed it
	Cluster string         `json:"cluster"` // its name
	VMs     int            `json:"vms"`
	Hosts   int            `json:"hosts"`
	Before  optimise.Score `json:"before"`
	After   optimise.Score `json:"after"`
	optimise.Bound
	Broken [2]string `json:"broken"` // constraints, as text: at present, and as proposed
	Steps  []Step    `json:"steps"`
	// Runs are simulations of the same loads without and with the proposal, each VM powered on
	// at its host; nil if nothing was simulated.
	Runs *[2]Outcome `json:"runs,omitempty"`
	// Differs: a run differs from its estimate.
	Differs bool          `json:"runsDiffer,omitempty"`
	Length  time.Duration `json:"-"` // of the runs
	// EventsLeftOut is the number of story events that are not part of the runs. Off is the
	// number of VMs on the hosts that the story does not power on; they are not counted.
	EventsLeftOut int         `json:"eventsLeftOut,omitempty"`
	Off           int         `json:"off,omitempty"`
	Notes         []numa.Note `json:"-"`
	NPlus1        bool        `json:"-"` // requested
	Unsurvived    []string    `json:"-"` // as of an optimise.Proposal
}

// A Step is one step, in an order in which each has room.
type Step struct {
	Step   int            `json:"step"`
	VM     string         `json:"vm"`
	What   string         `json:"what"` // vMotion or power cycle
	From   string         `json:"from,omitempty"`
	To     string         `json:"to"`
	Change []string       `json:"change,omitempty"`
	Why    string         `json:"why"`
	After  optimise.Score `json:"after"` // after the step
	// Temporary moves make room; another move of the same VM follows.
	Temporary bool `json:"temporary,omitempty"`
}

// Run computes a proposal, and simulates the story with and without it unless it is silent or
// nothing is proposed. cluster "" is the only cluster or host. show, unless nil, is called with the progress of the search.
func Run(ctx context.Context, told *numa.Story, cluster string, c optimise.Constraints, o simulate.Options, show func(done, total int)) (*Result, error) {
	told = awake(told)
	f := told.Fleet
	if cluster == "" && len(f.Clusters) == 0 && len(f.Hosts) == 1 {
		cluster = f.Hosts[0].Name
	}
	p, notes, err := optimise.FromFleet(ctx, f, cluster, demandIn(told), c)
	if err != nil {
		return nil, err
	}
	proposal, err := optimise.Solve(ctx, p, optimise.Options{Progress: show})
	if err != nil {
		return nil, err
	}
	if cluster == "" {
		cluster = f.Clusters[0].Name
	}
	r := &Result{
		Cluster: cluster, VMs: len(p.VMs), Hosts: len(p.Hosts), Before: proposal.Before, After: proposal.After, Bound: proposal.Bound,
		Broken: [2]string{p.Broken(nil), p.Broken(proposal.Steps)}, Steps: steps(p, proposal, f), Length: told.Length,
	}
	r.EventsLeftOut, r.Off = leftOut(told, p)
	r.NPlus1, r.Unsurvived = p.NPlus1, proposal.Unsurvived
	for _, text := range proposal.Notes {
		r.Notes = append(r.Notes, numa.Note{Text: text})
	}
	r.Notes = append(r.Notes, notes...)
	if o.Silent || len(proposal.Steps) == 0 {
		return r, nil
	}
	before, after, err := both(ctx, told, p, proposal, o)
	if err != nil {
		return nil, err
	}
	r.Runs = &[2]Outcome{outcomeOf(before), outcomeOf(after)}
	r.Differs = differs(p, &r.Before, &r.Runs[0]) || differs(p, &r.After, &r.Runs[1])
	return r, nil
}

// steps resolves the names in the steps.
func steps(p *optimise.Problem, proposal *optimise.Proposal, f *numa.Fleet) []Step {
	out := make([]Step, len(proposal.Steps))
	for i, s := range proposal.Steps {
		v := &p.VMs[s.VM]
		out[i] = Step{Step: i + 1, VM: v.Name, What: "vMotion", From: p.Hosts[s.From].Name, To: p.Hosts[s.To].Name, Why: s.Why, After: s.After, Temporary: s.Temporary}
		if s.Shape < 0 {
			continue
		}
		out[i].What, out[i].From = "power cycle", ""
		at := slices.IndexFunc(f.VMs, func(one numa.VM) bool { return one.ID == v.ID })
		then := optimise.Edited(&f.VMs[at], v.Shapes[s.Shape].Edit)
		out[i].Change = words.Texts(numa.Edits(&f.VMs[at].Config, &then), numa.Edit.Text)
	}
	return out
}
