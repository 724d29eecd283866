package benchmark

import (
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// The output of Intel Memory Latency Checker, 2.x to 3.11: parts in any order, each with a heading.
// A matrix has a row for each node with CPUs and a column for each node with memory, so it is not
// square with memory-only nodes. Bandwidth is in MB/s of 10^6 bytes, latency in ns.

// mlc is the state within one run.
type mlc struct {
	*reader
	part    string // "idle", "bandwidth", "peak", "maximum", "loaded", "cache"
	seen    map[string]bool
	title   string // of the metrics of a matrix, such as "idle latency"
	from    string // meaning of a row: "node", "socket" or "writer"
	columns []string
	traffic string // of the part, when it is not the usual one
	random  bool   // idle latency was measured by random access
}

var (
	mlcBanner   = pattern.Of(`Intel\(R\) Memory Latency Checker - (v\S+)`)
	mlcCommand  = pattern.Of(`^Command line parameters:\s*(.*)$`)
	mlcUsing    = pattern.Of(`^Using (.*)$`)
	mlcTraffic  = pattern.Of(`^Using (.+) traffic type`)
	mlcOnce     = pattern.Of(`^Each iteration took ([0-9.]+) (core|base frequency) clocks \(\s*([0-9.]+)\s*ns\s*\)`)
	mlcPeak     = pattern.Of(`^(\S.*?)\s*:\s*([0-9.]+)$`)
	mlcCache    = pattern.Of(`^(Local|Remote) Socket (.*?)\s+latency\s*(\(.*?\))?\s*([0-9.]+)?$`)
	mlcTouching = pattern.Of(`^(?:[0-9]+\.[0-9]){2,}$`)
	mlcValue    = pattern.Of(`[0-9]+\.[0-9]`)
)

// mlcParts are the headings, in lower case, and the parts they begin.
var mlcParts = []struct{ heading, part string }{
	{"measuring idle latencies", "idle"},
	{"measuring memory bandwidths between nodes", "bandwidth"},
	{"measuring peak injection memory bandwidths", "peak"},
	{"measuring maximum memory bandwidths", "maximum"},
	{"measuring loaded latencies", "loaded"},
	{"measuring cache-to-cache transfer latency", "cache"},
}

func readMLC(r *reader) error {
	m := &mlc{reader: r}
	for r.scan() {
		line := strings.TrimSpace(r.Text)
		if line == "" {
			continue
		}
		if m.heading(line) || m.run != nil && (m.remark(line) || m.values(line)) {
			m.understood()
			continue
		}
		m.skip()
	}
	return nil
}

// begin starts a run.
func (m *mlc) begin() {
	m.start("Intel MLC", "")
	*m = mlc{reader: m.reader, seen: map[string]bool{}}
}

// heading parses lines that begin a run or a part of it.
func (m *mlc) heading(line string) bool {
	if v := m.Match(mlcBanner); v != nil {
		m.begin()
		m.run.setting(v[1], "version", v[1].Text, "")
		return true
	}
	low := squeeze(line)
	part := ""
	for _, p := range mlcParts {
		if strings.HasPrefix(low, p.heading) {
			part = p.part
		}
	}
	if mlcOnce.MatchString(line) {
		part = "once"
	}
	if part == "" {
		return false
	}
	kind := part // random and sequential latency occur in one run
	if strings.Contains(low, "sequential access") {
		kind += " sequential"
	}
	if m.run == nil || m.seen[kind] { // the banner was not copied
		m.begin()
	}
	m.seen[kind] = true
	m.part, m.columns, m.from, m.traffic = part, nil, "node", ""
	switch part {
	case "idle":
		m.title = "idle latency"
		switch {
		case strings.Contains(low, "random access"):
			m.random, m.title = true, "idle latency (random)"
		case strings.Contains(low, "sequential access"):
			m.title = "idle latency (sequential)"
		case m.random:
			m.title = "idle latency (random)"
		}
	case "bandwidth":
		m.title = "bandwidth"
	case "once":
		m.once()
	}
	return true
}

// once parses the one line of --idle_latency.
func (m *mlc) once() {
	v := m.Match(mlcOnce)
	clocks, ok := number(v[1].Text)
	ns, ok2 := number(v[3].Text)
	if !ok || !ok2 {
		m.doubt(v[0], "found %q, want clocks and ns", text.Short(v[0].Text))
		return
	}
	name := "idle latency"
	if m.random {
		name += " (random)"
	}
	m.run.fact(v[1], name, clocks, v[2].Text+" clocks")
	m.metric(v[3], name, ns, "ns", Lower)
}

// remark parses lines about MLC's method of measurement.
func (m *mlc) remark(line string) bool {
	low := squeeze(line)
	switch {
	case strings.HasPrefix(line, "*"):
		// Without access to MSRs the prefetchers stay on and MLC uses random access: the numbers
		// are not comparable to those of a run with access.
		if len(m.run.Metrics) > 0 { // it precedes the results: of a run whose banner was not copied
			m.begin()
		}
		m.doubt(m.After(0), "%s", line)
		if strings.Contains(low, "prefetcher") {
			m.run.setting(m.After(0), "prefetcher control", false, "")
		}
		if strings.Contains(low, "random access") {
			m.random = true
			m.run.setting(m.After(0), "latency access", "random", "")
		}
	case mlcCommand.MatchString(line):
		m.run.setting(m.After(0), "command line", mlcCommand.FindStringSubmatch(line)[1], "")
	case mlcTraffic.MatchString(line):
		kind := mlcTraffic.FindStringSubmatch(line)[1]
		m.run.setting(m.After(0), strings.TrimSpace(m.part+" traffic"), kind, "")
		if m.traffic = ""; kind != "Read-only" {
			m.traffic = " (" + kind + ")"
		}
	case strings.HasPrefix(low, "using traffic with the following"):
	case mlcUsing.MatchString(line):
		name := "threads"
		if strings.Contains(low, "buffer size") {
			name = "buffers"
		}
		m.run.setting(m.After(0), strings.TrimSpace(m.part+" "+name), mlcUsing.FindStringSubmatch(line)[1], "")
	case strings.HasPrefix(low, "bandwidths are in"), strings.HasPrefix(low, "will take several minutes"):
	default:
		return false
	}
	return true
}

// values parses the lines of a part.
func (m *mlc) values(line string) bool {
	switch m.part {
	case "idle", "bandwidth":
		return m.matrix(line)
	case "peak", "maximum":
		v := m.Match(mlcPeak)
		if v == nil {
			return false
		}
		value, ok := number(v[2].Text)
		if ok {
			m.metric(v[2], m.part+" bandwidth "+v[1].Text, value, "MB/s", Higher)
		}
		return ok
	case "loaded":
		return m.loaded(line)
	case "cache":
		return m.cache() || m.matrix(line)
	}
	return false
}

// loaded parses a row: inject delay, latency, bandwidth.
func (m *mlc) loaded(line string) bool {
	low := squeeze(line)
	if low == "inject latency bandwidth" || low == "delay (ns) mb/sec" || strings.Trim(line, "=") == "" {
		return true
	}
	fs := m.After(0).Fields()
	if len(fs) != 3 {
		return false
	}
	delay, err := strconv.Atoi(fs[0].Text)
	if err != nil || delay < 0 {
		return false
	}
	latency, ok := number(fs[1].Text)
	bandwidth, ok2 := number(fs[2].Text)
	if !ok || !ok2 {
		return false
	}
	m.metric(fs[1], "loaded latency"+m.traffic+", inject delay "+strconv.Itoa(delay), latency, "ns", Lower)
	m.metric(fs[2], "loaded bandwidth"+m.traffic+", inject delay "+strconv.Itoa(delay), bandwidth, "MB/s", Higher)
	return true
}

// cache parses a cache-to-cache line: a value, or the heading of a matrix.
func (m *mlc) cache() bool {
	v := m.Match(mlcCache)
	if v == nil {
		return false
	}
	name := "cache to cache " + strings.ToLower(v[1].Text) + " " + strings.Join(strings.Fields(v[2].Text), " ")
	if home := v[3].Text; strings.Contains(home, "writer socket") {
		name += ", homed at writer"
	} else if strings.Contains(home, "reader socket") {
		name += ", homed at reader"
	} else if home != "" {
		name += " " + home
	}
	m.columns, m.title = nil, name+","
	if v[4].Text == "" {
		return true
	}
	value, ok := number(v[4].Text)
	if ok {
		m.metric(v[4], name, value, "ns", Lower)
	}
	return ok
}

// matrix parses a line of a matrix: its caption, its columns or a row.
func (m *mlc) matrix(line string) bool {
	low := squeeze(line)
	switch low {
	case "numa node", "memory node", "reader numa node":
		return true
	}
	for _, h := range []struct{ words, from string }{{"writer numa node", "writer"}, {"numa node", "node"}, {"socket", "socket"}, {"memory node", "node"}} {
		if rest, ok := strings.CutPrefix(low, h.words); ok && isNodes(rest) {
			m.columns, m.from = strings.Fields(rest), h.from
			return true
		}
	}
	fs := split(m.After(0).Fields())
	if len(m.columns) == 0 || len(fs) < 2 || !isNodes(fs[0].Text) {
		return false
	}
	if len(fs)-1 != len(m.columns) {
		m.doubt(fs[0], "the row of %s %s has %d of %d values: it is left out", m.from, fs[0].Text, len(fs)-1, len(m.columns))
		return true
	}
	m.row(fs)
	return true
}

// row adds the values of a matrix row.
func (m *mlc) row(fs []text.Line) {
	to, unit, better := "node", "ns", Lower // memory is of a node, whoever reads it
	if m.part == "bandwidth" {
		unit, better = "MB/s", Higher
	}
	if m.from == "writer" {
		to = "reader"
	}
	for i, f := range fs[1:] {
		if f.Text == "-" { // not measurable, or a node with itself
			continue
		}
		value, ok := number(f.Text)
		if !ok {
			m.doubt(f, "found %q, want a number or -", text.Short(f.Text))
			continue
		}
		m.metric(f, m.title+m.traffic+" "+m.from+" "+fs[0].Text+" → "+to+" "+m.columns[i], value, unit, better)
	}
}

// split separates adjoining values: MLC prints one decimal.
func split(fs []text.Line) []text.Line {
	var out []text.Line
	for _, f := range fs {
		if !mlcTouching.MatchString(f.Text) {
			out = append(out, f)
			continue
		}
		for _, at := range mlcValue.Regexp().FindAllStringIndex(f.Text, -1) {
			out = append(out, f.Part(at[0], at[1]))
		}
	}
	return out
}

// isNodes reports whether s is one or more node numbers.
func isNodes(s string) bool {
	fs := strings.Fields(s)
	for _, f := range fs {
		if len(f) > 4 || strings.Trim(f, "0123456789") != "" {
			return false
		}
	}
	return len(fs) > 0
}
