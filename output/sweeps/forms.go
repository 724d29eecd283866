package sweeps

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"homenode/change/sweep"
	"homenode/output/table"
)

// CSV writes a row for each point: its values, and for each measure the mean, the least
// and the most over the seeds, and the difference of the mean from today.
func CSV(w io.Writer, r *sweep.Result) error {
	columns := []table.Column{{Name: "point"}}
	for _, d := range r.Plan.Dimensions {
		columns = append(columns, table.Column{Name: d.Name})
	}
	columns = append(columns, table.Column{Name: "runs"}, table.Column{Name: "failed"}, table.Column{Name: "mark"})
	for _, m := range sweep.Measures {
		for _, of := range []string{"", " least", " most", " against today"} {
			columns = append(columns, table.Column{Name: m.Key + unit(m.Kind) + of})
		}
	}
	columns = append(columns, table.Column{Name: "simulated"})
	rows := make([][]table.Cell, len(r.Points))
	for i := range r.Points {
		pt := &r.Points[i]
		row := []table.Cell{table.Number(i)}
		for d := range r.Plan.Dimensions {
			row = append(row, table.Text(r.Label(pt, d)))
		}
		row = append(row, table.Number(len(pt.Runs)), table.Number(pt.Failed), table.Text(mark(r, i)))
		for k := range sweep.Measures {
			row = append(row, fields(r, pt, k)...)
		}
		rows[i] = append(row, table.YesNo(true))
	}
	return table.CSV(w, table.Of("points", columns, rows))
}

// unit is what a column of CSV and a field of JSON are in.
func unit(kind sweep.MeasureKind) string {
	switch kind {
	case sweep.Share:
		return " %"
	case sweep.Bytes:
		return " MiB"
	case sweep.Cores:
		return " cores"
	}
	return ""
}

// scaleOf is by what a measure is multiplied for its unit.
func scaleOf(kind sweep.MeasureKind) float64 {
	switch kind {
	case sweep.Share:
		return 100
	case sweep.Bytes:
		return 1.0 / (1 << 20)
	}
	return 1
}

// fields are the cells of a measure.
func fields(r *sweep.Result, pt *sweep.PointResult, k int) []table.Cell {
	m := pt.Measured[k]
	if !m.Known {
		return make([]table.Cell, 4)
	}
	by := scaleOf(sweep.Measures[k].Kind)
	figure := func(v float64) table.Cell { return table.Figure(strconv.FormatFloat(v*by, 'f', 6, 64)) }
	out := []table.Cell{figure(m.Mean), figure(m.Low), figure(m.High), {}}
	if d, ok := delta(r, pt, k); ok {
		out[3] = figure(d)
	}
	return out
}

// The form of JSON.
type (
	sweepJSON struct {
		Format     string            `json:"format"`
		Simulated  bool              `json:"simulated"`
		Homenode   string            `json:"homenode"` // version
		Source     string            `json:"source"`
		Start      time.Time         `json:"start"`
		Hours      float64           `json:"hours"`
		Dimensions []sweep.Dimension `json:"dimensions"`
		Seeds      []uint64          `json:"seeds"`
		Best       *int              `json:"best"` // index of points; null when no two differ
		Worst      *int              `json:"worst"`
		Points     []pointJSON       `json:"points"`
		Effects    []effectJSON      `json:"effects"`
		Notes      []string          `json:"notes"`
	}
	pointJSON struct {
		Values   []string              `json:"values"` // by dimension; empty for today
		Steps    []sweep.Step          `json:"steps"`
		Measures map[string]spreadJSON `json:"measures"` // those that are known; encoding/json sorts keys
		Failed   int                   `json:"failed"`
		Runs     []sweep.RunResult     `json:"runs"`
	}
	effectJSON struct {
		Dimension string                `json:"dimension"`
		Value     string                `json:"value"`
		Points    int                   `json:"points"`
		Of        int                   `json:"of"`
		Measures  map[string]spreadJSON `json:"measures"`
	}
	// A spreadJSON is in shares, bytes, hours and cores.
	spreadJSON struct {
		Mean  float64  `json:"mean"`
		Least float64  `json:"least"`
		Most  float64  `json:"most"`
		Delta *float64 `json:"againstToday,omitempty"`
	}
)

// JSON writes everything, the records of all runs included.
func JSON(w io.Writer, r *sweep.Result) error {
	story := r.Plan.Story
	out := sweepJSON{
		Format: "homenode-sweep", Simulated: true, Homenode: r.Plan.Options.Version, Source: story.Name, Start: story.Start, Hours: story.Length.Hours(),
		Dimensions: r.Plan.Dimensions, Seeds: r.Plan.Seeds, Notes: Notes(r), Effects: []effectJSON{},
	}
	if out.Dimensions == nil {
		out.Dimensions = []sweep.Dimension{}
	}
	if r.Best >= 0 {
		out.Best, out.Worst = &r.Best, &r.Worst
	}
	for i := range r.Points {
		pt := &r.Points[i]
		p := pointJSON{Values: []string{}, Steps: pt.Steps, Measures: spreads(pt.Measured), Failed: pt.Failed, Runs: pt.Runs}
		if p.Steps == nil {
			p.Steps = []sweep.Step{}
		}
		for d := range r.Plan.Dimensions {
			if i > 0 {
				p.Values = append(p.Values, r.Label(pt, d))
			}
		}
		for k, m := range sweep.Measures {
			if v, ok := delta(r, pt, k); ok && i > 0 {
				one := p.Measures[m.Key]
				one.Delta = &v
				p.Measures[m.Key] = one
			}
		}
		out.Points = append(out.Points, p)
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		d := &r.Plan.Dimensions[e.Dimension]
		out.Effects = append(out.Effects, effectJSON{d.Name, d.Values[e.Value].Label, e.Points, e.Of, spreads(e.Mean)})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(&out)
}

func spreads(all []sweep.Spread) map[string]spreadJSON {
	out := map[string]spreadJSON{}
	for k, m := range sweep.Measures {
		if s := all[k]; s.Known {
			out[m.Key] = spreadJSON{Mean: s.Mean, Least: s.Low, Most: s.High}
		}
	}
	return out
}
