// Package hostload parses a table that people write beside benchmark results: the CPU and network
// use of the hosts during each test.
//
//	test,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s
//	32k-100rdpct-100randompct,6,78,1,27.2,27.2
//
// Cells are separated by commas, semicolons or tabs. The units are in the heading: GHz, MHz or %;
// Gb/s, GB/s, MiB/s and so on. Lines that begin with # are ignored. All but test and cpu may be
// missing or empty. Numbers are those of one host, the mean over the hosts.
package hostload

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/source/text"
)

// A Row is one line of the table.
type Row struct {
	File        string
	Test        string // as written
	Line        int
	Hosts       int // 0 when not stated
	CPU         Amount
	Idle        *Amount // nil when not stated
	Transmitted *Amount
	Received    *Amount
}

// Place returns file:line.
func (r *Row) Place() string { return numa.Place(r.File, r.Line, 0) }

// An Amount is a number as printed.
type Amount struct {
	Value   float64 // in Hz or bits a second; with Percent a share of the host
	Half    float64 // half a unit of the last digit, in the same unit
	Percent bool
	Col     int
}

// A column describes the cells of one position.
type column struct {
	name    string  // "test", "hosts", "cpu", "idle", "tx", "rx"
	factor  float64 // from its unit
	percent bool
}

// separators are tried in this order: the first one in the heading is used.
var separators = []string{"\t", ";", ","}

// Read parses the table in r. An error is a *numa.SyntaxError, or of r.
func Read(name string, r io.Reader) ([]Row, error) {
	t := &table{name: name, lines: text.NewLines(r)}
	for t.lines.Scan() {
		line := text.Line{N: t.lines.Line(), Col: 1, Text: t.lines.Text()}
		if t.lines.Cut() {
			return nil, t.bad(0, "found a line of more than %d bytes", text.MaxLine)
		}
		if s := strings.TrimSpace(line.Text); s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		read := t.row
		if t.columns == nil {
			read = t.heading
		}
		if err := read(line); err != nil {
			return nil, err
		}
	}
	switch err := t.lines.Err(); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(t.rows) == 0:
		return nil, &numa.SyntaxError{File: name, Line: max(t.lines.Line(), 1), Msg: "found no test, want a heading such as test,hosts,cpu GHz and a line for each test"}
	}
	return t.rows, nil
}

type table struct {
	name      string
	lines     *text.Lines
	separator string
	columns   []column
	rows      []Row
}

func (t *table) bad(col int, format string, args ...any) error {
	return &numa.SyntaxError{File: t.name, Line: t.lines.Line(), Col: col, Msg: fmt.Sprintf(format, args...)}
}

// cells splits a line; cells may be quoted.
func (t *table) cells(line text.Line) []text.Line {
	cells := line.Split(t.separator)
	for i, c := range cells {
		if n := len(c.Text); n >= 2 && c.Text[0] == '"' && c.Text[n-1] == '"' {
			cells[i] = c.Part(1, n-1)
		}
	}
	return cells
}

func (t *table) heading(line text.Line) error {
	t.separator = ","
	for _, s := range separators {
		if strings.Contains(line.Text, s) {
			t.separator = s
			break
		}
	}
	for _, cell := range t.cells(line) {
		c, err := t.column(cell)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(t.columns, func(other column) bool { return other.name == c.name }) {
			return t.bad(cell.Col, "found a second column %s", c.name)
		}
		t.columns = append(t.columns, c)
	}
	for _, want := range []string{"test", "cpu"} {
		if !t.has(want) {
			return t.bad(line.Col, "found no column %s, want a heading such as test,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s", want)
		}
	}
	if t.has("tx") != t.has("rx") {
		return t.bad(line.Col, "found one of tx and rx, want both")
	}
	return nil
}

func (t *table) has(name string) bool {
	return slices.ContainsFunc(t.columns, func(c column) bool { return c.name == name })
}

var brackets = strings.NewReplacer("(", " ", ")", " ", "[", " ", "]", " ", "_", " ")

