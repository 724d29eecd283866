package open

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homenode/internal/alike"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/source/scenario"
	"homenode/source/text"
)

// divide sets the NUMA nodes of each package. An item is HOST=NUMBER, several stand
// between commas or, in @FILE, on lines.
func divide(fleet *numa.Fleet, args []string) error {
	for _, arg := range args {
		items := strings.Split(arg, ",")
		if path, ok := strings.CutPrefix(arg, "@"); ok {
			b, err := text.File(path)
			if err != nil {
				return err
			}
			items = strings.Split(string(b), "\n")
		}
		for _, item := range items {
			item, _, _ = strings.Cut(item, "#")
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			pattern, n, ok := strings.Cut(item, "=")
			k, err := strconv.Atoi(strings.TrimSpace(n))
			if !ok || err != nil || k < 1 {
				return fmt.Errorf("--nodes-per-socket: found %q, want HOST=NUMBER", item)
			}
			pattern = strings.TrimSpace(pattern)
			err = fleet.SetNodesPerSocket(pattern, k, "--nodes-per-socket "+item)
			if errors.Is(err, numa.ErrNoHost) {
				var names []string
				for i := range fleet.Hosts {
					names = append(names, texttab.Clean(fleet.Hosts[i].Name))
				}
				return fmt.Errorf("%w%s", err, alike.After(strings.Trim(pattern, "*?"), names))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// AssumedHost reads the words of --assume-host, which are those of a host line of
// a scenario.
func AssumedHost(text string) (numa.Host, error) {
	const before = "host assumed "
	fleet, err := scenario.Read("--assume-host", []byte(before+text))
	if err != nil {
		if e, ok := err.(*numa.SyntaxError); ok {
			return numa.Host{}, fmt.Errorf("--assume-host: column %d: %s", max(1, e.Col-len(before)), e.Msg)
		}
		return numa.Host{}, err
	}
	if len(fleet.Hosts) != 1 || len(fleet.VMs) > 0 {
		return numa.Host{}, fmt.Errorf("--assume-host: found %q, want the words of one host: nodes=2 cores=18 memory=1024GB release=7.0U3", text)
	}
	h := fleet.Hosts[0]
	if !strings.Contains(text, "nodes=") && (h.Nodes.Known() || !h.Release.Known()) {
		return numa.Host{}, fmt.Errorf("--assume-host: found no nodes=: how many NUMA nodes does the host have? Hosts that lack their release alone want release=8.0U3")
	}
	h.At = "--assume-host"
	h.Assume("--assume-host")
	return h, nil
}

// assume gives the hosts that no source states.
func assume(fleet *numa.Fleet, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	h, err := AssumedHost(text)
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
