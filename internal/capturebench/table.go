//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"homenode/internal/texttab"
)

// titles of the groups.
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
	fmt.Fprintf(w, "\n%s, %d cores, %s. Median of %d rounds, of slow contenders %d; warm page cache.\n", cpuModel(), runtime.NumCPU(), runtime.Version(), s.rounds, s.slowRounds)
	base := map[int]float64{} // speed of the portable reader, by cores
	for _, c := range all {
		if c.group == question && c.name == readerAlone+portable && len(c.runs) > 0 {
			base[c.cores] = c.speed(c.median())
		}
	}
	for g := range groups {
		t := table{markdown: s.markdown}
		names := []string{"", "cores", "GB/s", "slowest to fastest", "seconds", "whole process", "its CPU time", "memory"}
		if g == question {
			names = append(names, "homenode, portable, is times as fast")
		}
		t.row(names...)
		for _, c := range all {
			if c.group == g && len(c.runs) > 0 {
				t.row(c.row(base)...)
			}
		}
		if err := t.write(w, titles[g]); err != nil {
			return err
		}
	}
	return writeTargets(w, s, all)
}

// row returns the cells of c.
func (c *contender) row(base map[int]float64) []string {
	m := c.median()
	slowest, fastest := c.extremes()
	cells := []string{c.name, fmt.Sprint(c.cores), figure(c.speed(m)), figure(slowest) + " to " + figure(fastest), figure(m.seconds),
		fmt.Sprintf("%.2f s", m.wall.Seconds()), fmt.Sprintf("%.2f s", m.cpu.Seconds()), fmt.Sprintf("%d MB", c.mostRSS()/1e6)}
	if b := base[c.cores]; c.group == question && b > 0 {
		cells = append(cells, figure(b/c.speed(m)))
	}
	return cells
}

// figure returns x with about three digits.
func figure(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.4f", x)
}

// A table prints aligned columns or Markdown.
type table struct {
	markdown bool
	rows     [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write prints nothing when there are no rows below the names.
func (t *table) write(w io.Writer, title string) error {
	if len(t.rows) < 2 {
		return nil
	}
	if !t.markdown {
		fmt.Fprintf(w, "\n%s\n", title)
		out := texttab.Table{Indent: "  "}
		for _, r := range t.rows {
			out.Row(r...)
		}
		_, err := out.WriteTo(w)
		return err
	}
	t.rows[0][0] = title
	var b strings.Builder
	b.WriteByte('\n')
	for i, r := range t.rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(r)) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cpuModel returns what the kernel calls the CPU.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
