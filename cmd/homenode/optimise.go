package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"homenode/change/optimise"
	"homenode/change/propose"
	"homenode/cmd/homenode/flags"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/change"
	"homenode/output/format"
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
		told   flags.StoryInput
		better optimiseFlags
	)
	cmd := &cobra.Command{
		Use:   "optimise SCENARIO|SOURCE",
		Short: "Proposes on which hosts the VMs of a cluster run best, and with which shapes",
		Long: `optimise searches for a distribution of the VMs of a cluster over its hosts, and for shapes of theirs, with which
fewer of them span NUMA nodes; it says what the proposal takes, in which order, and how far it can be from the
best one there is (docs/evidence/optimise.md). It then simulates the cluster as it is and as proposed.

` + flags.StoryHelp + `

Exit code 0: done; 2: usage, I/O, or nothing to distribute.`,
		Example: `  homenode optimise fleet.json --cluster prod
  homenode optimise https://vc01.example.com --cluster prod --apart sql01,sql02 --n-plus-1
  homenode optimise story.txtar --keep-shapes --format json -o proposal.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := told.Check(cmd)
			if err := cmp.Or(err, better.Check()); err != nil {
				return err
			}
			s, o, err := told.Read(cmd, args[0])
			if err != nil {
				return err
			}
			return better.run(cmd, &told.Out, s, args[0], o)
		},
	}
	flags.Group(cmd, "Constraints", better.Register)
	flags.Group(cmd, "Show", told.Outputs(format.Tables...))
	told.Register(cmd)
	return cmd
}

func (f *optimiseFlags) Register(cmd *cobra.Command) {
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
func (f *optimiseFlags) Check() error {
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
		Apart: words.Lists(f.apart), Together: words.Lists(f.together), Stay: f.stay, NPlus1: f.nPlus1, MemoryPercent: f.memory, VCPUsPerCore: f.perCore,
		Reserve: f.reserve, KeepShapes: f.keepShapes, NodeAffinity: f.nodeAffinity, Choices: o.Rules.Choices,
	}
}

// run proposes, simulates the story with and without the proposal, and writes both.
func (f *optimiseFlags) run(cmd *cobra.Command, out *flags.Output, told *numa.Story, source string, o simulate.Options) error {
	r, err := propose.Run(cmd.Context(), told, f.cluster, f.constraints(&o), o)
	switch {
	case err != nil && f.cluster == "" && len(told.Fleet.Clusters) != 1:
		return fmt.Errorf("--cluster: %w", err)
	case err != nil:
		return err
	}
	r.Source = source
	return out.Print(cmd, change.Optimise(r))
}
