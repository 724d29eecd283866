// Package series names the quantities of a tick for exports: one table for Parquet,
// OpenMetrics and /metrics, so that a counter has one name, unit and meaning in all. It is
// apart from numa because the names are Prometheus's (base units, unit last), not the model's.
package series

import (
	"iter"
	"math"
	"slices"

	"homenode/numa"
)

// What a counter is about; names begin with it.
const (
	Host = "host"
	Node = "node"
	VM   = "vm"
)

// A Counter is one quantity.
type Counter struct {
	// Name is the subject, the quantity and the unit: vm_numa_local_bytes. OpenMetrics puts
	// homenode_ in front.
	Name string
	Unit string // the end of Name; empty for a plain number
	// Events says that the value counts what happened since the tick before.
	Events bool
	Help   string // one sentence, without a full stop
	Esxtop string // what it is in esxtop's words; empty when it comes from elsewhere
}

// A Value is one quantity of one subject at the moment of its tick.
type Value struct {
	Counter int // of All
	VM      int // of Tick.VMs; -1 for host and node
	Node    int // ID; -1 when the value is not of one node
	Number  float64
}

// of is a counter with where its value stands in a T.
type of[T any] struct {
	Counter
	has   numa.Counters    // has to be stated; 0 when value tells
	value func(*T) float64 // NaN when it is not stated
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

// HomeNodes is the counter in All that is a set: its Number is the sum of 2ⁿ over the home
// nodes n, 0 for none.
var HomeNodes = slices.IndexFunc(All(), func(c Counter) bool { return c.Name == homeNodes })

const homeNodes = "vm_numa_home_nodes"

// Values yields every value that the tick states: first of the host, then of its nodes and
// its VMs in the tick's order, each in the order of All. What is unknown, not a number or
// infinite is left out.
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

// each yields what subject states of the counters, the first of which has the number
// v.Counter. It reports whether to go on.
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
