// Package size has what the answers of the size commands share: words, charts and the table
// of published figures. Each folder in it makes the answers of one command of its typed
// result.
package size

import (
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/draw/picture"
)

// AddCharts adds charts, below each other in one drawing.
func AddCharts(a *answer.Answer, charts ...chart.Chart) {
	if len(charts) > 0 {
		a.Drawings = append(a.Drawings, answer.Drawing{Wide: true, About: charts[0].Title, Picture: func() *picture.Picture { return chart.Of(charts...) }})
	}
}

// Columns is answer.Columns.
var Columns = answer.Columns

// Origin is how a value of a flag came to be: given, or assumed when it is the default.
func Origin(given map[string]bool, flag string) unit.Origin {
	if given[flag] {
		return unit.Given
	}
	return unit.Assumed
}

// InGB returns memory in GB of 2³⁰ bytes.
func InGB(b numa.Bytes) float64 { return float64(b) / float64(numa.GiB) }
