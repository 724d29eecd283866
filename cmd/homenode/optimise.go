package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/change/optimise"
	"homenode/numa"
	"homenode/output/report"
	"homenode/rules/simulate"
)

// optimiseFlags say what a better distribution of the VMs of a cluster must keep.
type optimiseFlags struct {
	cluster      string
	apart        []string
	together     []string
	stay         []string
	nPlus1       bool
	keepShapes   bool
	nodeAffinity bool
	memory       int
	perCore      float64
	reserve      float64
}

func newOptimise() *cobra.Command {
	var (
		told   storyInput
		better optimiseFlags
	)
	cmd := &cobra.Command{
		Use:   "optimise SCENARIO|SOURCE",
		Short: "Proposes on which hosts the VMs of a cluster run best, and with which shapes",
		Long: `optimise searches for a distribution of the VMs of a cluster over its hosts, and for shapes of theirs, with which
fewer of them span NUMA nodes; it says what the proposal takes, in which order, and how far it can be from the
best one there is (docs/optimise.md). It then simulates the cluster as it is and as proposed.

` + storyHelp + `

Exit code 0: done; 2: usage, I/O, or nothing to distribute.`,
		Example: `  homenode optimise fleet.json --cluster prod
  homenode optimise https://vc01.example.com --cluster prod --apart sql01,sql02 --n-plus-1
  homenode optimise story.txtar --keep-shapes --format json -o proposal.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := told.check()
			if err := cmp.Or(err, better.check()); err != nil {
				return err
			}
			s, o, err := told.read(cmd, args[0])
			if err != nil {
				return err
			}
			return better.run(cmd, &told.out, s, args[0], o)
		},
	}
	flagGroup(cmd, "Constraints", better.register)
	flagGroup(cmd, "Show", told.outputs("table", "json"))
	told.register(cmd)
	return cmd
}

func (f *optimiseFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.cluster, "cluster", "", "the cluster, or standalone host; not needed when there is one")
	fl.StringArrayVar(&f.apart, "apart", nil, "VMs of which no two share a host: 'sql01,sql02' (repeatable)")
	fl.StringArrayVar(&f.together, "together", nil, "VMs that share one host: 'app01,db01' (repeatable)")
	fl.StringSliceVar(&f.stay, "stay", nil, "VMs that stay where they are")
	fl.BoolVar(&f.nPlus1, "n-plus-1", false, "the VMs of any one host must find room on the others")
	fl.BoolVar(&f.keepShapes, "keep-shapes", false, "propose vMotions only, no change of cores per socket and the like")
	fl.BoolVar(&f.nodeAffinity, "node-affinity", false, "propose numa.nodeAffinity too; it outlives its reason")
	fl.IntVar(&f.memory, "memory-percent", 0, "of a host's memory that its VMs may have together; 100 unless overcommitted")
	fl.Float64Var(&f.perCore, "vcpus-per-core", 0, "most vCPUs of a host's VMs per core; 0 for no limit")
	fl.Float64Var(&f.reserve, "reserve", 1, "how many times its soft reserve every node is to keep free (rule H007)")
}

// check looks at the flags before anything is read.
func (f *optimiseFlags) check() error {
	switch {
	case f.memory < 0 || f.memory > 1000:
		return fmt.Errorf("--memory-percent: found %d, want 0 to 1000", f.memory)
	case !(f.perCore >= 0 && f.perCore <= 1000):
		return fmt.Errorf("--vcpus-per-core: found %v, want 0 to 1000", f.perCore)
	case !(f.reserve >= 0 && f.reserve <= 10):
		return fmt.Errorf("--reserve: found %v, want 0 to 10", f.reserve)
	}
	return nil
}

func (f *optimiseFlags) constraints(o *simulate.Options) optimise.Constraints {
	return optimise.Constraints{
		Apart: groups(f.apart), Together: groups(f.together), Stay: f.stay, NPlus1: f.nPlus1, MemoryPercent: f.memory, VCPUsPerCore: f.perCore,
		Reserve: f.reserve, KeepShapes: f.keepShapes, NodeAffinity: f.nodeAffinity, Choices: o.Rules.Choices,
	}
}

func groups(texts []string) (out [][]string) {
	for _, text := range texts {
		var names []string
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		out = append(out, names)
	}
	return out
}

// run proposes, simulates the story with and without the proposal, and writes both.
func (f *optimiseFlags) run(cmd *cobra.Command, out *outputFlags, told *numa.Story, source string, o simulate.Options) error {
	cluster := f.cluster
	if cluster == "" && len(told.Fleet.Clusters) == 0 && len(told.Fleet.Hosts) == 1 {
		cluster = told.Fleet.Hosts[0].Name
	}
	p, notes, err := optimise.FromFleet(told.Fleet, cluster, demandIn(told), f.constraints(&o))
	switch {
	case err != nil && cluster == "" && len(told.Fleet.Clusters) != 1:
		return fmt.Errorf("--cluster: %w", err)
	case err != nil:
		return err
	}
	proposal, err := optimise.Solve(p, optimise.Options{})
	if err != nil {
		return err
	}
	r := report.Optimised{
		Source: source, Cluster: cluster, Problem: p, Proposal: proposal, Notes: notes, Fleet: told.Fleet,
		Length: told.Length.String(),
	}
	r.EventsLeftOut, r.Off = leftOut(told, p)
	if r.Cluster == "" && len(told.Fleet.Clusters) == 1 {
		r.Cluster = told.Fleet.Clusters[0].Name
	}
	if !o.Silent && len(proposal.Steps) > 0 {
		if r.Before, r.After, err = both(cmd.Context(), told, p, proposal, o); err != nil {
			return err
		}
	}
	return out.write(cmd, func(to io.Writer, colour bool) error {
		if out.format == "json" {
			return report.OptimisedJSON(to, &r)
		}
		return report.OptimisedText(to, &r, colour)
	})
}

// both simulates the hosts of a problem as they are and as proposed, under the loads of
// the story and without its other events: they would undo the proposal.
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

// only returns the fleet with the VMs of a problem alone powered on, so that both runs
// are about the same.
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

// demandIn returns the most that the vCPUs of a VM ask for in a story, from its start to its
// end: that of the load it has at the start, and of those it changes to.
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

// kept reports whether an event is part of both runs: what VMs are loaded with changes, and
// who talks; everything else would undo the proposal.
func kept(e *numa.Event, in map[string]bool) bool {
	return e.Kind == numa.LoadChange && in[e.VM] || e.Kind == numa.TalkChange
}

// leftOut counts the events of the story that are no part of the runs, and the VMs of the
// hosts that are off at the start: nobody reckons with them.
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
		if v := &s.Fleet.VMs[i]; hosts[v.Host] && !in[v.ID] && !v.Template.Value && v.Power.Or(numa.PoweredOn) != numa.PoweredOn {
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
