package dump

import (
	"fmt"
	"math"
	"slices"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/draw/chart"
	"homenode/size/dump"
)

const chartNote = "b-dump, b-osdata; 1 GiB = 2³⁰ bytes. The range is where the core dump file may end."

// inGiB writes a number of bytes in GiB, for an axis.
func inGiB(v float64) string { return unit.Digits(v/float64(dump.GiB), 3) }

func axis() chart.Axis { return chart.Axis{Label: "boot device, GiB", Bytes: true, Text: inGiB} }

// bar is the boot device from the boot loader to what is left.
func bar(name string, p *dump.Plan) chart.Row {
	l, size := &p.Layout, p.File.Size
	row := chart.Row{Name: name, Value: p.Left.Value.String() + " left", Limit: float64(l.Boot)}
	if p.Left.Value < 0 {
		row.Value = (-p.Left.Value).String() + " missing"
	}
	add := func(kind string, s dump.Size, soft bool) {
		if s > 0 {
			row.Segments = append(row.Segments, chart.Segment{Kind: kind, Value: float64(s), Soft: soft})
		}
	}
	add("boot loader", l.Loader, false)
	add("boot bank 1", l.Bank, false)
	add("boot bank 2", l.Bank, false)
	file := chart.Segment{Kind: "core dump file", Value: float64(size.Value)}
	if size.Low != size.High {
		from := l.Loader + 2*l.Bank
		file.Low, file.High = float64(from+size.Low), float64(from+size.High)
	}
	row.Segments = append(row.Segments, file)
	// Those of no length keep the order, and so the colours, of the kinds.
	row.Segments = append(row.Segments, chart.Segment{Kind: "logs and traces", Value: max(0, float64(p.Left.Value))},
		chart.Segment{Kind: "kept free", Value: float64(p.Reserve), Soft: true})
	add("rest", l.Rest, true)
	return row
}

// charts are the boot devices and the file over the RAM.
func charts(r *dump.Result) []chart.Chart {
	var out []chart.Chart
	if r.Plan != nil {
		bars := &chart.Bars{X: axis(), Rows: []chart.Row{bar("as asked", r.Plan)}}
		for i := range r.If {
			if o := &r.If[i]; o.Plan != nil {
				bars.Rows = append(bars.Rows, bar(o.What, o.Plan))
			}
		}
		title := fmt.Sprintf("%s of RAM on %s: %s", dump.Size(r.RAM), r.Plan.Layout.Boot, r.Plan.Verdict)
		out = append(out, chart.Chart{ID: "boot", Title: title, Note: chartNote, Bars: bars})
	}
	return append(out, scatter(r.RAM))
}

// scatter is the file over the RAM, with the measured hosts as dots and the RAM that
// was asked for, if not 0, as a mark.
func scatter(asked numa.Bytes) chart.Chart {
	// The range jumps beside the smallest and the largest measured host.
	rams := []numa.Bytes{64 * numa.GiB, 127 * numa.GiB, 1537 * numa.GiB, 2 * numa.TiB, 3 * numa.TiB, 4 * numa.TiB}
	for i := range dump.Hosts {
		rams = append(rams, dump.Hosts[i].RAM)
	}
	for _, gb := range []numa.Bytes{160, 192, 320, 384, 448, 640, 768, 896, 1024, 1280} {
		rams = append(rams, gb*numa.GiB)
	}
	if asked > rams[0] && asked < 4*numa.TiB {
		rams = append(rams, asked)
	}
	slices.Sort(rams)
	s := chart.Series{Name: "core dump file"}
	for _, ram := range slices.Compact(rams) {
		f, err := dump.Of(ram, 0)
		if err != nil {
			continue
		}
		s.Points = append(s.Points, chart.Point{
			X: float64(ram), Y: float64(f.Size.Value), Low: float64(f.Size.Low), High: float64(f.Size.High),
			Measured: f.How == dump.Measured, Outside: f.How == dump.Extrapolated,
		})
	}
	lines := &chart.Lines{
		X:      chart.Axis{Label: "RAM, GiB", Log: true, Bytes: true, Text: inGiB},
		Y:      chart.Axis{Label: "core dump file, GiB", Log: true, Bytes: true, Text: inGiB},
		Series: []chart.Series{s},
	}
	if asked != 0 {
		lines.Marks = []chart.Mark{{Name: dump.Size(asked).String(), Value: math.Min(math.Max(float64(asked), float64(rams[0])), float64(4*numa.TiB))}}
	}
	return chart.Chart{ID: "file", Title: "The core dump file grows with RAM, but not in proportion", Note: "Dots: four measured hosts (b-dump). Outside them extrapolated.", Lines: lines}
}
