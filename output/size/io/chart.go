package io

import (
	"fmt"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/draw/chart"
	"homenode/size/iocost"
)

// charts returns the curve of each path of storage, and the CPU of several workloads.
func charts(m *iocost.Model, s *iocost.Study) (out []chart.Chart, err error) {
	drawn := map[iocost.Path]bool{}
	for i := range s.Loads {
		l := &s.Loads[i]
		if l.Cost == nil || drawn[l.Path] {
			continue
		}
		drawn[l.Path] = true
		c, err := costChart(m, l.Kind)
		if err != nil {
			return nil, err
		}
		for k := range s.Loads {
			if o := &s.Loads[k]; o.Path == l.Path {
				c.Lines.Marks = append(c.Lines.Marks, chart.Mark{Name: iocost.Size(o.Block), Value: float64(o.Block)})
			}
		}
		out = append(out, c)
	}
	if len(out) == 0 || len(s.Loads) > 1 {
		out = append(out, loadsChart(s))
	}
	return out, nil
}

// costChart returns the cost of a bit by block size: reads, writes, and the mix of the kind.
func costChart(m *iocost.Model, k iocost.Kind) (chart.Chart, error) {
	c := chart.Chart{
		ID: "io-" + string(k.Path), Title: fmt.Sprintf("Small I/O costs more CPU per bit: %s, %s", k.Path.Name(), random(k.Random)),
		Lines: &chart.Lines{
			X: chart.Axis{Label: "block", Log: true, Bytes: true, Text: func(v float64) string { return iocost.Size(numa.Bytes(v)) }},
			Y: chart.Axis{Label: "Hz per b/s", Log: true, Text: func(v float64) string { return unit.Digits(v, 2) }},
		},
	}
	reads := []unit.Share{1, 0}
	if k.Read != 0 && k.Read != 1 {
		reads = append(reads, k.Read)
	}
	asked := k.Read
	for _, read := range reads {
		k.Read = read
		points, err := m.Curve(k)
		if err != nil {
			return c, err
		}
		series := chart.Series{Name: readName(read)}
		for _, p := range points {
			f := p.PerBit
			q := chart.Point{X: float64(p.Block), Y: float64(f.Value), Measured: p.Basis == iocost.Measured, Outside: p.Basis == iocost.Extrapolated}
			if read == asked && f.Low < f.High {
				q.Low, q.High = float64(f.Low), float64(f.High)
			}
			series.Points = append(series.Points, q)
		}
		c.Lines.Series = append(c.Lines.Series, series)
	}
	first := m.Points(k.Path)[0].PerIO
	c.Note = fmt.Sprintf("Dots are measured (%s, %s); dotted is extrapolated, its range is that of %s.", first.Source, first.Hardware, readName(asked))
	return c, nil
}

func random(s unit.Share) string {
	switch s {
	case 1:
		return "random"
	case 0:
		return "sequential"
	}
	return s.String() + " random"
}

func readName(s unit.Share) string {
	switch s {
	case 1:
		return "read"
	case 0:
		return "write"
	}
	return s.String() + " read"
}

// loadsChart returns the CPU of each workload as bars.
func loadsChart(s *iocost.Study) chart.Chart {
	c := chart.Chart{ID: "io-loads", Title: "CPU by workload: " + s.CPU.Value.String(), Bars: &chart.Bars{
		X: chart.Axis{Label: "GHz", Text: func(v float64) string { return unit.Digits(v, 3) }},
	}}
	for i := range s.Loads {
		l := &s.Loads[i]
		c.Bars.Rows = append(c.Bars.Rows, chart.Row{
			Name: fmt.Sprintf("%d %s", i+1, l.Path.Name()), Value: l.CPU.Value.String(),
			Segments: []chart.Segment{{Value: float64(l.CPU.Value / unit.GHz), Low: float64(l.CPU.Low / unit.GHz), High: float64(l.CPU.High / unit.GHz)}},
		})
	}
	return c
}
