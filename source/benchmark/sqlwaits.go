package benchmark

import (
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"

	"example.org/homenode/source/text"
)

// Waits of SQL Server stored by sp_BlitzFirst of the First Responder Kit (@OutputTableNameWaitStats),
// exported as CSV with a header by Management Studio, sqlcmd or PowerShell: a row for each type of wait
// and time, with counts since the server's start. The columns are those of the CREATE TABLE in
// sp_BlitzFirst.sql (github.com/BrentOzarULTD/SQL-Server-First-Responder-Kit). A server is a run: its
// waits from its first row to its last, a second.

// isWaits requires a header with the needed columns.
func isWaits(head []byte) bool {
	for line := range strings.Lines(string(head)) {
		if columns, _ := waitColumns(text.Line{Text: strings.TrimRight(line, "\n")}); columns != nil {
			return true
		}
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' { // #TYPE of Export-Csv
			return false
		}
	}
	return false
}

// waitNames are the columns in use.
var waitNames = []string{"servername", "checkdate", "wait_type", "wait_time_ms"}

// waitColumns returns the positions of waitNames; nil when l is no header.
func waitColumns(l text.Line) (at []int, separator string) {
	for _, separator := range []string{",", ";", "\t"} {
		names := words.Texts(l.Split(separator), func(cell text.Line) string { return strings.ToLower(strings.Trim(cell.Text, ` "`)) })
		at = nil
		for _, want := range waitNames {
			if i := slices.Index(names, want); i >= 0 {
				at = append(at, i)
			}
		}
		if len(at) == len(waitNames) {
			return at, separator
		}
	}
	return nil, ""
}

// A waited is a count at a time.
type waited struct {
	at    time.Time
	ms    float64
	value text.Line
}

// A waitServer is the data of a server.
type waitServer struct {
	name        string
	types       []string // in the order of the file
	first, last map[string]waited
}

// waitDates are the forms of CheckDate, a datetimeoffset: Management Studio's and PowerShell's in en-US.
var waitDates = []string{"2006-01-02 15:04:05 -07:00", "2006-01-02T15:04:05-07:00", "1/2/2006 3:04:05 PM -07:00"}

func readWaits(r *reader) error {
	var columns []int
	var separator string
	var servers []*waitServer
	for r.scan() {
		if columns == nil {
			if columns, separator = waitColumns(r.Line); columns == nil {
				r.skip()
			}
			continue
		}
		cells := r.Split(separator)
		if len(cells) <= slices.Max(columns) {
			r.skip()
			continue
		}
		cell := func(i int) text.Line {
			l := cells[columns[i]]
			l = l.After(len(l.Text) - len(strings.TrimLeft(l.Text, ` "`)))
			return l.Part(0, len(strings.TrimRight(l.Text, ` "`)))
		}
		at, ok := waitDate(cell(1).Text)
		ms, ok2 := number(cell(3).Text)
		if !ok || !ok2 || cell(2).Text == "" {
			r.skip()
			continue
		}
		r.understood()
		i := slices.IndexFunc(servers, func(s *waitServer) bool { return s.name == cell(0).Text })
		if i < 0 {
			i = len(servers)
			servers = append(servers, &waitServer{name: strings.Clone(cell(0).Text), first: map[string]waited{}, last: map[string]waited{}})
		}
		r.waited(servers[i], strings.Clone(cell(2).Text), waited{at, ms, text.Line{N: cell(3).N, Col: cell(3).Col}})
	}
	for _, s := range servers {
		r.waits(s)
	}
	return nil
}

func waitDate(s string) (t time.Time, ok bool) {
	for _, layout := range waitDates {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return t, false
}

// waited adds one row of a server.
func (r *reader) waited(s *waitServer, kind string, w waited) {
	first, known := s.first[kind]
	if !known {
		r.kept++
		s.types = append(s.types, kind)
	}
	if !known || w.at.Before(first.at) {
		s.first[kind] = w
	}
	if last, ok := s.last[kind]; !ok || !w.at.Before(last.at) {
		s.last[kind] = w
	}
}

// waits makes a run of a server's waits.
func (r *reader) waits(s *waitServer) {
	run := r.start("sp_BlitzFirst waits", s.name)
	var from, to time.Time
	for _, kind := range s.types {
		first, last := s.first[kind], s.last[kind]
		if run.Line = last.value.N; from.IsZero() || first.at.Before(from) {
			from = first.at
		}
		if last.at.After(to) {
			to = last.at
		}
	}
	seconds := to.Sub(from).Seconds()
	if seconds <= 0 {
		r.warn(run.Line, 0, "found one time of %s, want two at least: the counts are since the start of the server", text.Short(s.name))
		return
	}
	run.setting(text.Line{N: run.Line}, "from", from.UTC().Format(time.RFC3339), "")
	run.setting(text.Line{N: run.Line}, "to", to.UTC().Format(time.RFC3339), "")
	for _, kind := range s.types {
		first, last := s.first[kind], s.last[kind]
		switch since := last.ms - first.ms; {
		case since < 0:
			r.doubt(last.value, "%s: found fewer waits of %s than before: the server was started again, or its counts cleared", text.Short(s.name), text.Short(kind))
		case since > 0:
			r.metric(last.value, kind, since/seconds, "ms/s", Lower)
		}
	}
}
