package hostcmd

import (
	"bytes"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// MemoryStats is one report of memstats -r, such as vm-stats. The columns are in the order of the
// tool, not of the request.
type MemoryStats struct {
	Kind    string     // "VIRTUAL MACHINE"
	Time    string     // as printed, in the time zone of the host
	Unit    numa.Bytes // of columns with memory; KB when the report does not state one, 0 for an unknown one
	Columns []string   // without the first, which is the name
	Rows    []MemoryRow
	Total   []int64 // nil without such a row
}

// Instant returns the Time, in UTC as in every ESXi; false when none is printed.
func (m *MemoryStats) Instant() (t time.Time, ok bool) {
	t, err := time.Parse("Mon Jan _2 15:04:05 2006", m.Time)
	return t, err == nil
}

// MemstatsTime returns the first time printed by memstats in the start of a file, which is decoded text.
func MemstatsTime(head []byte) (t time.Time, ok bool) {
	for raw := range bytes.Lines(head) {
		if m := memstatsTitle.FindStringSubmatch(strings.TrimSpace(string(raw))); m != nil {
			return (&MemoryStats{Time: m[2]}).Instant()
		}
	}
	return time.Time{}, false
}

// A MemoryRow has one value per column.
type MemoryRow struct {
	Name   string // vm.<cartel>
	Values []int64
}

var (
	memstatsTitle = pattern.Of(`^([A-Z][A-Z ]+) STATS:\s*(.*)$`)
	dashes        = pattern.Of(`^-{3,}(?:\s+-{2,})*$`)
	memstatsUnits = map[string]numa.Bytes{"b": 1, "kb": numa.KiB, "mb": numa.MiB, "gb": numa.GiB, "pages": numa.PageSize}
)

func (o *Output) readMemstats(lines []text.Line) {
	s := &MemoryStats{Unit: numa.KiB}
	o.Result = s
	unit := "KiB"
	for _, l := range lines {
		cells := l.Fields()
		key, _, isOption := strings.Cut(l.Text, " : ")
		switch {
		case len(cells) == 0, dashes.MatchString(l.Text):
		case memstatsTitle.MatchString(l.Text):
			m := memstatsTitle.FindStringSubmatch(l.Text)
			s.Kind, s.Time = m[1], m[2]
			o.file.Add(l.N, l.Col, "host", "time of memstats", s.Time, "")
		case isOption && s.Columns == nil:
			value := l.After(len(key) + 3)
			o.file.Add(value.N, value.Col, "memstats", strings.TrimSpace(key), valueOf(value.Text), "")
			if strings.TrimSpace(key) == "Unit" {
				unit = o.memstatsUnit(s, value)
			}
		case s.Columns == nil && cells[0].Text == "name" && len(cells) > 1:
			for _, c := range cells[1:] {
				s.Columns = append(s.Columns, c.Text)
			}
		case s.Columns != nil:
			o.memstatsRow(s, cells, l, unit)
		default:
			o.strange(l)
		}
	}
}

func (o *Output) memstatsUnit(s *MemoryStats, l text.Line) (name string) {
	size, ok := memstatsUnits[strings.ToLower(l.Text)]
	if !ok {
		o.file.Warn(l.N, l.Col, "unit: found %q, want KB, MB, GB or pages", text.Short(l.Text))
		s.Unit = 0
		return l.Text
	}
	s.Unit = size
	return map[numa.Bytes]string{1: "B", numa.KiB: "KiB", numa.MiB: "MiB", numa.GiB: "GiB", numa.PageSize: "pages"}[size]
}

func (o *Output) memstatsRow(s *MemoryStats, cells []text.Line, l text.Line, unit string) {
	if len(cells) != len(s.Columns)+1 {
		o.file.Warn(l.N, l.Col, "found %d values, want %d", len(cells), len(s.Columns)+1)
		return
	}
	row := MemoryRow{Name: cells[0].Text}
	for i, c := range cells[1:] {
		n, ok := o.whole(c, row.Name, s.Columns[i], unit, -1<<53, 1<<53)
		if !ok {
			return
		}
		row.Values = append(row.Values, n)
	}
	if row.Name == "Total" {
		s.Total = row.Values
		return
	}
	s.Rows = append(s.Rows, row)
}
