package benchmark

import (
	"regexp"
	"strings"
)

// google/multichase: the output of multichase -v, which ends with the latency in
// ns, and the table of multiload. Without -v multichase prints a number alone and
// pingpong a matrix without a heading: no reader can tell them, and none does.

var (
	chaseSetting = regexp.MustCompile(`^(nr_threads|page_size|total_memory|stride|tlb_locality|chase) = (.+)$`)
	chaseEpoch   = regexp.MustCompile(`^[0-9]{9,}\.[0-9]+ `)
	chaseRow     = regexp.MustCompile(`^[0-9. ]+\savg=[0-9.]+$`)
	chaseResult  = regexp.MustCompile(`^([0-9]+\.[0-9]+)$`)
)

// loadMetrics are the columns of multiload that are results.
var loadMetrics = []struct {
	column, name, unit string
	better             Better
}{
	{"chasens", "chase latency", "ns", Lower},
	{"chasemibs", "chase bandwidth", "MiB/s", Higher},
	{"ldmaxmibs", "load bandwidth, maximum", "MiB/s", Higher},
	{"ldavgmibs", "load bandwidth, average", "MiB/s", Higher},
}

func readMultichase(r *reader) error {
	var columns []string
	done := true // the run that was begun has its result
	for r.scan() {
		// -y puts the time before each line: blanks instead keep the columns.
		line := chaseEpoch.ReplaceAllStringFunc(r.line, func(s string) string { return strings.Repeat(" ", len(s)) })
		low := squeeze(line)
		switch v := match(chaseSetting, line); {
		case low == "":
		case v != nil:
			if done {
				r.start("multichase", "")
				done = false
			}
			r.run.setting(r.n, v[2].col, v[1].text, v[2].text, "")
		case strings.HasPrefix(low, "samples (one column"), match(chaseRow, line) != nil:
			if done {
				r.start("multichase", "")
				done = false
			}
		case strings.HasPrefix(low, "timed out"):
			r.warn(r.n, 0, "%s", strings.TrimSpace(line))
			done = true
		case strings.HasPrefix(low, "samples ,") || strings.HasPrefix(low, "samples,"):
			columns = strings.Split(low, ",")
		case columns != nil && strings.Count(line, ",")+1 == len(columns):
			r.load(columns, line)
		case !done && match(chaseResult, line) != nil:
			v := match(chaseResult, line)
			if ns, ok := number(v[1].text); ok {
				r.metric(v[1].col, "latency", ns, "ns", Lower)
			}
			r.run.Name = chaseName(r.run)
			done = true
		default:
			r.skip()
			continue
		}
		r.understood()
	}
	return nil
}

// chaseName says what was chased.
func chaseName(run *Run) string {
	var parts []string
	for _, f := range run.Settings {
		parts = append(parts, f.Name+" "+f.Value.(string))
	}
	return strings.Join(parts, ", ")
}

// load reads a row of multiload.
func (r *reader) load(columns []string, line string) {
	run := r.start("multiload", "")
	var name []string
	col := 1
	for i, cell := range strings.Split(line, ",") {
		at := field{strings.TrimSpace(cell), col + len(cell) - len(strings.TrimLeft(cell, " \t"))}
		col += len(cell) + 1
		column := strings.TrimSpace(columns[i])
		known := false
		for _, m := range loadMetrics {
			if m.column != column {
				continue
			}
			known = true
			if v, ok := number(at.text); ok {
				r.metric(at.col, m.name, v, m.unit, m.better)
			} else {
				r.warn(r.n, at.col, "found %q, want %s", short(at.text), m.name)
			}
		}
		if known {
			continue
		}
		run.fact(r.n, at.col, column, at.text, "")
		switch column {
		case "byte/thd", "chasethds", "loadthds", "chasearg", "memldarg":
			name = append(name, column+" "+at.text)
		}
	}
	run.Name = strings.Join(name, ", ")
}
