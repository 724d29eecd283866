package iocost

import (
	"fmt"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/fit"
)

// FindCluster returns the hosts of one cluster of a fleet, or a standalone host. The hosts must be
// equal. core is the frequency of hosts that report none; 0 for none.
func FindCluster(fleet *numa.Fleet, name string, core unit.Hz) (c Cluster, err error) {
	hosts, name, err := fit.HostsOf(fleet, name)
	if err != nil {
		return c, fmt.Errorf("--cluster: %w", err)
	}
	c = Cluster{Name: name, Hosts: len(hosts)}
	for i, h := range hosts {
		cores, frequency := h.Cores.Value, unit.Hz(h.CoreMHz.Value)*unit.MHz
		known := h.CoreMHz.Known() && frequency > 0
		switch {
		case !h.Cores.Known() || cores <= 0:
			return c, fmt.Errorf("%s: the source does not say how many cores it has: want --host-cores, --core and --host-count instead", h.Name)
		case !known && core == 0:
			return c, fmt.Errorf("%s: the source does not say the frequency of its cores: want --core, their base frequency, beside it", h.Name)
		case known && core > 0 && frequency != core:
			return c, fmt.Errorf("--core: found %s, but the source says %s of %s", core, frequency, h.Name)
		case !known:
			frequency, c.CoreGiven = core, true
		}
		if i > 0 && (cores != c.Cores || frequency != c.Core) {
			return c, fmt.Errorf("%s has %d cores of %s, %s has %d of %s: want hosts that are alike, or --host-cores, --core and --host-count",
				h.Name, cores, frequency, hosts[0].Name, c.Cores, c.Core)
		}
		c.Cores, c.Core = cores, frequency
	}
	return c, nil
}
