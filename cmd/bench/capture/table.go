//go:build linux

package main

import (
	"fmt"
	"io"
	"runtime"

	"example.org/homenode/cmd/bench/contest"
)

// titles has the titles of the groups.
var titles = [groups]string{
	question:   "The question: NUMA counters and ready time of all VMs",
	command:    "The whole command",
	everything: "All columns converted and added up",
	ceiling:    "What the machine does at most with the same bytes",
	long:       "A longer file",
}

// write prints a table for each group, then the targets.
func write(w io.Writer, s *settings, files captures, all []*contender) error {
	fmt.Fprintf(w, "Capture: %.0f MB, %d columns, %d rows, %d VMs.", float64(files.file.Bytes)/1e6, files.file.Columns, files.file.Rows, files.file.VMs)
	if files.long != nil {
		fmt.Fprintf(w, " The longer one: %.0f MB, %d rows.", float64(files.long.Bytes)/1e6, files.long.Rows)
	}
	if files.duck != nil && s.python != "" {
		fmt.Fprintf(w, " DuckDB reads %.0f MB, %d rows.", float64(files.duck.Bytes)/1e6, files.duck.Rows)
	}
	fmt.Fprintf(w, "\n%s, %d cores, %s. Median of %d rounds, of slow contenders %d; warm page cache.\n", contest.CPUModel(), runtime.NumCPU(), runtime.Version(), s.rounds, s.slowRounds)
	base := map[int]float64{} // speed of the reader, by cores
	for _, c := range all {
		if c.group == question && c.name == readerAlone && len(c.runs) > 0 {
			base[c.cores] = c.speed(c.median())
		}
	}
	for g := range groups {
		t := contest.Table{Markdown: s.markdown}
		names := []string{"", "cores", "GB/s", "slowest to fastest", "seconds", "whole process", "its CPU time", "memory"}
		if g == question {
			names = append(names, "homenode is times as fast")
		}
		t.Row(names...)
		for _, c := range all {
			if c.group == g && len(c.runs) > 0 {
				t.Row(c.row(base)...)
			}
		}
		if err := t.Write(w, titles[g]); err != nil {
			return err
		}
	}
	return writeTargets(w, s, all)
}

// row returns the table cells of c.
func (c *contender) row(base map[int]float64) []string {
	m := c.median()
	slowest, fastest := c.extremes()
	cells := []string{c.name, fmt.Sprint(c.cores), contest.Figure(c.speed(m)), contest.Figure(slowest) + " to " + contest.Figure(fastest), contest.Figure(m.seconds),
		fmt.Sprintf("%.2f s", m.wall.Seconds()), fmt.Sprintf("%.2f s", m.cpu.Seconds()), fmt.Sprintf("%d MB", c.mostRSS()/1e6)}
	if b := base[c.cores]; c.group == question && b > 0 {
		cells = append(cells, contest.Figure(b/c.speed(m)))
	}
	return cells
}
