package recording

import (
	"cmp"
	"context"
	"fmt"

	"example.org/homenode/ask"
	"example.org/homenode/change/optimise"
	"example.org/homenode/change/propose"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/change"
)

// Optimise asks on which hosts the VMs of a cluster run best, and with which shapes. Its fields are the constraints on the distribution.
type Optimise struct {
	ask.Asked
	Scenario   string   `ask:"scenario,arg,need"`
	Cluster    string   `ask:"cluster" group:"Constraints" help:"the cluster, or standalone host; not needed when there is one"`
	Apart      []string `ask:"apart" help:"VMs that must not share a host: 'sql01,sql02' (repeatable)"`
	Together   []string `ask:"together" help:"VMs that share one host: 'app01,db01' (repeatable)"`
	Stay       []string `ask:"stay,list" help:"VMs that stay where they are"`
	NPlus1     bool     `ask:"n-plus-1" help:"the VMs of any one host must find room on the others"`
	KeepShapes bool     `ask:"keep-shapes" help:"propose vMotions only, no change of cores per socket and the like"`
	Memory     int      `ask:"memory-percent" help:"of a host's memory that its VMs may have together; 100 unless overcommitted"`
	PerCore    float64  `ask:"vcpus-per-core" help:"most vCPUs of a host's VMs per core; 0 for no limit"`
	Reserve    float64  `ask:"reserve" default:"1" help:"how many times its soft reserve every node is to keep free (rule H007)"`
	ask.Play   `group:"Story"`
}

// Answer computes a proposal, simulates the story with and without it, and answers with both.
func (f *Optimise) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	err := cmp.Or(between("memory-percent", float64(f.Memory), 1000), between("vcpus-per-core", f.PerCore, 1000), between("reserve", f.Reserve, 10))
	if err != nil {
		return nil, err
	}
	told, _, o, err := f.Told(ctx, e, &f.Asked, f.Scenario)
	if err != nil {
		return nil, err
	}
	show, clear := e.Doing("tried", "distribution")
	defer clear()
	r, err := propose.Run(ctx, told, f.Cluster, optimise.Constraints{
		Apart: words.Lists(f.Apart), Together: words.Lists(f.Together), Stay: f.Stay, NPlus1: f.NPlus1, MemoryPercent: f.Memory, VCPUsPerCore: f.PerCore,
		Reserve: f.Reserve, KeepShapes: f.KeepShapes, Choices: o.Rules.Choices,
	}, o, show)
	switch {
	case err != nil && f.Cluster == "" && len(told.Fleet.Clusters) != 1:
		return nil, ask.Wrong("cluster", err)
	case err != nil:
		return nil, err
	}
	r.Source = f.Scenario
	reply, err := ask.Answered(change.Optimise(r), nil)
	return ask.Partly(reply, err, f.Incomplete())
}

// between rejects a value outside of 0 to most.
func between(field string, x, most float64) error {
	if x >= 0 && x <= most {
		return nil
	}
	return ask.Wrong(field, fmt.Errorf("found %v, want 0 to %v", x, most))
}
