// Package series names the quantities of a tick for exports. Parquet, OpenMetrics and /metrics
// share this table, so a counter has one name, unit and meaning everywhere. It is separate from
// numa because the names follow Prometheus (base units, unit last), not the model.
package series

import (
	"iter"
	"math"
	"slices"

	"example.org/homenode/numa"
)

// Subjects of counters; names begin with them.
const (
	Host = "host"
	Node = "node"
	VM   = "vm"
)

// A Counter is one quantity.
type Counter struct {
	// Name is the subject, the quantity and the unit: vm_numa_local_bytes. OpenMetrics adds the
	// prefix homenode_.
	Name string
	Unit string // suffix of Name; empty for a plain number
	// Events means that the value counts events since the previous tick.
	Events bool
	Help   string // one sentence, without a full stop
	Esxtop string // name in esxtop; empty if it comes from elsewhere
}

// A Value is one quantity of one subject at the time of its tick.
type Value struct {
	Counter int // index in All
	VM      int // index in Tick.VMs; -1 for host and node
	Node    int // ID; -1 if the value is not about one node
	Number  float64
}

// of is a counter and the function that reads it from a T.
type of[T any] struct {
	Counter
	has   numa.Counters    // required counters; 0 if value decides
	value func(*T) float64 // NaN if not stated
}

// All returns every counter: those of the host, of a node, of a VM, and of a VM on a node.
func All() []Counter {
	return slices.Concat(names(hosts), names(nodes), names(vms), names(parts))
}

func names[T any](counters []of[T]) (all []Counter) {
	for _, c := range counters {
		all = append(all, c.Counter)
	}
	return all
}

// HomeNodes is the index in All of the counter that is a set: its Number is the sum of 2ⁿ over
// the home nodes n, 0 for none.
var HomeNodes = slices.IndexFunc(All(), func(c Counter) bool { return c.Name == homeNodes })

const homeNodes = "vm_numa_home_nodes"

// Values yields every value of the tick: first the host's, then those of its nodes and VMs in
// the tick's order, each in the order of All. Unknown values, NaN and infinities are skipped.
func Values(t *numa.Tick) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		first := 0
		if !each(hosts, t, t.Has, Value{first, -1, -1, 0}, yield) {
			return
		}
		first += len(hosts)
		for i := range t.Nodes {
			n := &t.Nodes[i]
			if !each(nodes, n, n.Has, Value{first, -1, n.ID, 0}, yield) {
				return
			}
		}
		first += len(nodes)
		for i := range t.VMs {
			v := &t.VMs[i]
			if !each(vms, v, v.Has, Value{first, i, -1, 0}, yield) {
				return
			}
			for k := range v.OnNode {
				m := &v.OnNode[k]
				if !each(parts, m, 0, Value{first + len(vms), i, m.Node, 0}, yield) {
					return
				}
			}
		}
	}
}

// each yields the values of the counters for subject; the first counter has the number
// v.Counter. It reports whether to continue.
func each[T any](counters []of[T], subject *T, has numa.Counters, v Value, yield func(Value) bool) bool {
	first := v.Counter
	for i := range counters {
		c := &counters[i]
		if has&c.has != c.has {
			continue
		}
		v.Number = c.value(subject)
		if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) {
			continue
		}
		v.Counter = first + i
		if !yield(v) {
			return false
		}
	}
	return true
}
