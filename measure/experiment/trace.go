package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/simulate"
)

// A trace has the results of a story that figures need.
type trace struct {
	story *numa.Story
	pace  float64    // factor by which the story is slower than the case describes
	vms   [][]sample // by VM of the fleet, in time order
	hosts [][]hostSample
}

// A sample is one VM at one tick.
type sample struct {
	at            time.Duration
	since         float64 // s, since the previous tick; 0 on the first
	host          int
	homes         numa.NodeSet
	local, remote numa.Bytes
	onNode        [numa.MaxNodes]numa.Bytes // by ID
	clients       int                       // clients with a home node
	consumed      numa.Bytes
	large, shared numa.Bytes
	swapped       numa.Bytes
	moves         int64
	vcpus         float64
	run, ready    float64 // seconds a second
	coStop        float64
	price         *simulate.SpeedPoint // nil if it was not computed
}

// A hostSample is one host at one tick.
type hostSample struct {
	at   time.Duration
	free []numa.Bytes // by ID; nil if it is unknown
}

// play runs a story.
func play(ctx context.Context, story *numa.Story, ch vnuma.Choices, pace float64) (*trace, error) {
	t := &trace{story: story, pace: pace, vms: make([][]sample, len(story.Fleet.VMs)), hosts: make([][]hostSample, len(story.Fleet.Hosts))}
	r, err := simulate.Run(ctx, story, simulate.Options{Rules: rules.Options{Choices: ch}, Look: t.look})
	if err != nil {
		return nil, err
	}
	if ps := r.Outcome.Problems; len(ps) > 0 { // a case must be simulated completely
		return nil, fmt.Errorf("%s: %s", ps[0].At, ps[0].Text)
	}
	for i := range t.vms {
		slices.SortStableFunc(t.vms[i], func(a, b sample) int { return cmp.Compare(a.at, b.at) })
		points := r.Speeds[i].Points
		for j := range t.vms[i] {
			s := &t.vms[i][j]
			for k := range points {
				if points[k].Time.Equal(story.Start.Add(s.at)) {
					s.price = &points[k]
				}
			}
		}
	}
	return t, nil
}

func (t *trace) look(host int, tick *numa.Tick, look *scheduler.Look) {
	at := tick.Time.Sub(t.story.Start)
	h := hostSample{at: at}
	if tick.Has&numa.HasFree != 0 {
		h.free = make([]numa.Bytes, numa.MaxNodes)
		for _, n := range tick.Nodes {
			h.free[n.ID] = n.Free
		}
	}
	t.hosts[host] = append(t.hosts[host], h)
	for i := range tick.VMs {
		v := &tick.VMs[i]
		index, _ := look.VM(i)
		s := sample{
			at: at, since: tick.Since.Seconds(), host: host, homes: v.Homes, local: v.Local, remote: v.Remote,
			consumed: v.Consumed, large: v.Large, shared: v.Shared, swapped: v.Swapped, moves: v.Moves.All,
			vcpus: float64(v.VCPUs), run: v.Run, ready: v.Ready, coStop: v.CoStop,
		}
		for _, m := range v.OnNode {
			s.onNode[m.Node] = m.Guest
		}
		look.Clients(i, func(c *scheduler.ClientState) {
			if c.Home >= 0 {
				s.clients++
			}
		})
		t.vms[index] = append(t.vms[index], s)
	}
}

// at returns the time in the story for a time d in the case.
func (t *trace) at(d time.Duration) time.Duration { return time.Duration(float64(d) * t.pace) }

// between returns the samples of a VM at a moment or over a stretch of time. Changes since the
// previous tick belong to the stretch if they begin after its start.
func (t *trace) between(vm int, from, to time.Duration, over bool) []sample {
	all := t.vms[vm]
	from, to = t.at(from), t.at(to)
	if over {
		from++
	}
	a, _ := slices.BinarySearchFunc(all, from, func(s sample, at time.Duration) int { return cmp.Compare(s.at, at) })
	b, _ := slices.BinarySearchFunc(all, to+1, func(s sample, at time.Duration) int { return cmp.Compare(s.at, at) })
	return all[a:b]
}
