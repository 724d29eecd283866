package benchmark

import (
	"strings"

	"example.org/homenode/source/text"
)

// Iometer results.csv, 2006.07.27 and 1.1.0. Sections begin with a line that begins with '; columns
// are found by name. Of each test's results the row ALL is the total and becomes a run. The rows of
// its managers, processors, workers and disks are parts of that total and are ignored.

// iometerColumns are the columns with results, in lower case. 2006.07.27 prints "MBps" without its
// number of bytes: the unit keeps that name, so that it is not compared with another.
var iometerColumns = []struct {
	column string
	measure
}{
	{"iops", measure{"IOPS", "1/s", Higher}},
	{"read iops", measure{"read IOPS", "1/s", Higher}},
	{"write iops", measure{"write IOPS", "1/s", Higher}},
	{"mbps (decimal)", measure{"throughput", "MB/s", Higher}},
	{"read mbps (decimal)", measure{"read throughput", "MB/s", Higher}},
	{"write mbps (decimal)", measure{"write throughput", "MB/s", Higher}},
	{"mbps", measure{"throughput", "MBps", Higher}},
	{"read mbps", measure{"read throughput", "MBps", Higher}},
	{"write mbps", measure{"write throughput", "MBps", Higher}},
	{"average response time", measure{"average response time", "ms", Lower}},
	{"average read response time", measure{"average read response time", "ms", Lower}},
	{"average write response time", measure{"average write response time", "ms", Lower}},
	{"maximum response time", measure{"maximum response time", "ms", Lower}},
	{"% cpu utilization", measure{"CPU utilization", "%", Neither}},
}

// iometer is the state between lines.
type iometer struct {
	*reader
	section string                   // the last line that began with '
	columns []string                 // of the results, in lower case
	spec    string                   // the access specification described by the next lines
	specs   map[string][][]text.Line // lines of access specifications, by name
	version text.Line
	time    text.Line // the last time stamp: the one before a test is its start
}

// specCells are the columns of an access specification that become facts.
var specCells = []struct{ name, unit string }{
	{"size", "B"}, {"share of size", "%"}, {"read share", "%"}, {"random share", "%"},
	{"delay", "ms"}, {"burst", ""}, {"align", "B"}, {"reply", "B"},
}

func readIometer(r *reader) error {
	m := &iometer{reader: r, specs: map[string][][]text.Line{}}
	for r.scan() {
		if strings.TrimSpace(r.Text) == "" {
			continue
		}
		if head, ok := strings.CutPrefix(strings.TrimLeft(r.Text, " \t"), "'"); ok {
			m.heading(head)
			r.understood()
			continue
		}
		if !m.row(r.Split(",")) {
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

// row parses a line of the section; false when it does not belong there.
func (m *iometer) row(cells []text.Line) bool {
	switch m.section {
	case "test type":
	case "time stamp":
		m.time = m.After(0)
	case "version":
		m.version = m.After(0)
	case "access specification name":
		m.spec = cells[0].Text
		m.specs[m.spec] = nil
	case "size":
		m.specs[m.spec] = append(m.specs[m.spec], cells)
	case "target type":
		return m.result(cells)
	default:
		return false
	}
	return true
}

// result parses a row of results.
func (m *iometer) result(cells []text.Line) bool {
	switch strings.ToLower(cells[0].Text) {
	case "all":
	case "manager", "processor", "worker", "disk", "tcp", "via", "network":
		return true
	default:
		return false
	}
	if len(cells) > len(m.columns) {
		m.doubt(cells[len(m.columns)], "found %d cells, want %d: the row is left out", len(cells), len(m.columns))
		return true
	}
	get := func(column string) text.Line {
		for i, c := range m.columns {
			if c == column && i < len(cells) {
				return cells[i]
			}
		}
		return text.Line{}
	}
	name := get("access specification name").Text
	if depth := get("queue depth").Text; depth != "" && depth != "0" {
		name += ", queue depth " + depth
	}
	run := m.start("Iometer", name)
	if m.version.Text != "" {
		run.setting(m.version, "version", m.version.Text, "")
	}
	if m.time.Text != "" {
		run.fact(m.time, "started", m.time.Text, "")
	}
	for _, c := range []string{"# managers", "# workers", "# disks", "queue depth"} {
		if f := get(c); f.Text != "" {
			run.setting(f, strings.TrimPrefix(c, "# "), f.Text, "")
		}
	}
	m.describe(run, get("access specification name").Text)
	for _, c := range iometerColumns {
		if f := get(c.column); f.Text != "" {
			m.measured(f, c.measure)
		}
	}
	if f := get("errors"); f.Text != "" && f.Text != "0" {
		m.doubt(f, "the run had %s errors", text.Short(f.Text))
	}
	return true
}

// describe adds the lines of the access specification.
func (m *iometer) describe(run *Run, name string) {
	for _, l := range m.specs[name] {
		for i, c := range l {
			if i >= len(specCells) {
				break
			}
			if v, ok := number(c.Text); ok {
				run.setting(c, specCells[i].name, v, specCells[i].unit)
			}
		}
	}
}
