package main

import (
	"github.com/spf13/cobra"

	"homenode/rules/filter"
)

// filterFlags narrow what a command shows. They mean the same wherever they are.
type filterFlags struct{ o filter.Options }

// filterNames are the names of these flags.
var filterNames = []string{"cluster", "vm", "host", "folder", "tag", "rule", "severity", "select"}

func (f *filterFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.o.Clusters, "cluster", nil, "show these clusters; names may have * and ?")
	fl.StringSliceVar(&f.o.VMs, "vm", nil, "show these VMs: names, cluster/name or IDs, with * and ?")
	fl.StringSliceVar(&f.o.Hosts, "host", nil, "show these hosts and the VMs on them")
	fl.StringSliceVar(&f.o.Folders, "folder", nil, "show VMs in these inventory folders and below")
	fl.StringSliceVar(&f.o.Tags, "tag", nil, "show VMs with these tags, or custom attributes as 'owner=db*'")
	fl.StringSliceVar(&f.o.Rules, "rule", nil, "show findings of these checks: IDs or names, with *")
	fl.StringVar(&f.o.Severity, "severity", "", "show findings of this severity or higher: info, low, medium, high")
	fl.StringVar(&f.o.Select, "select", "", "show VMs of which this holds: 'vcpus == 2 && release < 7.0' (docs/outputs.md)")
	completeFlag(cmd, "severity", among([]string{"info", "low", "medium", "high"}))
}

// filter compiles what the flags say; nil shows everything.
func (f *filterFlags) filter() (*filter.Filter, error) { return filter.New(f.o) }
