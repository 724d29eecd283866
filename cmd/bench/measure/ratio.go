//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"

	"example.org/homenode/cmd/bench/contest"
	"example.org/homenode/internal/stat"
)

// pairs are the measurements of two contenders in neighbouring turns.
type pairs struct{ own, other []float64 }

func (p *pairs) add(own, other float64) {
	p.own, p.other = append(p.own, own), append(p.other, other)
}

// medians returns the median of each side.
func (p *pairs) medians() (own, other float64) {
	return median(p.own), median(p.other)
}

// ratios returns the minimum, median and maximum of own ÷ other over all pairs.
func (p *pairs) ratios() (least, middle, most float64) {
	var all []float64
	for i, own := range p.own {
		all = append(all, own/p.other[i])
	}
	return slices.Min(all), median(all), slices.Max(all)
}

// byRound returns the range of the other contender's median over rounds of the given number of turns: the effect of new
// memory and of time.
func (p *pairs) byRound(turns int) string {
	var all []float64
	for part := range slices.Chunk(p.other, turns) {
		all = append(all, median(part))
	}
	return contest.Figure(slices.Min(all)) + " to " + contest.Figure(slices.Max(all))
}

// cells returns the medians and ratios as table cells.
func (p *pairs) cells() []string {
	own, other := p.medians()
	least, middle, most := p.ratios()
	return []string{contest.Figure(own), contest.Figure(other), fmt.Sprintf("%.3f", middle), fmt.Sprintf("%.2f to %.2f", least, most)}
}

// cellNames returns the column names for cells.
func cellNames(other, unit string) []string {
	return []string{"homenode, " + unit, other + ", " + unit, "ratio, median", "ratio, least to most"}
}

func median(samples []float64) float64 { return stat.MedianOf(slices.Clone(samples)) }

// A goal is a target with the measured value.
type goal struct {
	text, want, got string
	reached         bool
}

// ratioGoal returns a goal for a ratio with a lower limit, an upper limit, or both; 0 means no limit.
func ratioGoal(text string, least, most, got float64) goal {
	g := goal{text: text, got: fmt.Sprintf("%.3f", got), reached: (least == 0 || got >= least) && (most == 0 || got <= most)}
	switch {
	case least == 0:
		g.want = fmt.Sprintf("at most %.2f", most)
	case most == 0:
		g.want = fmt.Sprintf("at least %.2f", least)
	default:
		g.want = fmt.Sprintf("%.2f to %.2f", least, most)
	}
	return g
}

func writeGoals(w io.Writer, markdown bool, goals []goal) error {
	t := contest.Table{Markdown: markdown}
	t.Row("", "target", "measured", "")
	for _, g := range goals {
		verdict := "missed"
		if g.reached {
			verdict = "reached"
		}
		t.Row(g.text, g.want, g.got, verdict)
	}
	return t.Write(w, "Targets")
}