// column parses a cell of the heading: "cpu GHz", "CPU (%)", "tx Gb/s".
func (t *table) column(cell text.Line) (column, error) {
	words := strings.Fields(brackets.Replace(cell.Text))
	if len(words) == 0 {
		return column{}, t.bad(cell.Col, "found an empty heading, want test, hosts, cpu, idle, tx or rx")
	}
	c := column{name: strings.ToLower(words[0]), factor: 1}
	suffix := strings.Join(words[1:], " ")
	switch c.name {
	case "test", "hosts":
		if suffix != "" {
			return c, t.bad(cell.Col, "found %q, want %s", text.Short(cell.Text), c.name)
		}
	case "cpu", "idle":
		if c.percent = suffix == "%"; c.percent {
			c.factor = 0.01
			break
		}
		v, err := unit.ParseHz("1" + suffix)
		if err != nil {
			return c, t.bad(cell.Col, "found %q, want %s with its unit: GHz, MHz or %%", text.Short(cell.Text), c.name)
		}
		c.factor = float64(v)
	case "tx", "rx":
		v, err := unit.ParseBitRate("1" + suffix)
		if err != nil {
			return c, t.bad(cell.Col, "found %q, want %s with its unit: Gb/s (bits), GB/s or MiB/s (bytes)", text.Short(cell.Text), c.name)
		}
		c.factor = float64(v)
	default:
		return c, t.bad(cell.Col, "found %q, want test, hosts, cpu, idle, tx or rx", text.Short(cell.Text))
	}
	return c, nil
}

func (t *table) row(line text.Line) error {
	cells := t.cells(line)
	if len(cells) != len(t.columns) {
		return t.bad(line.Col, "found %d cells, want %d as in the heading", len(cells), len(t.columns))
	}
	row := Row{File: t.name, Line: t.lines.Line()}
	for i, c := range t.columns {
		cell := cells[i]
		if cell.Text == "" && c.name != "test" && c.name != "cpu" {
			continue
		}
		var err error
		switch c.name {
		case "test":
			if row.Test = cell.Text; cell.Text == "" {
				err = t.bad(cell.Col, "found no test, want the name of a test case or file, or a part of it")
			}
		case "hosts":
			if row.Hosts, err = strconv.Atoi(cell.Text); err != nil || row.Hosts < 1 || row.Hosts > 1000 {
				err = t.bad(cell.Col, "found %q, want the number of hosts, 1 to 1000", text.Short(cell.Text))
			}
		default:
			var a *Amount
			if a, err = t.amount(c, cell); err != nil {
				break
			}
			switch c.name {
			case "cpu":
				row.CPU = *a
			case "idle":
				row.Idle = a
			case "tx":
				row.Transmitted = a
			case "rx":
				row.Received = a
			}
		}
		if err != nil {
			return err
		}
	}
	if (row.Transmitted == nil) != (row.Received == nil) {
		return t.bad(line.Col, "found one of tx and rx, want both or none")
	}
	t.rows = append(t.rows, row)
	return nil
}

// amount parses a number; "78" is within half of 78, "78.0" within 0.05.
func (t *table) amount(c column, cell text.Line) (*Amount, error) {
	v, half, ok := Printed(cell.Text)
	switch {
	case !ok || c.name == "cpu" && v == 0:
		return nil, t.bad(cell.Col, "found %q, want the %s as a number such as 78 or 78.5", text.Short(cell.Text), c.name)
	case c.percent && v > 100:
		return nil, t.bad(cell.Col, "found %q, want at most 100 %%", text.Short(cell.Text))
	}
	return &Amount{Value: v * c.factor, Half: half * c.factor, Percent: c.percent, Col: cell.Col}, nil
}

// Printed parses a number of digits and at most one point, and returns half a unit of its last digit too.
func Printed(s string) (v, half float64, ok bool) {
	whole, rest, _ := strings.Cut(s, ".")
	if whole == "" || len(s) > 20 || strings.Trim(whole+rest, "0123456789") != "" {
		return 0, 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	half = 0.5
	for range rest {
		half /= 10
	}
	return v, half, err == nil
}
