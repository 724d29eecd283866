package calibrate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/size/calibrate"
	"example.org/homenode/size/iocost"
)

// changes lists the figures for alternative ways of reading the CPU use.
func changes(c *Calibration) []answer.Change {
	var out []answer.Change
	add := func(text string, w calibrate.WhatIf, ok bool) {
		if ok {
			out = append(out, answer.Change{If: text, Result: kiloCycles(w.PerIO) + " for " + calibrate.KindText(w.Kind), Change: deviated(w.By)})
		}
	}
	idle, ok := calibrate.MoreIdle(c.Result, c.Trials, c.Options, unit.GHz)
	add("1 GHz more of each host is idle", idle, ok)
	busy, ok := calibrate.MoreCPU(c.Result, c.Trials, c.Options, 0.05)
	add("the CPU was 5 % higher", busy, ok)
	return out
}

// charts draws own costs with their ranges, and the published costs.
func charts(c *Calibration) []chart.Chart {
	lines := &chart.Lines{
		X: picture.Axis{Label: "block", Log: true, Bytes: true, Text: func(v float64) string { return iocost.Size(numa.Bytes(math.Round(v))) }},
		Y: picture.Axis{Label: "cycles of one I/O", Log: true, Text: func(v float64) string { return strings.TrimSuffix(unit.Cycles(v).String(), "cycles") }},
	}
	for i := range c.Result.Costs {
		cost := &c.Result.Costs[i]
		if cost.AtLeast() {
			continue
		}
		lines.Series = addPoint(lines.Series, "yours, ", &cost.Point)
	}
	own := slices.Clone(lines.Series)
	for _, p := range iocost.Published() {
		name := "published, " + directionOf(p.Kind)
		if p.Path == c.Path && slices.ContainsFunc(own, func(s chart.Series) bool { return s.Name == "yours, "+directionOf(p.Kind) }) {
			lines.Series = addPoint(lines.Series, strings.TrimSuffix(name, directionOf(p.Kind)), &p)
		}
	}
	if len(own) == 0 {
		return nil
	}
	for _, s := range lines.Series {
		slices.SortFunc(s.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	}
	return []chart.Chart{{
		ID: "calibrate", Title: "What one I/O costs on " + string(c.Path) + ", yours and published",
		Note: "Bars: ranges. Published: " + publishedHardware(c.Path), Figure: lines,
	}}
}

func publishedHardware(p iocost.Path) string {
	for _, point := range iocost.Published() {
		if point.Path == p {
			return point.PerIO.Hardware
		}
	}
	return "nothing on this path"
}

// directionOf returns a kind without its path and block size: "read random".
func directionOf(k iocost.Kind) string {
	k.Block = 1
	_, direction, _ := strings.Cut(calibrate.KindText(k), "B ")
	return direction
}

func addPoint(series []chart.Series, prefix string, p *iocost.Point) []chart.Series {
	name := prefix + directionOf(p.Kind)
	i := slices.IndexFunc(series, func(s chart.Series) bool { return s.Name == name })
	if i < 0 {
		series = append(series, chart.Series{Name: name})
		i = len(series) - 1
	}
	point := chart.Point{X: float64(p.Block), Y: float64(p.PerIO.Value), Low: float64(p.PerIO.Low), High: float64(p.PerIO.High), Measured: true}
	if !(point.Low > 0) {
		point.Low, point.High = 0, 0 // cannot be drawn on a logarithmic axis
	}
	series[i].Points = append(series[i].Points, point)
	return series
}
