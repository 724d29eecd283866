package calibrate

import (
	"math"
	"slices"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

// A WhatIf is the cost that changes most when the CPU use of every trial is different.
type WhatIf struct {
	Kind  iocost.Kind
	PerIO unit.Cycles
	By    unit.Share // of the unchanged cost
}

// MoreIdle returns the cost if the idle CPU use of each host had been higher by idle. It is false
// for costs of a process, which have no idle host.
func MoreIdle(r *Result, trials []Trial, o Options, idle unit.Hz) (WhatIf, bool) {
	if len(r.Costs) == 0 || r.Costs[0].Scope != Host {
		return WhatIf{}, false
	}
	return r.otherwise(trials, o, func(l *Load) {
		more := Reading[unit.Hz]{Value: idle}
		if l.Idle != nil {
			more.Value += l.Idle.Value
		}
		l.Idle = &more
	})
}

// MoreCPU returns the cost if the CPU use had been higher by that share.
func MoreCPU(r *Result, trials []Trial, o Options, by unit.Share) (WhatIf, bool) {
	return r.otherwise(trials, o, func(l *Load) { l.CPU.Value *= unit.Hz(1 + by); l.Capacity = 0 })
}

// otherwise returns the cost that changes most when every load is changed.
func (r *Result) otherwise(trials []Trial, o Options, change func(*Load)) (most WhatIf, changed bool) {
	trials = slices.Clone(trials)
	for i := range trials {
		if trials[i].Load != nil {
			l := *trials[i].Load
			change(&l)
			trials[i].Load = &l
		}
	}
	costs := Costs(trials, o).Costs
	for i := range r.Costs {
		was := &r.Costs[i]
		for j := range costs {
			is := &costs[j]
			if is.Kind != was.Kind || is.Scope != was.Scope {
				continue
			}
			if by := unit.Share(is.PerIO.Value/was.PerIO.Value - 1); math.Abs(float64(by)) > math.Abs(float64(most.By)) {
				most = WhatIf{is.Kind, is.PerIO.Value, by}
			}
		}
	}
	return most, most.By != 0
}
