// Package size makes the answers of the size commands of their typed results.
package size

import (
	"io"

	"homenode/output/answer"
	"homenode/output/draw/chart"
)

// addCharts adds charts, below each other in one drawing.
func addCharts(a *answer.Answer, charts []chart.Chart) {
	if len(charts) > 0 {
		a.Drawings = append(a.Drawings, answer.Drawing{Wide: true, About: charts[0].Title, Draw: func(w io.Writer) error {
			return chart.Draw(w, charts, chart.Options{})
		}})
	}
}
