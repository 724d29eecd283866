package iocost

import (
	"fmt"
	"slices"

	"homenode/numa"
	"homenode/numa/unit"
)

// A circumstance is a question that differs in one thing.
type circumstance struct {
	name  string
	q     Question
	share bool // only the share of the cluster differs
}

// variants returns the circumstances that the answer is tried against.
func (q *Question) variants() []circumstance {
	var out []circumstance
	if !q.Options.Rules {
		out = append(out, q.blocks(2)...)
		out = append(out, q.blocks(0.5)...)
		for _, read := range []unit.Share{1, 0} {
			v, changed := q.each(func(a *Asked) bool {
				if !a.storage() || a.Read == read {
					return false
				}
				a.Read = read
				return true
			})
			if changed {
				out = append(out, circumstance{name: "100 % " + direction(read) + "s", q: v})
			}
		}
		vsan := slices.ContainsFunc(q.Workloads, func(a Asked) bool { return a.Path == VSANESA })
		if vsan && !q.Options.RDMA {
			v := *q
			v.Options.RDMA = true
			out = append(out, circumstance{name: "vSAN over RDMA", q: v})
		}
		v := *q
		v.Options.Rules = true
		out = append(out, circumstance{name: "by the rules of thumb", q: v})
	}
	if q.Cluster.Hosts > 1 && q.Cluster.Cores > 0 {
		v := *q
		v.Cluster.Hosts--
		out = append(out, circumstance{name: fmt.Sprintf("one host less (%d)", v.Cluster.Hosts), q: v, share: true})
	}
	return out
}

// blocks returns the question with blocks of another size: as many I/Os where these were
// given, as much throughput where that was.
func (q *Question) blocks(factor float64) []circumstance {
	var name string
	v, changed := q.each(func(a *Asked) bool {
		block := numa.Bytes(float64(a.Block) * factor)
		if !a.storage() || block < leastBlock || block > mostBlock {
			return false
		}
		name = "blocks of " + size(block)
		switch {
		case a.ByThroughput:
			a.Rate = a.Bits().Rate(block)
			name += ", same throughput"
		case !a.Open:
			name += ", same IOPS"
		}
		a.Block = block
		return true
	})
	if !changed {
		return nil
	}
	storage := 0
	for i := range q.Workloads {
		if q.Workloads[i].storage() {
			storage++
		}
	}
	if storage > 1 {
		name = fmt.Sprintf("all blocks × %v", factor)
	}
	return []circumstance{{name: name, q: v}}
}

// each returns the question with its workloads changed, and whether any was.
func (q *Question) each(change func(*Asked) bool) (Question, bool) {
	v, any := *q, false
	v.Workloads = slices.Clone(q.Workloads)
	for i := range v.Workloads {
		any = change(&v.Workloads[i]) || any
	}
	return v, any
}
