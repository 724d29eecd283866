// Package size has the common parts of the answers of the size commands: words, charts and the
// table of published figures. Each subfolder converts the typed result of one command to an
// answer.
package size

import (
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
)

// AddCharts adds charts as one drawing, one below the other.
func AddCharts(a *answer.Answer, charts ...chart.Chart) {
	if len(charts) > 0 {
		a.Drawings = append(a.Drawings, answer.Drawing{Wide: true, About: charts[0].Title, Picture: func() *picture.Picture { return chart.Of(charts...) }})
	}
}

// Columns is answer.Columns.
var Columns = answer.Columns

// Origin returns the origin of a flag's value: given, or assumed for the default.
func Origin(given map[string]bool, flag string) unit.Origin {
	if given[flag] {
		return unit.Given
	}
	return unit.Assumed
}

// InGB returns memory in GB of 2³⁰ bytes.
func InGB(b numa.Bytes) float64 { return float64(b) / float64(numa.GiB) }
