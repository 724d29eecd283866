package word

import (
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// hostWords are the keywords of a host that set one fact, in the order of messages.
var hostWords = wordsOf(numa.HostFacts, func(h *numa.Host) *numa.Host { return h }, words[numa.Host]{{"pci", attached}})

// HostKeys are the keywords of Host, except for the keys of options. NodeKeys are those of Nodes.
var (
	HostKeys = hostWords.keys()
	NodeKeys = nodeKeys()
)

// nodeKeys returns the keywords of numa.HostFacts that describe the nodes together, and those that
// modify them.
func nodeKeys() (keys []string) {
	for i := range numa.HostFacts {
		if p := &numa.HostFacts[i]; p.Nodes {
			keys = append(keys, p.Word)
		}
	}
	return append(keys, "nodeMemory", "assumed")
}

// Nodes is the description of the nodes of a host in words. The zero value is empty.
type Nodes struct {
	Nodes, Cores, Threads int   // cores and threads of each node; 0 if not stated
	Each                  []int // cores of the nodes of a package if they differ; Cores is then the maximum
	Packages              int
	HyperThreading        numa.Fact[bool]
	Memory                numa.Bytes   // of the host; 0 if not stated
	NodeMemory            []numa.Bytes // of each node, or one value for all
	Unknown, Assumed      bool
	NoThreads             bool // hyper-threading is unknown
}

var noMemory = pattern.Of(`(?i)^0 *([KMGT]?B)?$`)

// Take parses a word about the nodes; known is false for another word.
func (n *Nodes) Take(w Word, where string) (known bool, err error) {
	switch w.Key {
	case "nodes":
		n.Unknown = w.Value == Unknown
		if !n.Unknown {
			n.Nodes, err = w.Number(1, numa.MaxNodes)
		}
	case "cores":
		n.Each = nil
		for part := range strings.SplitSeq(w.Value, ",") {
			one := w
			one.Value = part
			cores, err := one.Number(1, numa.MaxCoresPerNode)
			if err != nil {
				return true, err
			}
			n.Each = append(n.Each, cores)
		}
		n.Cores = slices.Max(n.Each)
	case "threads":
		if n.NoThreads = w.Value == Unknown; !n.NoThreads {
			n.Threads, err = w.Number(1, 8*numa.MaxCoresPerNode)
		}
	case "packages":
		n.Packages, err = w.Number(1, numa.MaxNodes)
	case "memory":
		if w.Value != Unknown {
			n.Memory, err = w.Bytes(w.Value, numa.MaxHostMemory)
		}
	case "nodeMemory":
		for part := range strings.SplitSeq(w.Value, ",") {
			var b numa.Bytes // a node may have no memory
			if !noMemory.MatchString(part) {
				if b, err = w.Bytes(part, numa.MaxHostMemory); err != nil {
					return true, err
				}
			}
			n.NodeMemory = append(n.NodeMemory, b)
		}
		if slices.Max(n.NodeMemory) == 0 {
			return true, Errorf(w.Col, "found %s=%q, want a node with memory", Short(w.Key), Short(w.Value))
		}
	case "ht":
		if n.NoThreads = w.Value == Unknown; !n.NoThreads {
			var on bool
			on, err = w.truth()
			n.HyperThreading = numa.ReadAt(on, where)
		}
	case "assumed":
		n.Assumed, err = w.truth()
	default:
		return false, nil
	}
	return true, err
}

// Host sets the fact of h that the word states; where is its origin. An unknown word is an error; words
// about the nodes belong to Nodes.
func Host(h *numa.Host, w Word, where string) error {
	switch keep := numa.KeepOption(w.Key); {
	case keep && w.HasValue:
		h.Options.Value = h.Options.Value.With(w.Key, w.Value)
		return nil
	case !keep && strings.Contains(w.Key, "."): // no other word has a dot
		return Errorf(w.Col, "found option %q, want one of Numa.*, LPage.*, Mem.* or a kernel setting about NUMA", Short(w.Key))
	}
	if known, err := hostWords.set(h, w, where); known {
		return err
	}
	return w.Unknown("host", slices.Concat(NodeKeys, HostKeys, []string{"cluster", "an option such as Numa.PreferHT"}))
}

// Release parses a release at the column, without further text.
func Release(col int, s string) (numa.Release, error) {
	r, err := numa.ParseRelease(s)
	if _, after, more := strings.Cut(s, " "); err != nil || more && !updateForm.MatchString(after) {
		return 0, Errorf(col, "found %q, want a release such as 7.0 U3", Short(s))
	}
	return r, nil
}

// updateForm matches the part that may follow a blank in a release.
var updateForm = pattern.Of(`(?i)^\s*(u|update\s*)\d{1,2}[a-z]?$`)
