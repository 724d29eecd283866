package main

import (
	"fmt"
	"slices"
	"strings"

	"homenode/numa"
	"homenode/source/scenario"
)

// assumedHost reads the words of --assume-host, which are those of a host line of
// a scenario.
func assumedHost(text string) (numa.Host, error) {
	const before = "host assumed "
	fleet, err := scenario.Read("--assume-host", []byte(before+text))
	if err != nil {
		if e, ok := err.(*scenario.SyntaxError); ok {
			return numa.Host{}, fmt.Errorf("--assume-host: column %d: %s", max(1, e.Col-len(before)), e.Msg)
		}
		return numa.Host{}, err
	}
	if len(fleet.Hosts) != 1 || len(fleet.VMs) > 0 {
		return numa.Host{}, fmt.Errorf("--assume-host: found %q, want the words of one host: nodes=2 cores=18 memory=1024GB release=7.0U3", text)
	}
	h := fleet.Hosts[0]
	if !strings.Contains(text, "nodes=") {
		return numa.Host{}, fmt.Errorf("--assume-host: found no nodes=: how many NUMA nodes does the host have?")
	}
	h.At = "--assume-host"
	h.Assume("--assume-host")
	return h, nil
}

// assume applies --assume-host.
func (f *sourceFlags) assume(fleet *numa.Fleet) error {
	if strings.TrimSpace(f.assumeHost) == "" {
		return nil
	}
	h, err := assumedHost(f.assumeHost)
	if err != nil {
		return err
	}
	before := len(fleet.Notes)
	if hosts, vms := fleet.AssumeHost(h); hosts+vms == 0 {
		if len(fleet.Notes) > before {
			return fmt.Errorf("--assume-host: %s", fleet.Notes[before].Text)
		}
		return fmt.Errorf("--assume-host: the source states the hosts of all VMs: there is nothing to assume")
	}
	fleet.Notes = slices.DeleteFunc(fleet.Notes, func(n numa.Note) bool { return strings.HasSuffix(n.Text, "--assume-host can") })
	return fleet.Check()
}
