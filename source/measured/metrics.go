package measured

import (
	"fmt"

	"example.org/homenode/internal/words"
)

// A Metric is one number of a run, with a name that is the same in every run of the same guest.
type Metric struct {
	Name   string
	Unit   string // "ns", "MB/s", "%"
	Value  float64
	Higher bool   // more is better; otherwise less is
	Path   string // its place in the file: "levels[0].latencyNs"
}

// Names of metrics used by other packages.
const (
	// MetricNear and MetricFar are the latencies of the two kinds of memory caused by hidden nodes, in a node of the guest.
	MetricNear = "latency of near pages, found from inside"
	MetricFar  = "latency of far pages, found from inside"
)

// Metrics returns the figures of a run that are comparable with those of another one.
func (r *Result) Metrics() []Metric {
	var out []Metric
	add := func(name, unit string, v float64, higher bool, path string, at ...any) {
		out = append(out, Metric{name, unit, v, higher, fmt.Sprintf(path, at...)})
	}
	ns := func(name string, v float64, path string, at ...any) { add(name, "ns", v, false, path, at...) }
	for i, l := range r.Levels {
		ns(fmt.Sprintf("latency %s, %s pages", l.Name, l.Pages), l.Latency, "levels[%d].latencyNs", i)
	}
	r.Latency.each(func(i, j, from, to int, s *Stats) {
		ns(fmt.Sprintf("idle latency node %d → node %d", from, to), s.Median, "latencyMatrix.cells[%d][%d]", i, j)
	})
	r.Bandwidth.each(func(i, j, from, to int, s *Stats) {
		add(fmt.Sprintf("read bandwidth node %d → node %d", from, to), "MB/s", s.Median, true, "bandwidthMatrix.cells[%d][%d]", i, j)
	})
	for i, t := range r.Threads {
		add(fmt.Sprintf("%s bandwidth node %d, %d threads", t.Mix, t.Node, t.Threads), "MB/s", t.MBps, true, "bandwidthByThreads[%d].mbPerSecond", i)
	}
	for i, p := range r.Loaded {
		ns(fmt.Sprintf("loaded latency, delay %g ns", p.DelayNs), p.Latency.Median, "loaded[%d].latencyNs", i)
	}
	if r.Cores != nil {
		for i, p := range r.Cores.Pairs {
			if !p.Guessed {
				ns(fmt.Sprintf("core %d ↔ %d", p.A, p.B), p.Latency.Median, "cores.pairs[%d].latencyNs", i)
			}
		}
	}
	if h := r.Hidden; h != nil {
		for i, s := range h.Shares {
			add("hidden remote share, "+s.Of+ofCPUs(s.From), "%", 100*s.Remote, false, "hidden.shares[%d].remote", i)
		}
		if m := h.Modes; m != nil && (h.Answer == SeveralNodes || h.Answer == FarPages) {
			ns(MetricNear, m.Near, "hidden.modes.nearNs")
			ns(MetricFar, m.Far, "hidden.modes.farNs")
		}
	}
	if r.Lost != nil {
		add("lost to the host", "%", 100*r.Lost.ByHost, false, "lost.byHost")
	}
	for i, s := range r.Steps {
		ns(words.Join(", ", s.Name, s.Where), s.Latency.Median, "steps[%d].latencyNs", i)
	}
	return out
}

// MemoryLatency returns the measured latencies of RAM, in ns: from each node of the guest to itself, or without a matrix those of RAM by working
// set; and from each node to the others. Cells that drifted or were disturbed are omitted. Nil means not measured.
func (r *Result) MemoryLatency() (local, far []float64) {
	r.Latency.each(func(_, _, from, to int, s *Stats) {
		if s.Drifting || s.Disturbed != "" {
			return
		}
		if from == to {
			local = append(local, s.Median)
		} else {
			far = append(far, s.Median)
		}
	})
	if local == nil {
		for _, l := range r.Levels {
			if l.Name == "RAM" {
				local = append(local, l.Latency)
			}
		}
	}
	return local, far
}

// each calls f for the measured cells: their places, and their nodes.
func (m *Matrix) each(f func(i, j, from, to int, s *Stats)) {
	if m == nil {
		return
	}
	for i, row := range m.Cells {
		for j, cell := range row {
			if cell.Stats != nil {
				f(i, j, m.From[i], m.To[j], cell.Stats)
			}
		}
	}
}

// ofCPUs names the first of the logical processors of a share; "" for all of them.
func ofCPUs(from []int) string {
	if len(from) == 0 {
		return ""
	}
	return fmt.Sprintf(", seen from vCPU %d", from[0])
}
