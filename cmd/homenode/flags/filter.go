package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"homenode/rules/filter"
)

// A Filter has the flags that narrow what a command shows. They mean the same wherever they are.
type Filter struct{ o filter.Options }

// Register adds the flags to a command.
func (f *Filter) Register(cmd *cobra.Command) { f.RegisterOnly(cmd) }

// RegisterOnly adds those of these names; all without names.
func (f *Filter) RegisterOnly(cmd *cobra.Command, only ...string) {
	var fl pflag.FlagSet
	fl.StringSliceVar(&f.o.Clusters, "cluster", nil, "show these clusters; names may have * and ?")
	fl.StringSliceVar(&f.o.Folders, "folder", nil, "show VMs in these inventory folders and below")
	fl.StringSliceVar(&f.o.Tags, "tag", nil, "show VMs with these tags, or custom attributes as 'owner=db*'")
	fl.StringSliceVar(&f.o.VMs, "vm", nil, "show these VMs: names, cluster/name or IDs, with * and ?")
	fl.StringSliceVar(&f.o.Hosts, "host", nil, "show these hosts and the VMs on them")
	fl.StringSliceVar(&f.o.Rules, "rule", nil, "show findings of these checks: IDs or names, with *")
	fl.StringVar(&f.o.Severity, "severity", "", "show findings of this severity or higher: info, low, medium, high")
	fl.StringVar(&f.o.Select, "select", "", "show VMs of which this holds: 'vcpus == 2 && release < 7.0'")
	add(cmd, &fl, only)
	if cmd.Flags().Lookup("severity") != nil {
		Complete(cmd, "severity", Among([]string{"info", "low", "medium", "high"}))
	}
}

// Compile compiles what the flags say; nil shows everything.
func (f *Filter) Compile() (*filter.Filter, error) { return filter.New(f.o) }

// One returns the VM that alone is asked for by its name; "" when patterns or several are.
func (f *Filter) One() string { return f.o.One() }
