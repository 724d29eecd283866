package benchmark

import (
	"strings"
)

// Iometer results.csv, 2006.07.27 and 1.1.0. Sections begin with a line that
// begins with '; columns are found by their names. Each test writes its results:
// the row ALL is the total and becomes a run, the rows of its managers,
// processors, workers and disks are parts of that total and are not read.

// iometerColumns are the columns that are results, in lower case. 2006.07.27
// prints "MBps" and does not say of how many bytes: the unit keeps that name, so
// that it is not compared with another.
var iometerColumns = []struct {
	column, name, unit string
	better             Better
}{
	{"iops", "IOPS", "1/s", Higher},
	{"read iops", "read IOPS", "1/s", Higher},
	{"write iops", "write IOPS", "1/s", Higher},
	{"mbps (decimal)", "throughput", "MB/s", Higher},
	{"read mbps (decimal)", "read throughput", "MB/s", Higher},
	{"write mbps (decimal)", "write throughput", "MB/s", Higher},
	{"mbps", "throughput", "MBps", Higher},
	{"read mbps", "read throughput", "MBps", Higher},
	{"write mbps", "write throughput", "MBps", Higher},
	{"average response time", "average response time", "ms", Lower},
	{"average read response time", "average read response time", "ms", Lower},
	{"average write response time", "average write response time", "ms", Lower},
	{"maximum response time", "maximum response time", "ms", Lower},
	{"% cpu utilization", "CPU utilization", "%", Neither},
}

// iometer is the state between lines.
type iometer struct {
	*reader
	section string   // the last line that began with '
	columns []string // of the results, in lower case
	spec    string   // the access specification that the next lines describe
	specs   map[string][]specLine
	version field
	at      int   // the line of version
	time    field // the last time stamp: that before a test is when it began
	timeAt  int
}

// A specLine is one line of an access specification.
type specLine struct {
	cells []field
	line  int
}

// specCells are the columns of an access specification that are stated.
var specCells = []struct{ name, unit string }{
	{"size", "B"}, {"share of size", "%"}, {"read share", "%"}, {"random share", "%"},
	{"delay", "ms"}, {"burst", ""}, {"align", "B"}, {"reply", "B"},
}

func readIometer(r *reader) error {
	m := &iometer{reader: r, specs: map[string][]specLine{}}
	for r.scan() {
		if strings.TrimSpace(r.line) == "" {
			continue
		}
		if head, ok := strings.CutPrefix(strings.TrimLeft(r.line, " \t"), "'"); ok {
			m.heading(head)
			r.understood()
			continue
		}
		if !m.row(commas(r.line)) {
			r.skip()
			continue
		}
		r.understood()
	}
	return nil
}

func (m *iometer) heading(head string) {
	cells := strings.Split(strings.ToLower(head), ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	m.section = cells[0]
	if m.section == "target type" {
		m.columns = cells
	}
}

// row reads a line of the section; false when it has no place there.
func (m *iometer) row(cells []field) bool {
	switch m.section {
	case "test type":
	case "time stamp":
		m.time, m.timeAt = field{strings.TrimSpace(m.line), 1}, m.n
	case "version":
		m.version, m.at = field{strings.TrimSpace(m.line), 1}, m.n
	case "access specification name":
		m.spec = cells[0].text
		m.specs[m.spec] = nil
	case "size":
		m.specs[m.spec] = append(m.specs[m.spec], specLine{cells, m.n})
	case "target type":
		return m.result(cells)
	default:
		return false
	}
	return true
}

// result reads a row of results.
func (m *iometer) result(cells []field) bool {
	switch strings.ToLower(cells[0].text) {
	case "all":
	case "manager", "processor", "worker", "disk", "tcp", "via", "network":
		return true
	default:
		return false
	}
	if len(cells) > len(m.columns) {
		m.warn(m.n, cells[len(m.columns)].col, "found %d cells, want %d: the row is left out", len(cells), len(m.columns))
		return true
	}
	get := func(column string) field {
		for i, c := range m.columns {
			if c == column && i < len(cells) {
				return cells[i]
			}
		}
		return field{}
	}
	name := get("access specification name").text
	if depth := get("queue depth").text; depth != "" && depth != "0" {
		name += ", queue depth " + depth
	}
	run := m.start("Iometer", name)
	if m.version.text != "" {
		run.setting(m.at, m.version.col, "version", m.version.text, "")
	}
	if m.time.text != "" {
		run.fact(m.timeAt, m.time.col, "started", m.time.text, "")
	}
	for _, c := range []string{"# managers", "# workers", "# disks", "queue depth"} {
		if f := get(c); f.text != "" {
			run.setting(m.n, f.col, strings.TrimPrefix(c, "# "), f.text, "")
		}
	}
	m.describe(run, get("access specification name").text)
	for _, c := range iometerColumns {
		f := get(c.column)
		if f.text == "" {
			continue
		}
		v, ok := number(f.text)
		switch {
		case !ok:
			m.warn(m.n, f.col, "found %q, want the number of %s", short(f.text), c.name)
		case v == 0: // an idle direction
			run.fact(m.n, f.col, c.name, v, c.unit)
		default:
			m.metric(f.col, c.name, v, c.unit, c.better)
		}
	}
	if f := get("errors"); f.text != "" && f.text != "0" {
		m.warn(m.n, f.col, "the run had %s errors", short(f.text))
	}
	return true
}

// describe states the lines of the access specification.
func (m *iometer) describe(run *Run, name string) {
	for _, l := range m.specs[name] {
		for i, c := range l.cells {
			if i >= len(specCells) {
				break
			}
			if v, ok := number(c.text); ok {
				run.setting(l.line, c.col, specCells[i].name, v, specCells[i].unit)
			}
		}
	}
}

// commas splits a line at commas; Iometer quotes nothing.
func commas(line string) []field {
	var out []field
	col := 1
	for _, cell := range strings.Split(line, ",") {
		lead := len(cell) - len(strings.TrimLeft(cell, " \t"))
		out = append(out, field{strings.TrimSpace(cell), col + lead})
		col += len(cell) + 1
	}
	return out
}
