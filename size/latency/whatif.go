package latency

import "homenode/numa/unit"

// A Change is one step of the ladder, had something been otherwise.
type Change struct {
	Value  unit.Seconds // of the step
	Slower unit.Share   // than as it is; below 0 when faster
}

// Clocked returns the core cycles that wait for local RAM, with cores clocked so much higher: RAM
// takes as long as before.
func (r *Result) Clocked(higher unit.Share) (before, after float64, ok bool) {
	ram, ok := r.Line(RAM)
	if !ok {
		return 0, 0, false
	}
	return float64(ram.Cycles), float64(ram.Cycles) * float64(1+higher), true
}

// OneMoreSwitch returns RDMA over one more switch that stores a frame before it sends it on.
func (r *Result) OneMoreSwitch() (Change, bool) {
	rdma, ok := r.Line(RDMA)
	frame, also := r.Line(Ethernet)
	if !ok || !also {
		return Change{}, false
	}
	return Change{rdma.Value + frame.Value, unit.Share(frame.Value / rdma.Value)}, true
}

// CompiledCalls returns remote calls of a compiled language instead of those of the ladder.
func (r *Result) CompiledCalls() (Change, bool) {
	python, ok := r.Line(RPC)
	fast, also := r.Line(RPCFast)
	if !ok || !also {
		return Change{}, false
	}
	return Change{fast.Value, unit.Share(fast.Value/python.Value - 1)}, true
}
