package ask

import "example.org/homenode/rules/filter"

// A Filter limits the objects in an answer. Its fields have the same meaning in all questions. Questions about recordings have only some
// of them, because recordings contain neither clusters nor folders or tags.
type Filter struct {
	Clusters []string `ask:"cluster,list" label:"Cluster" help:"show these clusters; names may have * and ?"`
	Folders  []string `ask:"folder,list" help:"show VMs in these inventory folders and below"`
	Tags     []string `ask:"tag,list" help:"show VMs with these tags, or custom attributes as 'owner=db*'"`
	VMs      []string `ask:"vm,list" label:"VM" help:"show these VMs: names, cluster/name or IDs, with * and ?"`
	Hosts    []string `ask:"host,list" label:"Host" help:"show these hosts and the VMs on them"`
	Rules    []string `ask:"rule,list" label:"Rule" example:"N001" help:"show findings of these checks: IDs, with *, or names"`
	Severity string   `ask:"severity" likely:"info,low,medium,high" label:"Severity" help:"show findings of this severity or higher: info, low, medium, high"`
	Select   string   `ask:"select" label:"Condition" example:"vcpus > 16 && hotAdd" help:"show only VMs for which this is true: 'vcpus == 2 && release < 7.0'"`
}

// FilterNames are the names of the fields of a Filter.
var FilterNames = []string{"cluster", "vm", "host", "folder", "tag", "rule", "severity", "select"}

// Options returns the fields as options of package filter.
func (f *Filter) Options() filter.Options {
	return filter.Options{Clusters: f.Clusters, Folders: f.Folders, Tags: f.Tags, VMs: f.VMs, Hosts: f.Hosts, Rules: f.Rules, Severity: f.Severity, Select: f.Select}
}

// Compile compiles the filter; nil selects everything.
func (f *Filter) Compile() (*filter.Filter, error) { return filter.New(f.Options()) }
