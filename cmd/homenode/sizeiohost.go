package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/internal/alike"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/size/iocost"
)

// host reads the hosts of the flags.
func (f *sizeIOFlags) host(cmd *cobra.Command, q *iocost.Question) (err error) {
	q.Cluster = iocost.Cluster{Hosts: f.hosts, Cores: f.cores}
	switch {
	case f.cluster != "":
		return errors.New("--cluster: only with a SOURCE that has it")
	case f.hosts < 1 || f.hosts > 100_000:
		return fmt.Errorf("--hosts: found %d, want 1 or more", f.hosts)
	case cmd.Flags().Changed("host-cores") && (f.cores < 1 || f.cores > 100_000):
		return fmt.Errorf("--host-cores: found %d, want 1 or more", f.cores)
	case f.core == "" && f.cores > 0:
		return errors.New("--host-cores: want --core, the base frequency, beside it")
	case f.cores == 0 && cmd.Flags().Changed("hosts"):
		return errors.New("--hosts: want --host-cores and --core beside it")
	case f.core == "":
		return nil
	}
	if q.Cluster.Core, err = unit.ParseHz(f.core); err != nil {
		return fmt.Errorf("--core: %w", err)
	}
	return nil
}

// inventory reads the hosts of one cluster of a source.
func (f *sizeIOFlags) inventory(cmd *cobra.Command, source string, q *iocost.Question) error {
	var core unit.Hz // of hosts whose frequency the source does not state
	if f.core != "" {
		var err error
		if core, err = unit.ParseHz(f.core); err != nil {
			return fmt.Errorf("--core: %w", err)
		}
	}
	for _, flag := range []string{"host-cores", "hosts"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: not with a SOURCE, which states the hosts", flag)
		}
	}
	fleet, err := f.source.read(cmd, source)
	if err != nil {
		return err
	}
	hosts, name, err := hostsOf(fleet, f.cluster)
	if err != nil {
		return err
	}
	c := iocost.Cluster{Name: name, Hosts: len(hosts)}
	for i, h := range hosts {
		cores, frequency := h.Cores.Value, unit.Hz(h.CoreMHz.Value)*unit.MHz
		known := h.CoreMHz.Known() && frequency > 0
		switch {
		case !h.Cores.Known() || cores <= 0:
			return fmt.Errorf("%s: the source does not say how many cores it has: want --host-cores, --core and --hosts instead", h.Name)
		case !known && core == 0:
			return fmt.Errorf("%s: the source does not say the frequency of its cores: want --core, their base frequency, beside it", h.Name)
		case known && core > 0 && frequency != core:
			return fmt.Errorf("--core: found %s, but the source says %s of %s", f.core, frequency, h.Name)
		case !known:
			frequency, c.CoreGiven = core, true
		}
		if i > 0 && (cores != c.Cores || frequency != c.Core) {
			return fmt.Errorf("%s has %d cores of %s, %s has %d of %s: want hosts that are alike, or --host-cores, --core and --hosts",
				h.Name, cores, frequency, hosts[0].Name, c.Cores, c.Core)
		}
		c.Cores, c.Core = cores, frequency
	}
	q.Cluster = c
	return nil
}

// hostsOf returns the hosts of a cluster, or the standalone host of that name. Without a
// name it is the only one that there is.
func hostsOf(fleet *numa.Fleet, name string) ([]numa.Host, string, error) {
	groups := map[string][]numa.Host{}
	for _, h := range fleet.Hosts {
		group := h.Name
		if h.Cluster != "" {
			group = fleet.ClusterName(h.Cluster)
		}
		groups[group] = append(groups[group], h)
	}
	var names []string
	for n := range groups {
		names = append(names, n)
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return nil, "", errors.New("the source has no host")
	case name == "" && len(names) == 1:
		return groups[names[0]], names[0], nil
	case name == "":
		return nil, "", fmt.Errorf("--cluster: want one of %s", some(names))
	case groups[name] == nil:
		if found := alike.Names(name, names); found != nil {
			return nil, "", fmt.Errorf("--cluster: found no %q; alike: %s", name, strings.Join(found, ", "))
		}
		return nil, "", fmt.Errorf("--cluster: found no %q, want one of %s", name, some(names))
	}
	return groups[name], name, nil
}

// some returns the first few names.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
