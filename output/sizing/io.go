package sizing

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"homenode/capacity"
	"homenode/capacity/iocost"
)

// pathNames are the paths as a reader calls them.
var pathNames = map[iocost.Path]string{
	iocost.NVMe: "local NVMe", iocost.VSANESA: "vSAN ESA", iocost.Network: "network", iocost.RAM: "RAM",
}

// IO returns the answer of size io: a study by the model m.
func IO(m *iocost.Model, s *iocost.Study) (*Answer, error) {
	q := &s.Question
	a := &Answer{Command: "size io", Question: ioQuestion(q), Assumed: ioAssumed(s), Verdict: ioVerdict(s), Result: s}
	a.Tables = []Table{ioTable(s)}
	for i := range s.If {
		a.If = append(a.If, ioChange(s, &s.If[i]))
	}
	a.Notes = ioNotes(s)
	a.Next = []string{"homenode size io --published"}
	if err := a.ioCharts(m, s); err != nil {
		return nil, err
	}
	return a, nil
}

// ioQuestion returns what was asked in one line.
func ioQuestion(q *iocost.Question) string {
	var parts []string
	for i := range q.Workloads {
		parts = append(parts, q.Workloads[i].Text())
	}
	s := "size io: " + strings.Join(parts, " + ")
	if q.Budget > 0 {
		s += " within " + q.Budget.String() + " of the CPU"
	}
	if q.Cluster.Cores > 0 {
		s += fmt.Sprintf(", %s of %d cores", hosts(q.Cluster.Hosts), q.Cluster.Cores)
	}
	return s
}

func hosts(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", n)
}

// ioAssumed returns what the result rests on: the cost of each workload, the host, and
// what was not said.
func ioAssumed(s *iocost.Study) []Assumption {
	q := &s.Question
	var out []Assumption
	for i := range s.Loads {
		out = append(out, loadAssumed(&s.Loads[i], q)...)
	}
	for i := range q.Workloads {
		if missing := q.Workloads[i].Assumed; slices.Contains(missing, "read") || slices.Contains(missing, "random") {
			w := &q.Workloads[i]
			out = append(out, Assumption{What: "kind of I/O", Value: fmt.Sprintf("%s read, %s random", w.Read, w.Random), Origin: capacity.Assumed, Note: "not all of it was given (--read, --random)"})
		}
	}
	if q.Options.RDMA {
		out = append(out, Figure("saved by RDMA", iocost.RDMASaving, capacity.Share.String))
	}
	if c := q.Cluster; c.Cores > 0 {
		out = append(out, Assumption{What: "CPU of a host", Value: c.Host().String(), Origin: capacity.Given, Source: fmt.Sprintf("%d cores × %s, no Hyper-Threading, no turbo", c.Cores, c.Core)})
	}
	return append(out, workPerCycle(s))
}

// loadAssumed returns the cost of one workload as assumptions.
func loadAssumed(l *iocost.Load, q *iocost.Question) []Assumption {
	name := pathNames[l.Path]
	switch {
	case l.Cost == nil && !q.Options.Rules && l.Path == iocost.Network:
		return []Assumption{
			Figure("network, send", iocost.Transmit, capacity.CyclesPerBit.String), Figure("network, receive", iocost.Receive, capacity.CyclesPerBit.String),
		}
	case l.Cost == nil && !q.Options.Rules:
		return []Assumption{Figure(name, iocost.Memory, capacity.CyclesPerBit.String)}
	case l.Cost == nil:
		for _, r := range iocost.Rules() {
			if r.Path == l.Path {
				a := Figure(name+", rule of thumb", r.Cost, capacity.CyclesPerBit.String)
				a.Note = fmt.Sprintf("exact mean %s", capacity.Digits(float64(r.Exact), 3))
				return []Assumption{a}
			}
		}
	}
	out := []Assumption{Figure(fmt.Sprintf("%s, %s I/O", name, iocost.Size(l.Block)), l.Cost.PerIO, capacity.Cycles.String)}
	for _, why := range l.Why {
		out = append(out, Assumption{What: "  " + string(l.Basis), Value: why, Origin: capacity.Assumed})
	}
	return out
}

