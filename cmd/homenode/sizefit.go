package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/capacity/fit"
	"homenode/numa"
	"homenode/output/sizing"
)

// fitFlags are the flags of size fit.
type fitFlags struct {
	size     sizeFlags
	vms      []string
	hosts    string
	count    int
	spare    int
	release  string
	reserve  float64
	perCore  float64
	overhead string
}

func newSizeFit() *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "fit --vm SHAPE --hosts TYPES",
		Short: "How many VMs of a shape fit each type of host with all memory local, and what is left",
		Long: `fit says how many VMs of a shape fit a host without remote memory: as the model of ESXi places them, node by node,
with the soft reserve of each node kept free.

A host type is sockets x cores of a socket / memory: 2x32c/1TB. More can follow: /snc2 or /nps4 (NUMA nodes of a socket),
/noht, @2.6GHz, =18000 (price of a host); a name stands before it: R760:2x32c/1TB.`,
		Example: `  homenode size fit --vm 12x96GB --hosts 2x32c/1TB,2x48c/1.5TB`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vms, "vm", nil, "shape of the VMs: 12x96GB is 12 vCPUs and 96 GB (repeatable)")
	fl.StringVar(&f.hosts, "hosts", "", "host types: 2x32c/1TB,2x48c/1.5TB")
	fl.IntVar(&f.count, "count", 10, "hosts of the cluster")
	fl.IntVar(&f.spare, "spare", 1, "hosts that may fail at once")
	fl.StringVar(&f.release, "release", "8.0U3", "ESXi release of the host types")
	fl.Float64Var(&f.reserve, "reserve", 1, "how many times its soft reserve every node keeps free")
	fl.Float64Var(&f.perCore, "vcpus-per-core", 1, "most vCPUs of a node per core")
	fl.StringVar(&f.overhead, "overhead", "", "memory of a VM beside its guest's: 1GB or 1%; VMware's table when not given")
	f.size.register(cmd)
	return cmd
}

func (f *fitFlags) run(cmd *cobra.Command) error {
	if err := f.size.check(); err != nil {
		return err
	}
	a, release, err := f.ask()
	if err != nil {
		return err
	}
	r, err := fit.Fit(a)
	if err != nil {
		return err
	}
	given := map[string]bool{}
	for _, name := range []string{"release", "reserve", "vcpus-per-core", "overhead", "count"} {
		given[name] = cmd.Flags().Changed(name)
	}
	return f.size.write(cmd, sizing.Fit(a, r, fit.Changes(a, r), given, release))
}

// ask reads the flags.
func (f *fitFlags) ask() (*fit.Ask, numa.Release, error) {
	release, err := numa.ParseRelease(f.release)
	if err != nil {
		return nil, 0, fmt.Errorf("--release: %w", err)
	}
	a := &fit.Ask{Hosts: f.count, Spare: f.spare}
	if len(f.vms) == 0 {
		return nil, 0, fmt.Errorf("--vm: found none, want a shape such as 12x96GB")
	}
	if strings.TrimSpace(f.hosts) == "" {
		return nil, 0, fmt.Errorf("--hosts: found none, want host types such as 2x32c/1TB,2x48c/1.5TB")
	}
	for _, text := range f.vms {
		s, err := fit.ParseShape(text)
		if err != nil {
			return nil, 0, fmt.Errorf("--vm: %w", err)
		}
		a.Shapes = append(a.Shapes, s)
	}
	if a.Types, err = fit.ParseTypes(f.hosts, release); err != nil {
		return nil, 0, fmt.Errorf("--hosts: %w", err)
	}
	a.Reserve, a.PerCore = f.reserve, f.perCore
	if a.Overhead, err = fit.ParseOverhead(f.overhead); err != nil {
		return nil, 0, fmt.Errorf("--overhead: %w", err)
	}
	return a, release, nil
}
