package benchmark

import (
	"strings"

	"example.org/homenode/numa/pattern"
)

// google/multichase: the output of multichase -v, which ends with the latency in ns, and the table
// of multiload. Without -v multichase prints only a number, and pingpong a matrix without a
// heading: these cannot be detected and are not parsed.

var (
	chaseSetting = pattern.Of(`^(nr_threads|page_size|total_memory|stride|tlb_locality|chase) = (.+)$`)
	chaseEpoch   = pattern.Of(`^[0-9]{9,}\.[0-9]+ `)
	chaseRow     = pattern.Of(`^[0-9. ]+\savg=[0-9.]+$`)
	chaseResult  = pattern.Of(`^([0-9]+\.[0-9]+)$`)
)

// loadMetrics are the columns of multiload with results.
var loadMetrics = map[string]measure{
	"chasens":   {"chase latency", "ns", Lower},
	"chasemibs": {"chase bandwidth", "MiB/s", Higher},
	"ldmaxmibs": {"load bandwidth, maximum", "MiB/s", Higher},
	"ldavgmibs": {"load bandwidth, average", "MiB/s", Higher},
}

func readMultichase(r *reader) error {
	var columns []string
	done := true // the current run has its result
	for r.scan() {
		// -y prefixes the time to each line: blanks instead keep the columns.
		r.Text = chaseEpoch.Regexp().ReplaceAllStringFunc(r.Text, func(s string) string { return strings.Repeat(" ", len(s)) })
		low := squeeze(r.Text)
		switch v := r.Match(chaseSetting); {
		case low == "":
		case v != nil:
			if done {
				r.start("multichase", "")
				done = false
			}
			r.run.setting(v[2], v[1].Text, v[2].Text, "")
		case strings.HasPrefix(low, "samples (one column"), r.Match(chaseRow) != nil:
			if done {
				r.start("multichase", "")
				done = false
			}
		case strings.HasPrefix(low, "timed out"):
			r.warn(r.N, 0, "%s", strings.TrimSpace(r.Text))
			done = true
		case strings.HasPrefix(low, "samples ,") || strings.HasPrefix(low, "samples,"):
			columns = strings.Split(low, ",")
		case columns != nil && strings.Count(r.Text, ",")+1 == len(columns):
			r.load(columns)
		case !done && r.Match(chaseResult) != nil:
			v := r.Match(chaseResult)
			if ns, ok := number(v[1].Text); ok {
				r.metric(v[1], "latency", ns, "ns", Lower)
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

// chaseName returns the name of the test.
func chaseName(run *Run) string {
	var parts []string
	for _, f := range run.Settings {
		parts = append(parts, f.Name+" "+f.Value.(string))
	}
	return strings.Join(parts, ", ")
}

// load parses a row of multiload.
func (r *reader) load(columns []string) {
	run := r.start("multiload", "")
	var name []string
	for i, cell := range r.Split(",") {
		column := strings.TrimSpace(columns[i])
		if m, known := loadMetrics[column]; known {
			r.measured(cell, m)
			continue
		}
		run.fact(cell, column, cell.Text, "")
		switch column {
		case "byte/thd", "chasethds", "loadthds", "chasearg", "memldarg":
			name = append(name, column+" "+cell.Text)
		}
	}
	run.Name = strings.Join(name, ", ")
}
