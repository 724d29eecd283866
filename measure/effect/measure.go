package effect

import (
	"fmt"
	"math"

	"homenode/numa"
)

// A Measure is a quantity of a VM that a change is to move, or must not harm.
type Measure struct {
	Name   string `json:"name"`
	Title  string `json:"title"`  // as tables and sentences have it
	Unit   string `json:"unit"`   // of every value: "share" in [0, 1], or "bytes"
	Higher bool   `json:"higher"` // is better
	// Least is the effect that matters, in Unit. Below it a certain effect is of no consequence. It is assumed, and
	// the same as in package captures.
	Least float64 `json:"least"`
}

// The measures. Ready and co-stop are shares of each vCPU: esxtop's %RDY and %CSTP of the VM by its vCPUs, by 100.
var (
	LocalPercent = Measure{"localPercent", "N%L", "share", true, 0.01}
	FarShare     = Measure{"farShare", "far share", "share", false, 0.01}
	Ready        = Measure{"ready", "ready", "share", false, 0.005}
	CoStop       = Measure{"coStop", "co-stop", "share", false, 0.005}
	RemoteBytes  = Measure{"remoteBytes", "remote memory", "bytes", false, 0}
)

// Measures lists all, Harm those in which a change must not harm.
var (
	Measures = []Measure{LocalPercent, FarShare, Ready, CoStop, RemoteBytes}
	Harm     = []Measure{Ready, CoStop, RemoteBytes}
)

// Text writes a difference in words: "9.0 points" of a share, "1.5 GB" of bytes. It rounds to the nearest.
func (m Measure) Text(difference float64) string {
	if m.Unit == "bytes" {
		return numa.Bytes(math.Round(difference)).String()
	}
	return fmt.Sprintf("%.1f points", math.Round(1000*difference)/10+0) // + 0: no "-0.0"
}

// atLeast is Text rounded up, for what is promised.
func (m Measure) atLeast(difference float64) string {
	if m.Unit == "bytes" {
		return m.Text(difference)
	}
	return m.Text(max(0, math.Ceil(1000*difference-1e-9)) / 1000)
}
