package latency

import (
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/measured"
)

// inside holds the properties of one homenode measure run that decide which of its figures
// substitute for others.
type inside struct {
	nodes     bool            // latency from node to node
	huge      map[string]bool // levels measured with huge pages: without the cost of small ones
	near, far float64         // ns, for two kinds of pages; 0 when only one kind was found
}

var level = pattern.Of(`^latency (L1|L2|L3|RAM), (small|huge) pages$`)

// insideOf returns the runs of homenode measure by their places.
func insideOf(all []Measurement) map[string]*inside {
	out := map[string]*inside{}
	for i := range all {
		m := &all[i]
		if m.Tool != string(numa.ByMeasure) {
			continue
		}
		in := out[m.Where]
		if in == nil {
			in = &inside{huge: map[string]bool{}}
			out[m.Where] = in
		}
		switch v := level.FindStringSubmatch(m.Metric); {
		case v != nil:
			in.huge[v[1]] = in.huge[v[1]] || v[2] == "huge"
		case pair.MatchString(m.Metric):
			in.nodes = true
		case m.Metric == measured.MetricNear:
			in.near = m.Value
		case m.Metric == measured.MetricFar:
			in.far = m.Value
		}
	}
	return out
}

// insideSteps are the steps of homenode measure by name. Its other steps have no rung.
var insideSteps = map[string]Step{"syscall": Syscall, "pipe": Switch, "unix": Unix, "tcp": TCP, "http": HTTP, "rpc-like": RPCLike, "fsync": FSync}

// step returns the rung of a metric, "" for none.
func (in *inside) step(metric string) Step {
	v := level.FindStringSubmatch(metric)
	switch {
	case metric == measured.MetricNear:
		return RAM
	case metric == measured.MetricFar:
		return RAMFar
	case v == nil:
		name, _, _ := strings.Cut(metric, ", ")
		return insideSteps[name]
	case v[2] == "small" && in.huge[v[1]], v[1] == "RAM" && (in.nodes || in.far > 0):
		return ""
	}
	return map[string]Step{"L1": L1, "L2": L2, "L3": L3, "RAM": RAM}[v[1]]
}
