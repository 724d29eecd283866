package replay

import (
	"encoding/json"
	"math"

	"example.org/homenode/numa"
)

// A Counter is a quantity that a replay compares.
type Counter int

// The counters, in the order of reports.
const (
	NHN      Counter = iota // home nodes: the same set or not
	Locality                // N%L, in percentage points
	NRMEM                   // in bytes
	NLMEM                   // in bytes
	NMIG                    // NUMA migrations of a VM in the whole replay
	Ready                   // % Ready of the VM, in seconds a second, all vCPUs together
	NodeFree                // free memory of a node, in bytes
	counters
)

var counterNames = [counters]string{"NHN", "N%L", "NRMEM", "NLMEM", "NMIG", "ready", "node free"}

// String returns the counter's name in reports.
func (c Counter) String() string { return counterNames[c] }

// units are the units of figures.
var units = [counters]string{
	NHN: "share of moments that differ", Locality: "share", NRMEM: "bytes", NLMEM: "bytes",
	NMIG: "migrations of a VM", Ready: "seconds a second", NodeFree: "bytes",
}

// Counters returns all counters, in the order of reports.
func Counters() []Counter {
	all := make([]Counter, counters)
	for i := range all {
		all[i] = Counter(i)
	}
	return all
}

// Errors has the error of every counter.
type Errors [counters]Error

// An Error is the error of a run and of a forecast, in sums over the compared values: a VM or a
// node at a moment; for NMIG a VM.
type Error struct {
	Compared int64
	// Observed and Simulated are the sums of the values; 0 for NHN, which has none.
	Observed, Simulated float64
	// Missed is the sum of the absolute errors of the run, Persisted that of the forecast that
	// nothing ever changes. For NHN they count moments that differ.
	Missed, Persisted float64
}

func (e *Error) add(observed, simulated, persistent float64) {
	e.Compared++
	e.Observed += observed
	e.Simulated += simulated
	e.Missed += math.Abs(simulated - observed)
	e.Persisted += math.Abs(persistent - observed)
}

// differ compares sets.
func (e *Error) differ(observed, simulated, persistent numa.NodeSet) {
	e.Compared++
	if simulated != observed {
		e.Missed++
	}
	if persistent != observed {
		e.Persisted++
	}
}

func (e *Error) sum(o *Error) {
	e.Compared += o.Compared
	e.Observed += o.Observed
	e.Simulated += o.Simulated
	e.Missed += o.Missed
	e.Persisted += o.Persisted
}

// Mean returns the mean absolute error of the run; for NHN the share of moments at which the
// home nodes differ. It is false if nothing was compared.
func (e *Error) Mean() (mean float64, ok bool) { return e.mean(e.Missed) }

// Persistence returns the same for the forecast that nothing ever changes.
func (e *Error) Persistence() (mean float64, ok bool) { return e.mean(e.Persisted) }

func (e *Error) mean(of float64) (float64, bool) {
	if e.Compared == 0 {
		return 0, false
	}
	return of / float64(e.Compared), true
}

// Relative returns the error as a share of the observed sum. It is false if that is 0, as
// always for NHN.
func (e *Error) Relative() (share float64, ok bool) {
	if e.Observed <= 0 {
		return 0, false
	}
	return e.Missed / e.Observed, true
}

// Skill returns how much better the run was than the forecast that nothing changes: 1 means no
// error, 0 as good as the forecast, below 0 worse. It is false if the forecast had no error:
// then nothing changed, and there was nothing to predict.
func (e *Error) Skill() (skill float64, ok bool) {
	if e.Persisted <= 0 {
		return 0, false
	}
	return 1 - e.Missed/e.Persisted, true
}

// Figures are the error of a counter as means over the compared values, in the unit; for NMIG
// observed and simulated are sums. Unknown values are nil.
type Figures struct {
	Counter     string   `json:"counter"`
	Unit        string   `json:"unit"`
	Compared    int64    `json:"compared"`
	Observed    *float64 `json:"observed,omitempty"`
	Simulated   *float64 `json:"simulated,omitempty"`
	Error       float64  `json:"error"`
	Relative    *float64 `json:"relative,omitempty"`
	Persistence float64  `json:"persistence"`
	Skill       *float64 `json:"skill,omitempty"`
}

// Figures returns the error as figures of a counter.
func (e *Error) Figures(c Counter) Figures {
	f := Figures{Counter: c.String(), Unit: units[c], Compared: e.Compared}
	scale := 1.0
	if c == Locality { // counted in percent
		scale = 0.01
	}
	f.Error, _ = e.Mean()
	f.Persistence, _ = e.Persistence()
	f.Error, f.Persistence = f.Error*scale, f.Persistence*scale
	if c != NHN && e.Compared > 0 {
		n := float64(e.Compared)
		if c == NMIG {
			n = 1 // the total
		}
		observed, simulated := e.Observed/n*scale, e.Simulated/n*scale
		f.Observed, f.Simulated = &observed, &simulated
	}
	if share, ok := e.Relative(); ok {
		f.Relative = &share
	}
	if skill, ok := e.Skill(); ok {
		f.Skill = &skill
	}
	return f
}

// MarshalJSON writes the figures of the compared counters.
func (e *Errors) MarshalJSON() ([]byte, error) {
	out := []Figures{}
	for c := range counters {
		if e[c].Compared > 0 {
			out = append(out, e[c].Figures(c))
		}
	}
	return json.Marshal(out)
}
