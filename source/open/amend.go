package open

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/text"
)

// divide sets the number of NUMA nodes of each package. An item is HOST=NUMBER; several are
// separated by commas or, in @FILE, by line breaks.
func divide(fleet *numa.Fleet, args []string) error {
	for _, arg := range args {
		items, err := lines(arg, ",")
		if err != nil {
			return err
		}
		for _, item := range items {
			pattern, n, ok := strings.Cut(item, "=")
			k, err := strconv.Atoi(strings.TrimSpace(n))
			if !ok || err != nil || k < 1 {
				return fmt.Errorf("--nodes-per-socket: found %q, want HOST=NUMBER", item)
			}
			pattern = strings.TrimSpace(pattern)
			named, found := glob.Compile([]string{pattern}, glob.Domain), false
			for i := range fleet.Hosts {
				h := &fleet.Hosts[i]
				if !named.Match(h.Name) {
					continue
				}
				found = true
				if err := h.SetNodesPerSocket(k, "--nodes-per-socket "+item); err != nil {
					return fmt.Errorf("--nodes-per-socket %s: host %s: %w", item, h.Name, err)
				}
			}
			if !found {
				names := words.Texts(fleet.Hosts, func(one numa.Host) string { return texttab.Clean(one.Name) })
				return fmt.Errorf("--nodes-per-socket %s: no host is named %q%s", item, pattern, alike.After(pattern, names))
			}
		}
	}
	return nil
}

// lines returns the items of an argument, separated by separator or, in @FILE, by line breaks,
// without comments.
func lines(arg, separator string) (items []string, err error) {
	all := []string{arg}
	if separator != "" {
		all = strings.Split(arg, separator)
	}
	if path, ok := strings.CutPrefix(arg, "@"); ok {
		b, err := text.File(path)
		if err != nil {
			return nil, err
		}
		all = strings.Split(string(b), "\n")
	}
	for _, item := range all {
		item, _, _ = strings.Cut(item, "#")
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items, nil
}

// state sets the products in the guests of VMs. An argument is VM=PRODUCT, or @FILE with such
// lines; later ones take precedence.
func state(fleet *numa.Fleet, args []string) error {
	for _, arg := range args {
		items, err := lines(arg, "")
		if err != nil {
			return err
		}
		for _, item := range items {
			name, what, ok := strings.Cut(item, "=")
			name, what = strings.TrimSpace(name), strings.TrimSpace(what)
			if !ok || name == "" || what == "" {
				return fmt.Errorf("--product: found %q, want VM=PRODUCT, such as 'sql*=SQL Server 2022 Standard'", item)
			}
			if err := stateOne(fleet, name, numa.Fact[string]{Value: what, Origin: numa.Origin{Kind: numa.Read, Where: "--product " + item}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// stateOne sets the product of the VMs whose name matches the pattern.
func stateOne(fleet *numa.Fleet, pattern string, what numa.Fact[string]) error {
	meant := glob.Compile([]string{pattern}, "")
	found := false
	var names []string
	for i := range fleet.VMs {
		v := &fleet.VMs[i]
		names = append(names, texttab.Clean(v.Name))
		if meant.Match(v.Name) {
			v.Product, found = what, true
		}
	}
	if !found {
		return fmt.Errorf("--product: no VM is named %q%s", pattern, alike.After(pattern, names))
	}
	return nil
}

// AssumedHost parses the value of --assume-host. It has the keywords of a host line in a
// scenario.
func AssumedHost(text string) (numa.Host, error) {
	const before = "host assumed "
	if _, err := numa.ParseRelease(text); err == nil && !strings.Contains(text, "=") {
		return numa.Host{}, fmt.Errorf("--assume-host: found %q, want release=%s", text, text)
	}
	if first, _, _ := strings.Cut(text, " "); first != "" && !strings.Contains(first, "=") {
		return numa.Host{}, fmt.Errorf("--assume-host: found %q, want the sockets, the cores of a socket and the memory, such as 2x18c/1TB release=8.0U3", first)
	}
	fleet, err := scenario.Read("--assume-host", []byte(before+text))
	if err != nil {
		if e, ok := err.(*numa.SyntaxError); ok {
			return numa.Host{}, fmt.Errorf("--assume-host: column %d: %s", max(1, e.Col-len(before)), e.Msg)
		}
		return numa.Host{}, err
	}
	if len(fleet.Hosts) != 1 || len(fleet.VMs) > 0 {
		return numa.Host{}, fmt.Errorf("--assume-host: found %q, want the words of one host, with the cores of a node and the memory of the host: nodes=2 cores=18 memory=1024GB release=7.0U3", text)
	}
	h := fleet.Hosts[0]
	if strings.Contains(text, "nodes=") && !h.Nodes.Known() {
		return numa.Host{}, fmt.Errorf("--assume-host: found nodes= without cores=: how many cores does each node have? such as nodes=2 cores=18")
	}
	if !strings.Contains(text, "nodes=") && (h.Nodes.Known() || !h.Release.Known()) {
		return numa.Host{}, fmt.Errorf("--assume-host: found no nodes=: how many NUMA nodes does the host have? Hosts that lack their release alone want release=8.0U3")
	}
	h.At = "--assume-host"
	h.Assume("--assume-host")
	return h, nil
}

// assume sets the hosts of VMs whose host is in no source.
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
