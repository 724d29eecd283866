package size

import (
	"cmp"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/size/sheet"
)

// Answer returns the answer of a calculator. All sheets have the same structure, with one
// picture.
func Answer(command string, r *sheet.Run) *answer.Answer {
	a := &answer.Answer{Command: command, Result: r}
	for _, l := range r.Lines("question") {
		a.Question += r.Text(l["text"])
	}
	for _, l := range r.Lines("verdict") {
		a.Verdict = append(a.Verdict, r.Text(l["text"]))
	}
	for _, l := range said(r, "assumed") {
		a.Assumed = words.Once(a.Assumed, assumed(l.run, l.Line))
	}
	for _, t := range []answer.Table{Rows("rows", r), table(r)} {
		if len(t.Rows) > 0 {
			a.Tables = append(a.Tables, t)
		}
	}
	bars := []bar{{"as asked", r}}
	for _, l := range said(r, "changes") {
		next := l.run
		if l.Line["set"] != "" {
			next = r.With(l.Line["set"])
		}
		name := next.Text(l.Line["if"])
		a.Changes = append(a.Changes, answer.Change{If: name, Result: next.Text(l.Line["result"]), Change: next.Text(l.Line["change"])})
		if l.Line["set"] != "" {
			bars = append(bars, bar{name, next})
		}
	}
	var notes []string
	for _, l := range said(r, "notes") {
		notes = words.Once(notes, l.run.Text(l.Line["text"]))
	}
	a.Note(notes...)
	for _, l := range r.Lines("undrawn") {
		a.NoDrawing = r.Text(l["text"])
	}
	for _, l := range r.Lines("next") {
		a.Next = append(a.Next, r.Text(l["text"]))
	}
	for _, l := range r.Lines("picture") {
		if l["of"] == "rows" {
			bars = nil
			for _, row := range r.Rows {
				bars = append(bars, bar{row.Text(l["name"]), row})
			}
		}
		AddCharts(a, barsOf(r, l, bars))
	}
	return a
}

// A line is a line of a sheet, about the whole run or one row.
type line struct {
	sheet.Line
	run *sheet.Run
}

// said returns the applicable lines of a table: those "of rows" for each row, then the others.
func said(r *sheet.Run, table string) (out []line) {
	for _, row := range r.Rows {
		for _, l := range row.Lines(table + " of rows") {
			out = append(out, line{l, row})
		}
	}
	for _, l := range r.Lines(table) {
		out = append(out, line{l, r})
	}
	return out
}

// assumed returns the assumption in a line. Empty cells have the values of its figure.
func assumed(r *sheet.Run, l sheet.Line) answer.Assumption {
	out := answer.Assumption{What: r.Text(l["what"]), Value: r.Text(l["value"]), Origin: unit.Origin(r.Text(l["origin"])), Source: r.Text(l["source"]), Note: r.Text(l["note"])}
	if f, ok := r.Get(cmp.Or(l["figure"], "nil")).(sheet.Value); ok {
		if out.Value == "" {
			out.Value, out.Range = f.String(), f.Range()
		}
		out.Origin, out.Source, out.Note, out.Hardware = cmp.Or(out.Origin, f.Origin), cmp.Or(out.Source, f.Source), cmp.Or(out.Note, f.Note), f.Hardware
	}
	return out
}

// Rows returns the table with a line for each row of the calculator.
func Rows(name string, r *sheet.Run) answer.Table {
	t := answer.Table{Name: name}
	for _, l := range r.Lines("title") {
		t.Title = r.Text(l["text"])
	}
	columns := r.Lines("columns")
	for _, c := range columns {
		t.Columns = append(t.Columns, Columns(r.Text(c["heading"]))...)
	}
	for _, row := range r.Rows {
		if row.Values["shown"] == false {
			continue
		}
		var cells []string
		for _, c := range columns {
			cells = append(cells, row.Text(c["cell"]))
		}
		t.Add(cells...)
	}
	return t
}

// table returns the table whose lines are in the sheet.
func table(r *sheet.Run) answer.Table {
	headings := r.Sheet.Columns("table")
	t := answer.Table{Name: "parts", Columns: Columns(headings...)}
	for _, l := range r.Lines("table") {
		var cells []string
		for _, h := range headings {
			cells = append(cells, r.Text(l[h]))
		}
		t.Add(cells...)
	}
	return t
}

// A bar is the content of one bar in the picture.
type bar struct {
	name string
	run  *sheet.Run
}

// barsOf draws rows, or the requested result and the result of each change.
func barsOf(r *sheet.Run, l sheet.Line, all []bar) chart.Chart {
	drawn := &chart.Bars{Limit: r.Text(l["line"])}
	drawn.X = picture.Axis{Label: r.Text(l["label"]), Log: l["axis"] == "log", Bytes: l["axis"] == "bytes", Text: sheet.Units[l["unit"]]}
	for _, b := range all {
		row := chart.Row{Name: b.name, Value: b.run.Text(l["value"])}
		if limit, ok := b.run.Get(cmp.Or(l["limit"], "nil")).(sheet.Value); ok {
			row.Limit = limit.Value
		}
		end := 0.0
		for _, s := range b.run.Lines("segments") {
			v, ok := b.run.Get(s["value"]).(sheet.Value)
			if !ok || v.Value <= 0 {
				continue
			}
			one := chart.Segment{Kind: b.run.Text(s["kind"]), Value: v.Value, Soft: b.run.Get(cmp.Or(s["soft"], "false")) == true}
			if v.Low < v.High {
				one.Low, one.High = end+v.Low, end+v.High
			}
			end += v.Value
			row.Segments = append(row.Segments, one)
		}
		if row.Segments != nil {
			drawn.Rows = append(drawn.Rows, row)
		}
	}
	return chart.Chart{ID: l["id"], Title: r.Text(l["title"]), Note: r.Text(l["note"]), Figure: drawn}
}
