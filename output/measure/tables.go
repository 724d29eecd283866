package measure

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// compared has the predicted and the measured values.
func compared(r *measured.Result) answer.Table {
	t := answer.Table{Name: "predicted", Title: "Predicted beside measured", Columns: answer.Columns("what", "predicted", "measured", "compared")}
	for _, c := range r.Compared {
		t.Add(c.Name, c.Predicted, c.Measured, words.Join(": ", c.Verdict, c.Why))
	}
	return t
}

func levels(r *measured.Result) answer.Table {
	t := answer.Table{Name: "levels", Title: "Caches and memory by latency", Columns: answer.Columns("level", "pages", ">latency", ">cycles", ">working sets", ">the guest was told")}
	for _, l := range r.Levels {
		cycles := ""
		if l.Cycles > 0 {
			cycles = fmt.Sprintf("%.0f", l.Cycles)
		}
		t.Add(l.Name, string(l.Pages), nanoseconds(l.Latency), cycles, sizeText(l.From)+" – "+sizeText(l.To), sizeText(l.Told))
	}
	return t
}

// nanoseconds formats a latency with three digits.
func nanoseconds(ns float64) string { return unit.Seconds(ns / 1e9).String() }

// matrix has one row per node with processors. Bandwidth is in GB/s.
func matrix(name, title string, m *measured.Matrix) answer.Table {
	t := answer.Table{Name: name, Title: title}
	if m == nil {
		return t
	}
	t.Columns = answer.Columns("from node")
	for _, to := range m.To {
		t.Columns = append(t.Columns, answer.Column{Name: fmt.Sprintf("to %d", to), Right: true})
	}
	for i, row := range m.Cells {
		cells := []string{strconv.Itoa(m.From[i])}
		for _, c := range row {
			cells = append(cells, cellText(m, c.Stats))
		}
		t.Add(cells...)
	}
	if !m.Placed {
		t.Foot = append(t.Foot, "Where the pages are was not confirmed: they were placed by the first touch.")
	}
	return t
}

func cellText(m *measured.Matrix, s *measured.Stats) string {
	switch {
	case s == nil:
		return "–"
	case m.Unit == "ns":
		return doubtful(fmt.Sprintf("%.0f", s.Median), s)
	}
	return doubtful(fmt.Sprintf("%.1f", s.Median/1000), s)
}

// doubtful marks a figure that drifted or was disturbed.
func doubtful(text string, s *measured.Stats) string {
	if s.Drifting || s.Disturbed != "" {
		return text + " ?"
	}
	return text
}

func threads(r *measured.Result) answer.Table {
	t := answer.Table{Name: "threads", Title: "Bandwidth by threads", Columns: answer.Columns(">node", ">threads", "mix", ">GB/s", "")}
	for _, w := range r.Threads {
		knee := ""
		if w.Knee {
			knee = "more threads bring less than 5 % more"
		}
		t.Add(strconv.Itoa(w.Node), strconv.Itoa(w.Threads), w.Mix, fmt.Sprintf("%.1f", w.MBps/1000), knee)
	}
	return t
}

func loaded(r *measured.Result) answer.Table {
	t := answer.Table{Name: "loaded", Title: "Latency under load", Columns: answer.Columns(">pause between lines", ">GB/s", ">latency")}
	for _, p := range r.Loaded {
		t.Add(nanoseconds(p.DelayNs), fmt.Sprintf("%.1f", p.MBps/1000), nanoseconds(p.Latency.Median))
	}
	return t
}

// groups lists groups of close logical processors, by cache-line transfers and by memory.
func groups(r *measured.Result) answer.Table {
	t := answer.Table{Name: "groups", Title: "vCPUs that belong together, by latency", Columns: answer.Columns("found by", "level", ">groups", "vCPUs")}
	row := func(by, level string, groups [][]int) {
		out := words.Texts(groups, words.Ranges)
		t.Add(by, level, strconv.Itoa(len(groups)), strings.Join(out, " | "))
	}
	if h := r.Hidden; h != nil && len(h.Groups) > 0 {
		row("memory", "node of the host", h.Groups)
	}
	if r.Cores != nil {
		for _, l := range r.Cores.Levels {
			row("cache lines", l.Name, l.Groups)
		}
	}
	return t
}

// mostPairs is the maximum number of logical processors in the table of pairs. Drawings have
// more.
const mostPairs = 16

// pairs has the transfer times of a cache line between logical processors.
func pairs(r *measured.Result) answer.Table {
	t := answer.Table{Name: "pairs", Title: "From one logical processor to another (ns)"}
	if r.Cores == nil || len(r.Cores.CPUs) < 2 || len(r.Cores.CPUs) > mostPairs {
		return t
	}
	cpus := r.Cores.CPUs
	t.Columns = answer.Columns("from")
	for _, c := range cpus {
		t.Columns = append(t.Columns, answer.Column{Name: fmt.Sprintf("to %d", c), Right: true})
	}
	between := map[[2]int]string{}
	for _, p := range r.Cores.Pairs {
		text := fmt.Sprintf("%.0f", p.Latency.Median)
		if len(p.States) > 1 || p.Guessed {
			text += " ?"
		}
		between[[2]int{p.A, p.B}], between[[2]int{p.B, p.A}] = text, text
	}
	for _, a := range cpus {
		row := []string{strconv.Itoa(a)}
		for _, b := range cpus {
			row = append(row, between[[2]int{a, b}])
		}
		t.Add(row...)
	}
	return t
}

func steps(r *measured.Result) answer.Table {
	t := answer.Table{Name: "steps", Title: "Waiting times of a request", Columns: answer.Columns("step", "where", ">median", ">25 to 75 %", ">99 %", "what was done")}
	for _, s := range r.Steps {
		t.Add(s.Name, s.Where, nanoseconds(s.Latency.Median), nanoseconds(s.Latency.P25)+" – "+nanoseconds(s.Latency.P75), nanoseconds(s.Latency.P99), s.About)
	}
	return t
}

// checks lists the comparisons that failed.
func checks(r *measured.Result) answer.Table {
	t := answer.Table{Name: "checks", Title: "Figures that do not agree", Columns: answer.Columns("check", "found", "want")}
	for _, c := range r.Trust.Checks {
		if !c.OK {
			t.Add(c.Name, c.Found, c.Want)
		}
	}
	return t
}

func missing(r *measured.Result) answer.Table {
	t := answer.Table{Name: "missing", Title: "Not measured", Columns: answer.Columns("part", "why", "what helps")}
	addMissing(&t, r.Missing)
	return t
}

// addMissing adds one row per part.
func addMissing(t *answer.Table, all []machine.Missing) {
	for _, m := range all {
		t.Add(m.Part, m.Reason, m.Remedy)
	}
}
