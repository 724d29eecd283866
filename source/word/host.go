package word

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"homenode/numa"
)

// HostKeys are the words that Host understands; beside them option:KEY. NodeKeys are
// those of Nodes.
var (
	HostKeys = []string{"release", "build", "cpu", "vendor", "model", "power", "connection", "maintenance", "mhz", "llcCores", "llcSize"}
	NodeKeys = []string{"nodes", "cores", "threads", "packages", "memory", "nodeMemory", "ht", "assumed"}
)

// Nodes is what words say about the nodes of a host. The zero value says nothing.
type Nodes struct {
	Nodes, Cores, Threads int // cores and threads of each node; 0 when unsaid
	Packages              int
	HyperThreading        numa.Fact[bool]
	Memory                numa.Bytes   // of the host; 0 when unsaid
	NodeMemory            []numa.Bytes // of each node, or of all alike
	Unknown, Assumed      bool
}

// Take reads a word about the nodes; known is false for another word.
func (n *Nodes) Take(w Word, where string) (known bool, err error) {
	switch w.Key {
	case "nodes":
		n.Unknown = w.Value == Unknown
		if !n.Unknown {
			n.Nodes, err = w.Number(1, numa.MaxNodes)
		}
	case "cores":
		n.Cores, err = w.Number(1, numa.MaxCoresPerNode)
	case "threads":
		n.Threads, err = w.Number(1, 8*numa.MaxCoresPerNode)
	case "packages":
		n.Packages, err = w.Number(1, numa.MaxNodes)
	case "memory":
		if w.Value != Unknown {
			n.Memory, err = w.Bytes(w.Value, numa.MaxHostMemory)
		}
	case "nodeMemory":
		for part := range strings.SplitSeq(w.Value, ",") {
			b, err := w.Bytes(part, numa.MaxHostMemory)
			if err != nil {
				return true, err
			}
			n.NodeMemory = append(n.NodeMemory, b)
		}
	case "ht":
		var on bool
		on, err = w.truth()
		n.HyperThreading = numa.ReadAt(on, where)
	case "assumed":
		n.Assumed, err = w.truth()
	default:
		return false, nil
	}
	return true, err
}

// Host sets the fact of h that the word states, as read at where. A word that no
// host knows is an error; those about its nodes are for Nodes.
func Host(h *numa.Host, w Word, where string) error {
	if key, ok := strings.CutPrefix(w.Key, "option:"); ok && w.HasValue {
		if !numa.KeepOption(key) {
			return Errorf(w.Col, "found option %q, want one of Numa.*, LPage.*, Mem.* or a mitigation option", Short(key))
		}
		h.Options.Value = With(h.Options.Value, key, w.Value)
		return nil
	}
	switch w.Key {
	case "release":
		return set(&h.Release, w, where, func() (numa.Release, error) { return Release(w.Col, w.Value) })
	case "build":
		return set(&h.Build, w, where, func() (int, error) { return w.Number(1, math.MaxInt32) })
	case "cpu":
		return w.text(&h.CPUModel, where)
	case "vendor":
		return w.text(&h.Vendor, where)
	case "model":
		return w.text(&h.Model, where)
	case "power":
		return w.text(&h.PowerPolicy, where)
	case "connection":
		return set(&h.Connection, w, where, func() (string, error) { return w.oneOf("connected", "disconnected", "notResponding") })
	case "maintenance":
		return set(&h.Maintenance, w, where, w.truth)
	case "mhz":
		return set(&h.CoreMHz, w, where, func() (int, error) { return w.Number(1, numa.MaxCoreMHz) })
	case "llcCores":
		return set(&h.LLCCores, w, where, func() (int, error) { return w.Number(1, numa.MaxCoresPerNode) })
	case "llcSize":
		return set(&h.LLCSize, w, where, func() (numa.Bytes, error) { return w.Bytes(w.Value, numa.TiB) })
	}
	return w.unknown("host", slices.Concat(NodeKeys, HostKeys, []string{"cluster", "option:KEY"}))
}

// Release reads a release at the column, and nothing more.
func Release(col int, s string) (numa.Release, error) {
	r, err := numa.ParseRelease(s)
	if _, after, more := strings.Cut(s, " "); err != nil || more && !updateForm.MatchString(after) {
		return 0, Errorf(col, "found %q, want a release such as 7.0 U3", Short(s))
	}
	return r, nil
}

// updateForm is what may stand after a blank in a release.
var updateForm = regexp.MustCompile(`(?i)^\s*(u|update\s*)\d{1,2}[a-z]?$`)