// workPerCycle says that a cycle is taken for a cycle, or what else was given.
func workPerCycle(s *iocost.Study) Assumption {
	a := Assumption{What: "work per cycle", Value: "as on the measured CPU", Origin: capacity.Assumed, Source: "--ipc states another"}
	for i := range s.Loads {
		if v := s.Loads[i].IPC; v != 1 {
			a.Value, a.Origin, a.Source = fmt.Sprintf("%v × the measured CPU", v), capacity.Given, "--ipc"
		}
	}
	return a
}

// ioVerdict returns the result in words.
func ioVerdict(s *iocost.Study) []string {
	var out []string
	if a := s.Allowed; a != nil {
		l := &s.Loads[a.Number]
		line := "at most " + a.Traffic.Value.Bytes() + " (" + a.Traffic.Value.String() + ")"
		if a.Rate != nil {
			line = "at most " + a.Rate.Value.String() + ", " + a.Traffic.Value.Bytes()
		}
		out = append(out, fmt.Sprintf("%s of %s.", line, pathNames[l.Path]))
	}
	line := s.CPU.Value.String()
	if s.Cores > 0 {
		line += ": " + capacity.Digits(s.Cores, 3) + " cores"
	}
	if s.Share > 0 {
		line += fmt.Sprintf(", %s of the CPU of %s", s.Share, hosts(s.Cluster.Hosts))
	}
	if s.Share > 1 {
		line += ", which is more than there is"
	}
	out = append(out, line+".")
	if l := s.Limit; l != nil && l.Capped {
		out = append(out, fmt.Sprintf("IOPS limits allow %s: counted with these.", l.Rate))
	}
	return out
}

// ioTable returns the workloads, one a row.
func ioTable(s *iocost.Study) Table {
	t := Table{Name: "workloads", Columns: []Column{
		{Name: "path"}, {Name: "IOPS", Right: true}, {Name: "traffic", Right: true}, {Name: "cycles per I/O", Right: true}, {Name: "Hz per b/s", Right: true},
		{Name: "CPU", Right: true}, {Name: "range", Right: true}, {Name: "network", Right: true}, {Name: "known by"},
	}}
	for i := range s.Loads {
		l := &s.Loads[i]
		row := []string{pathNames[l.Path], "", l.Bits().Bytes(), "", capacity.Digits(float64(l.PerBit.Value), 3), l.CPU.Value.String(), hzRange(l.CPU), "", string(l.Basis)}
		if l.Rate > 0 {
			row[1] = capacity.Grouped(float64(l.Rate), 0)
			row[3] = capacity.Grouped(float64(l.CPU.Value.PerIO(l.Rate)), 0)
		}
		if l.Network != nil {
			row[7] = l.Network.Value.String()
		}
		t.Rows = append(t.Rows, row)
	}
	if len(s.Loads) > 1 {
		t.Rows = append(t.Rows, []string{"together", "", "", "", "", s.CPU.Value.String(), hzRange(s.CPU), "", string(s.Basis)})
	}
	return t
}

func hzRange(f capacity.Figure[capacity.Hz]) string {
	if f.Low == f.High {
		return ""
	}
	return f.Low.String() + " to " + f.High.String()
}

// ioChange returns a variant as a line.
func ioChange(s *iocost.Study, v *iocost.Variant) Change {
	c := Change{If: v.If, Result: v.CPU.Value.String(), Change: signed(v.Change)}
	switch {
	case v.Allowed != nil && v.Allowed.Rate != nil:
		c.Result = v.Allowed.Rate.Value.String() + ", " + v.Allowed.Traffic.Value.Bytes()
	case v.Allowed != nil:
		c.Result = v.Allowed.Traffic.Value.Bytes()
	case v.Share > 0:
		c.Result += ", " + v.Share.String()
	}
	if v.Basis == iocost.Extrapolated && s.Basis != iocost.Extrapolated {
		c.Result += " (" + string(v.Basis) + ")"
	}
	return c
}

// signed returns a change in whole percent: "+38 %".
func signed(s capacity.Share) string { return fmt.Sprintf("%+.0f %%", math.Round(float64(s)*100)) }

// ioNotes returns what is doubtful.
func ioNotes(s *iocost.Study) []string {
	return nil
}
