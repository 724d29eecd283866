// Package quantity defines the quantities of a VM that are compared before and after a change: whether more is better, and which
// difference matters.
package quantity

import (
	"fmt"
	"math"

	"example.org/homenode/numa"
)

// A Quantity is one that a change of a VM should improve, or must not harm.
type Quantity struct {
	Name   string `json:"name"`
	Title  string `json:"title"`  // in tables and sentences
	Unit   string `json:"unit"`   // of every value: "bytes", "an hour", or a share in [0, 1]
	Higher bool   `json:"higher"` // higher is better
	// Least is the smallest difference that matters, in Unit. It is an assumption.
	Least float64 `json:"least"`
}

// The quantities. Ready and co-stop are esxtop's %RDY and %CSTP of the VM divided by its vCPUs and by 100.
var (
	LocalPercent = Quantity{"localPercent", "N%L", "share", true, 0.01}
	RemoteBytes  = Quantity{"remoteBytes", "remote memory", "bytes", false, 0}
	Migrations   = Quantity{"migrations", "migrations", "an hour", false, 1}
	Ready        = Quantity{"ready", "ready", "share of each vCPU", false, 0.005}
	CoStop       = Quantity{"coStop", "co-stop", "share of each vCPU", false, 0.005}
)

// Harm lists the quantities that a change must not harm.
var Harm = []Quantity{Ready, CoStop, RemoteBytes}

// Text formats a difference: "9.0 points" for a share, "1.5 GB" for bytes. It rounds to the nearest.
func (m Quantity) Text(difference float64) string {
	if m.Unit == "bytes" {
		return numa.Bytes(math.Round(difference)).String()
	}
	return fmt.Sprintf("%.1f points", math.Round(1000*difference)/10+0) // + 0: no "-0.0"
}

// AtLeast is Text rounded up, for promises.
func (m Quantity) AtLeast(difference float64) string {
	if m.Unit == "bytes" {
		return m.Text(difference)
	}
	return m.Text(max(0, math.Ceil(1000*difference-1e-9)) / 1000)
}
