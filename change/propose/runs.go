package propose

import (
	"context"
	"math"
	"slices"
	"time"

	"example.org/homenode/change/optimise"
	"example.org/homenode/change/sweep"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/rules/simulate"
)

// An Outcome is the result of a run, over all VMs and time.
type Outcome struct {
	// Locality is N%L over all memory, as a share; nil if no memory has a home.
	Locality *float64 `json:"locality,omitempty"`
	Far      float64  `json:"far"`   // memory that is not on the node of its client
	Ready    float64  `json:"ready"` // share of the demanded CPU time
	CoStop   float64  `json:"coStop"`
	Swapped  float64  `json:"swapped"` // of all memory
	// Speed is the mean performance index, with equal weight for each VM; nil if none has an
	// index, for example because all of them are swapped.
	Speed    *float64 `json:"speed,omitempty"`
	Findings int      `json:"findings"`
}

func outcomeOf(r *simulate.Result) Outcome {
	all := sweep.Total(r)
	out := Outcome{Findings: len(r.Watched.Findings)}
	out.Locality = known(all.Locality())
	out.Far, _ = all.FarShare()
	out.Ready, _ = all.ReadyShare()
	out.CoStop, _ = all.CoStopShare()
	out.Swapped, _ = scheduler.Share(all.Swapped, all.Local+all.Remote+all.Swapped)
	out.Speed = known(all.MeanSpeed())
	return out
}

// known returns a figure, or nil if it is unknown.
func known(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}

// differs reports whether a run differs from its estimate: another share of remote memory, by
// more than a percent, or no ready time although cores are short.
func differs(p *optimise.Problem, s *optimise.Score, x *Outcome) bool {
	memory := int64(0)
	for i := range p.VMs {
		memory += p.VMs[i].Memory
	}
	if x.Locality != nil && math.Abs(float64(s.Remote)/float64(max(1, memory))-(1-*x.Locality)) > 0.01 {
		return true
	}
	return (s.Ready > 0) != (x.Ready >= 0.0005) // below this it prints as 0.0 %
}

// both simulates the hosts of a problem with the present and the proposed distribution, under
// the loads of the story and without its other events: they would undo the proposal.
func both(ctx context.Context, told *numa.Story, p *optimise.Problem, proposal *optimise.Proposal, o simulate.Options) (before, after *simulate.Result, err error) {
	base := *told
	base.Events, base.Seen = nil, nil
	in := vmIDs(p)
	for i := range told.Events {
		if kept(&told.Events[i], in) {
			base.Events = append(base.Events, told.Events[i])
		}
	}
	base.Fleet = only(told.Fleet, p)
	if before, err = simulate.Run(ctx, &base, o); err != nil {
		return nil, nil, err
	}
	then := base
	then.Fleet = only(proposal.Fleet(p, told.Fleet), p)
	after, err = simulate.Run(ctx, &then, o)
	return before, after, err
}

// only returns the fleet with only the VMs of a problem powered on, so that both runs are about
// the same VMs.
func only(f *numa.Fleet, p *optimise.Problem) *numa.Fleet {
	in := vmIDs(p)
	out := *f
	out.VMs = append([]numa.VM(nil), f.VMs...)
	for i := range out.VMs {
		if !in[out.VMs[i].ID] {
			out.VMs[i].Power = numa.DerivedFrom(numa.PoweredOff, "not part of the cluster that is optimised")
		}
	}
	return &out
}

// awake returns a story whose VMs run from the start if an event powers them on: a distribution needs room for them.
func awake(s *numa.Story) *numa.Story {
	out, f := *s, *s.Fleet
	f.VMs, out.Fleet = slices.Clone(f.VMs), &f
	for i := range s.Events {
		e := &s.Events[i]
		if e.Kind != numa.PowerOn || e.At >= s.Length {
			continue
		}
		v := &f.VMs[slices.IndexFunc(f.VMs, func(v numa.VM) bool { return v.ID == e.VM })]
		if h := slices.IndexFunc(f.Hosts, func(h numa.Host) bool { return h.ID == e.Host }); h >= 0 && !v.MayRun() {
			v.Host, v.Cluster = e.Host, f.Hosts[h].Cluster
		}
		v.Power = numa.DerivedFrom(numa.PoweredOn, "the story powers it on")
	}
	return &out
}

// demandIn returns the maximum demand of a VM's vCPUs in a story: of its initial load, and of
// all later loads.
func demandIn(s *numa.Story) optimise.Demand {
	type since struct {
		at   time.Duration
		load *numa.Load
	}
	loads := map[string][]since{}
	for i := range s.Loads {
		loads[s.Loads[i].VM] = []since{{0, &s.Loads[i].Load}}
	}
	for i := range s.Events { // in order of time
		if e := &s.Events[i]; e.Kind == numa.LoadChange {
			if loads[e.VM] == nil {
				loads[e.VM] = []since{{0, &s.Unstated.Value}}
			}
			loads[e.VM] = append(loads[e.VM], since{e.At, e.Load})
		}
	}
	return func(v *numa.VM) (float64, numa.Origin) {
		list := loads[v.ID]
		if list == nil {
			return s.Unstated.Value.CPU.Most(s.Start, 0, s.Length), s.Unstated.Origin
		}
		most := 0.0
		for i := range list {
			until := s.Length
			if i+1 < len(list) {
				until = list[i+1].at
			}
			if until > list[i].at {
				most = max(most, list[i].load.CPU.Most(s.Start, list[i].at, until))
			}
		}
		return most, numa.Origin{Kind: numa.Read, Where: s.Name}
	}
}

// kept reports whether an event is part of both runs: changes of the loads of VMs, and of their
// communication; any other event would undo the proposal.
func kept(e *numa.Event, in map[string]bool) bool {
	return e.Kind == numa.LoadChange && in[e.VM] || e.Kind == numa.TalkChange
}

// leftOut counts the events of the story that are not part of the runs, and the VMs of the
// hosts that are never powered on: these are not used.
func leftOut(s *numa.Story, p *optimise.Problem) (events, off int) {
	in, hosts := vmIDs(p), map[string]bool{}
	for i := range p.Hosts {
		hosts[p.Hosts[i].ID] = true
	}
	for i := range s.Events {
		if !kept(&s.Events[i], in) {
			events++
		}
	}
	for i := range s.Fleet.VMs {
		if v := &s.Fleet.VMs[i]; hosts[v.Host] && !in[v.ID] && !v.Template.Value && !v.MayRun() {
			off++
		}
	}
	return events, off
}

// vmIDs returns the IDs of the VMs of a problem.
func vmIDs(p *optimise.Problem) map[string]bool {
	in := make(map[string]bool, len(p.VMs))
	for i := range p.VMs {
		in[p.VMs[i].ID] = true
	}
	return in
}
