package rightsize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// ParseSpan parses a duration as time.ParseDuration does, and days: 7d.
func ParseSpan(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n * 24 * float64(time.Hour)), nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("found %q, want a time such as 90m, 24h or 7d", s)
	}
	return d, nil
}

// ParsePercentage parses "20" or "20%", without an upper limit: a headroom may be 150 %.
func ParsePercentage(s string) (unit.Share, error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "%"))
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("found %q, want a percentage such as 99 or 20%%", s)
	}
	if v > 0 && v < 1 && number == strings.TrimSpace(s) {
		return 0, fmt.Errorf("found %q: want %g for %g %%, or %s%% if it is less than one", s, 100*v, 100*v, number)
	}
	return unit.Share(v / 100), nil
}

// A Node is the value of --node.
type Node struct {
	cores  int
	memory numa.Bytes // 0 when not given
}

// ParseNode parses 16c/256GB or 16c; nil for an empty text.
func ParseNode(s string) (*Node, error) {
	if s == "" {
		return nil, nil
	}
	wrong := fmt.Errorf("found %q, want cores and memory of a node such as 16c/256GB, or its cores alone: 16c", s)
	cores, memory, has := strings.Cut(s, "/")
	number, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(cores)), "c")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || n > numa.MaxCoresPerNode {
		return nil, wrong
	}
	node := &Node{cores: n}
	if has {
		if node.memory, err = unit.ParseSize(memory); err != nil || node.memory < numa.GiB || node.memory > numa.MaxHostMemory {
			return nil, wrong
		}
	}
	return node, nil
}

// machine returns a host of such nodes, with as many nodes as the recording.
func (n *Node) machine(rec *capture.Recording) (vnuma.Machine, error) {
	const why = "--node"
	h := numa.Host{Name: rec.Host, At: why, Release: numa.AssumedFor(numa.Modelled[len(numa.Modelled)-1], "the newest: "+why)}
	nodes := make([]numa.Node, max(1, len(rec.Nodes)))
	for i := range nodes {
		nodes[i] = numa.Node{ID: i, Package: -1, Cores: n.cores, Threads: n.cores}
		memory := n.memory
		if memory == 0 && i < len(rec.Nodes) {
			memory = rec.Nodes[i].Total
		}
		if memory > 0 {
			nodes[i].Memory = numa.AssumedFor(memory, why)
		}
	}
	h.Nodes = numa.AssumedFor(nodes, why)
	return vnuma.NewMachine(&h)
}
