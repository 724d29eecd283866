//go:build linux

package contest

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"example.org/homenode/internal/texttab"
)

// Figure returns x with about three digits.
func Figure(x float64) string {
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

// A Table prints aligned columns or Markdown.
type Table struct {
	Markdown bool
	rows     [][]string
}

// Row adds a row. The first row is the header.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Write prints the table, or nothing if it only has a header.
func (t *Table) Write(w io.Writer, title string) error {
	if len(t.rows) < 2 {
		return nil
	}
	if !t.Markdown {
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

// CPUModel returns the model name of the CPU according to the kernel.
func CPUModel() string {
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
