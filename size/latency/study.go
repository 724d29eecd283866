package latency

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"homenode/esxi/cost"
	"homenode/numa/unit"
)

// An Ask is what a study looks at. The zero value is the published ladder.
type Ask struct {
	Core    unit.Hz       // 0 means the clock of the article, CoreOf2019
	Machine *cost.Machine // whose memory is taken; nil for the median of the published hosts
	Samples []Sample      // the user's own
	// Calls is how often a request takes a step, Budget what a request may take in all; 0
	// for unknown.
	Calls  float64
	Budget unit.Seconds
	Remote unit.Share // of memory accesses, for what that costs
}

// A Line is one rung with what follows from it. It counts with the user's own value where
// there is one, else with the published. Where only local memory was measured, other memory
// counts with that times the published ratio: another host's figure beside the user's own
// would mix two machines.
type Line struct {
	Rung
	Yours  *Own         `json:"yours,omitempty"`
	Value  unit.Seconds `json:"value"` // what counts
	PerRAM float64      `json:"perRam"`
	// PerCall is the time in local function calls, Cycles what the core waits.
	PerCall float64     `json:"perCall"`
	Cycles  unit.Cycles `json:"cycles"`
	// Takes is how long that many calls take, Fits how many fit the budget: one after the
	// other. 0 and nil when they were not asked for.
	Takes unit.Seconds `json:"takes,omitempty"`
	Fits  *float64     `json:"fits,omitempty"`
}

// A Memory is the mean latency of RAM when a share of the accesses is remote.
type Memory struct {
	Remote unit.Share   `json:"remote"`
	Value  unit.Seconds `json:"value"`
	Slower unit.Share   `json:"slower"` // than all local
}

// A Result is the ladder, in the order of the published latencies.
type Result struct {
	Core   unit.Hz      `json:"core"`
	Calls  float64      `json:"calls,omitempty"`
	Budget unit.Seconds `json:"budget,omitempty"`
	Lines  []Line       `json:"lines"`
	// Published and Yours are remote RAM as a multiple of local RAM.
	Published Ratio  `json:"publishedRemote"`
	Yours     *Ratio `json:"yourRemote,omitempty"`
	Memory    Memory `json:"memory"`

	YoursIs Side     `json:"-"` // beside the published range
	Notes   []string `json:"-"` // what limits the figures
}

// Study returns the ladder. Its error says what of the question is impossible.
func Study(a *Ask) (*Result, error) {
	core := a.Core
	if core == 0 {
		core = CoreOf2019
	}
	switch {
	case !finite(float64(core)) || core <= 0:
		return nil, fmt.Errorf("core: found %v, want a clock above 0", core)
	case !finite(a.Calls) || a.Calls < 0:
		return nil, fmt.Errorf("calls: found %v, want a number above 0", a.Calls)
	case !finite(float64(a.Budget)) || a.Budget < 0:
		return nil, errors.New("budget: want a time above 0")
	case !(a.Remote >= 0 && a.Remote <= 1):
		return nil, fmt.Errorf("remote share: found %v, want 0 to 100 %%", a.Remote)
	}
	for _, s := range a.Samples {
		if !finite(float64(s.Value)) || s.Value <= 0 {
			return nil, fmt.Errorf("%s: %s: found %v, want a time above 0", s.Where, s.What, s.Value)
		}
	}
	r := &Result{Core: core, Calls: a.Calls, Budget: a.Budget, Published: RemoteRatio()}
	for _, rung := range Ladder(core, a.Machine) {
		line := Line{Rung: rung, Yours: own(rung.Step, a.Samples, rung.Published)}
		switch {
		case line.Yours != nil:
			line.Value = line.Yours.Value
		case rung.Published != nil:
			line.Value = rung.Published.Value
		default:
			continue // neither published nor measured
		}
		r.Lines = append(r.Lines, line)
	}
	r.sameHost(a.Machine)
	ram, call := r.line(RAM).Value, r.line(Call).Value
	for i := range r.Lines {
		l := &r.Lines[i]
		l.PerRAM, l.PerCall = float64(l.Value/ram), float64(l.Value/call)
		l.Cycles = core.In(l.Value)
		l.Takes = unit.Seconds(a.Calls * float64(l.Value))
		if a.Budget > 0 {
			n := fits(a.Budget, l.Value)
			l.Fits = &n
		}
	}
	local, far := r.line(RAM), r.line(RAMFar)
	if local.Yours != nil && far.Yours != nil {
		r.Yours = &Ratio{Value: float64(far.Value / local.Value), Low: float64(far.Yours.Low / local.Yours.High), High: float64(far.Yours.High / local.Yours.Low)}
	}
	if r.Yours != nil {
		r.YoursIs = r.Published.side(r.Yours.Value)
	}
	r.Memory = r.Mixed(a.Remote)
	r.Notes = r.notes()
	return r, nil
}

// sameHost gives memory that was not measured the value that fits local memory that was.
func (r *Result) sameHost(m *cost.Machine) {
	local := r.line(RAM)
	if local.Yours == nil {
		return
	}
	for _, step := range []Step{RAMNear, RAMFar} {
		l := r.line(step)
		if l.Yours != nil {
			continue
		}
		ratio := float64(l.Published.Value / local.Published.Value)
		if step == RAMFar && m == nil {
			ratio = r.Published.Value // of hosts, not of medians
		}
		l.Value = unit.Seconds(float64(local.Value) * ratio)
	}
}

// notes returns the limits of what was published, and the user's own values whose unit is
// doubtful.
func (r *Result) notes() []string {
	notes := slices.Clone(limits)
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Yours != nil && l.Published != nil && (l.Yours.Value > 20*l.Published.High || l.Yours.Value < l.Published.Low/20) {
			notes = append(notes, fmt.Sprintf("Your %s is more than 20 times outside of what was published: is its unit right?", l.Name))
		}
	}
	return notes
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// fits returns how many whole steps fit a time; a step that takes exactly a part of it
// fits as often, in spite of rounding.
func fits(budget, step unit.Seconds) float64 {
	return math.Floor(float64(budget/step) * (1 + 1e-12))
}

// Line returns the line of a step; false when it has none.
func (r *Result) Line(s Step) (*Line, bool) {
	for i := range r.Lines {
		if r.Lines[i].Step == s {
			return &r.Lines[i], true
		}
	}
	return nil, false
}

// line returns the line of a step that every ladder has.
func (r *Result) line(s Step) *Line {
	l, ok := r.Line(s)
	if !ok {
		panic("the ladder has no " + string(s)) // a caller's bug
	}
	return l
}

// Mixed returns the mean latency of RAM when that share of the accesses is to the other
// package: local × (1 − share) + far × share.
func (r *Result) Mixed(remote unit.Share) Memory {
	local, far := float64(r.line(RAM).Value), float64(r.line(RAMFar).Value)
	v := local*float64(1-remote) + far*float64(remote)
	return Memory{Remote: remote, Value: unit.Seconds(v), Slower: unit.Share(v/local - 1)}
}

// Slowest returns the slowest step of which so many fit the budget, one when no number was
// asked for; false when not even
// the fastest does.
func (r *Result) Slowest() (*Line, bool) {
	var best *Line
	for i := range r.Lines {
		if l := &r.Lines[i]; max(l.Takes, l.Value) <= r.Budget && (best == nil || l.Value > best.Value) {
			best = l
		}
	}
	return best, best != nil
}
