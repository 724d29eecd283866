package measured

import (
	"fmt"
	"strings"
	"time"

	"example.org/homenode/numa"
)

func (r *Result) started() string { return r.Started.UTC().Format(time.RFC3339) }

// Observation converts the result to an observation of the VM; at is its place. Parts that prove nothing about the VM are
// omitted, with the reasons in notes: the topology when limits showed a part of the machine or software emulated it, hidden
// nodes when the figures are not trusted. Finding only one kind of memory is no observation.
func (r *Result) Observation(at string) (o numa.Observation, notes []string) {
	emulated := r.Machine.Identity.Emulated.Value
	switch partial := r.Machine.Limits.Partial; {
	case emulated:
		notes = append(notes, "the machine is emulated by software: its topology and its latencies are not those of a host")
	case len(partial) > 0:
		notes = append(notes, "it covers a part of the machine, so its topology is not taken: "+strings.Join(partial, "; "))
	default:
		o = r.Machine.Topology.Observation()
		from(&o.VPDs, "machine.topology.processors")
		from(&o.Sockets, "machine.topology.processors")
		from(&o.SocketCount, "machine.topology.processors")
		from(&o.VPDCount, "machine.topology.nodes")
		from(&o.Slices, "machine.topology.nodes")
	}
	o.By, o.At = numa.ByMeasure, at
	if !r.Started.IsZero() {
		o.Time = r.started()
	}
	switch {
	case emulated || r.Hidden == nil && r.Lost == nil:
	case !r.Trust.OK:
		notes = append(notes, strings.Join(append([]string{"it does not trust its own figures, so what it says of hidden nodes and lost time is not taken"}, r.Trust.Reasons...), ": "))
	default:
		if why := r.hidden(&o); why != "" {
			notes = append(notes, why)
		}
		if r.Lost != nil {
			o.Lost = numa.ReadAt(r.Lost.ByHost, "lost.byHost")
		}
	}
	return o, notes
}

// from sets the place of a fact in the file.
func from[T any](f *numa.Fact[T], path string) {
	if f.Known() {
		*f = numa.ReadAt(f.Value, path)
	}
}

// hidden adds the evidence in latencies for nodes of the host. It returns the reason when they contradict the topology.
func (r *Result) hidden(o *numa.Observation) string {
	h := r.Hidden
	if h == nil || h.Answer != SeveralNodes && h.Answer != FarPages {
		return ""
	}
	var far []numa.FarShare
	for _, s := range h.Shares {
		if s.Of == "fresh" || s.Of == "page cache" || s.Of == "all" {
			far = append(far, numa.FarShare{Of: s.Of + ofCPUs(s.From), Share: s.Remote, Low: s.Low, High: s.High})
		}
	}
	if len(far) > 0 {
		o.Far = numa.ReadAt(far, "hidden.shares")
	}
	if h.Answer != SeveralNodes || len(h.Groups) < 2 {
		return ""
	}
	place := map[int]int{} // of each processor among the vCPUs
	together := make([]int, len(r.Machine.Topology.Processors))
	for i, p := range r.Machine.Topology.Processors {
		place[p.Number], together[i] = i, -1
	}
	for group, cpus := range h.Groups {
		for _, cpu := range cpus {
			i, ok := place[cpu]
			if !ok || together[i] >= 0 {
				return fmt.Sprintf("hidden.groups names processor %d, which the machine does not have or another group has: the groups are not taken", cpu)
			}
			together[i] = group
		}
	}
	o.Together = numa.ReadAt(together, "hidden.groups")
	return ""
}
