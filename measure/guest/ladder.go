package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/measure/guest/steps"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// A place is the processors of the two ends of a step.
type place struct {
	name string
	a, b int
}

// places returns one vCPU, two of one L3 cache and two of different nodes, as far as the guest knows them.
func places(m *machine.Machine, cpus []int) []place {
	if len(cpus) == 0 {
		return nil
	}
	out := []place{{"one vCPU", cpus[0], cpus[0]}}
	node := func(n int) int {
		for _, p := range m.Topology.Processors {
			if p.Number == n {
				return p.Node
			}
		}
		return -1
	}
	near := ""
	for _, c := range cpus[1:] {
		switch {
		case node(c) != node(cpus[0]):
			return append(out, place{"other node", cpus[0], c})
		case near == "":
			near = "two vCPUs"
			if slices.ContainsFunc(m.Topology.Caches, func(l machine.Cache) bool {
				return l.Level == 3 && slices.Contains(l.CPUs, c) && slices.Contains(l.CPUs, cpus[0])
			}) {
				near = "same L3"
			}
			out = append(out, place{near, cpus[0], c})
		}
	}
	return out
}

// ladderTasks returns the steps from the system call to the remote procedure call.
func ladderTasks(p *Plan) (out []Task) {
	each := 300 * time.Millisecond
	if p.Options.quick() {
		each = 40 * time.Millisecond
	}
	all := steps.All()
	disk := slices.IndexFunc(all, func(s steps.Step) bool { return s.Disk })
	all = slices.Insert(all, disk, p.Options.Requests...)
	if p.Options.Requests == nil && p.Options.asks(Ladder) {
		p.miss("rpc, http, rpc-like", "this program has no HTTP", "homenode measure ladder")
	}
	for _, s := range all {
		where := []place{{}}
		if s.Ends {
			where = places(p.Machine, p.CPUs)
		}
		if s.Disk && p.Options.asks(Ladder) && p.diskMissing(s.Name) {
			continue
		}
		for _, at := range where {
			name := s.Name
			if at.name != "" {
				name += ", " + at.name
			}
			out = append(out, Task{Part: Ladder, Name: name, CPUs: 2, For: each, run: func(ctx context.Context, r *run, d time.Duration) error {
				samples, err := s.Run(ctx, steps.Options{A: at.a, B: at.b, Pinned: s.Ends, For: d, Dir: p.Options.Dir})
				if err != nil {
					return err
				}
				stats, ok := r.stats(samples)
				if !ok {
					return errors.New("took no samples")
				}
				r.out.Steps = append(r.out.Steps, measured.Step{Name: s.Name, Where: at.name, Latency: stats, About: s.About})
				return nil
			}})
		}
	}
	return out
}

// diskMissing reports whether writes cannot be measured, and records the reason.
func (p *Plan) diskMissing(step string) bool {
	if p.Options.Dir == "" {
		p.miss(step, "no folder was named", "--fsync DIR")
		return true
	}
	kind, err := steps.InMemory(p.Options.Dir)
	if err != nil {
		p.miss(step, fmt.Sprintf("%s: %v", p.Options.Dir, err), "--fsync DIR names a folder that this user may write to")
		return true
	}
	if kind != "" {
		p.miss(step, fmt.Sprintf("%s is a %s, which keeps files in memory", p.Options.Dir, kind), "--fsync DIR names a folder on a disk")
		return true
	}
	return false
}
