// Package latency answers how long one step takes beside the others.
package latency

import (
	"fmt"
	"slices"
	"strings"

	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/latency"
)

// Options say how the ladder is shown.
type Options struct {
	Given   map[string]bool // flags that the user gave
	CPU     string          // of --processor
	Why     []string        // what package cost says about that host
	Files   []File          // that were read
	Notes   []string        // of their readers
	Details bool            // every rung, what is known of it, and each measurement
}

// A File is a file with the number of latencies that were taken from it.
type File struct {
	Name      string
	Latencies int
}

// Answer returns the latency ladder as an answer.
func Answer(r *latency.Result, o Options) *answer.Answer {
	a := &answer.Answer{Command: "size latency", Question: question(r, &o), Result: r}
	a.Assumed = assumed(r, &o)
	a.Verdict = verdict(r, &o)
	a.Tables = append(a.Tables, table(r, &o))
	if o.Details {
		a.Tables = append(a.Tables, sources(r))
		if t := samples(r); len(t.Rows) > 0 {
			a.Tables = append(a.Tables, t)
		}
	}
	a.Changes = changes(r)
	a.Note(read(&o)...)
	a.Note(o.Why[:min(1, len(o.Why))]...) // the others are about nodes
	a.Note(r.Notes...)
	size.AddCharts(a, bars(r, a.Verdict[0]))
	return a
}

func question(r *latency.Result, o *Options) string {
	q := "size latency: what a step of a request waits for"
	if len(o.Files) > 0 {
		q += ", published and as you measured"
	}
	switch {
	case r.Calls > 0 && r.Budget > 0:
		q += fmt.Sprintf("; %s of each in %s", count(r.Calls), r.Budget)
	case r.Calls > 0:
		q += fmt.Sprintf("; %s of each", count(r.Calls))
	case r.Budget > 0:
		q += fmt.Sprintf("; how many fit %s", r.Budget)
	}
	return q
}

func assumed(r *latency.Result, o *Options) []answer.Assumption {
	core := answer.Assumption{What: "core", Value: r.Core.String(), Origin: unit.Published, Source: "Denneman 2019/10/14 (A-10)", Note: "0.4 ns a cycle"}
	if o.Given["core"] {
		core.Origin, core.Source, core.Note = unit.Given, "--core", "L1 and L2 take their cycles of it"
	}
	out := []answer.Assumption{core}
	if local, ok := r.Line(latency.RAM); ok && local.Published != nil {
		memory := answer.Figure("published memory", *local.Published, unit.Seconds.String)
		if o.CPU != "" {
			memory.Source, memory.Hardware, memory.Note = "--processor "+o.CPU, "", "see the notes"
		}
		out = append(out, memory)
	}
	if r.Calls > 0 || r.Budget > 0 {
		out = append(out, answer.Assumption{What: "order", Value: "one after the other", Origin: unit.Assumed, Note: "no two steps at once, nothing else"})
	}
	for _, f := range o.Files {
		value := fmt.Sprintf("%d latencies", f.Latencies)
		if f.Latencies == 1 {
			value = "1 latency"
		}
		out = append(out, answer.Assumption{What: "yours", Value: value, Origin: unit.Measured, Source: f.Name})
	}
	return out
}

func verdict(r *latency.Result, o *Options) []string {
	var out []string
	published := fmt.Sprintf("%s to %s ×", unit.Digits(r.Published.Low, 2), unit.Digits(r.Published.High, 2))
	if y := r.Yours; y != nil {
		beside := map[latency.Side]string{latency.Below: "less than on any published host", latency.Within: "as on published hosts", latency.Above: "more than on any published host"}[r.YoursIs]
		out = append(out, fmt.Sprintf("Your remote memory is %s × local, %s (%s).", unit.Digits(y.Value, 2), beside, published))
	} else if far, ok := r.Line(latency.RAMFar); ok && o.CPU != "" {
		out = append(out, fmt.Sprintf("Remote memory of %s is %s × local (published hosts: %s).", o.CPU, unit.Digits(far.PerRAM, 2), published))
	} else {
		out = append(out, fmt.Sprintf("Remote memory is %s × local (published hosts: %s).", unit.Digits(r.Published.Value, 2), published))
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Yours == nil || l.Yours.Within == nil || *l.Yours.Within {
			continue
		}
		out = append(out, fmt.Sprintf("Outside of what was published: your %s, %s (%s to %s).", l.Name, l.Yours.Value, l.Published.Low, l.Published.High))
	}
	if rpc, ok := r.Line(latency.RPC); ok {
		out = append(out, fmt.Sprintf("One remote call took as long as %s accesses to local RAM, in one Python program (b-ladder).", count(rpc.PerRAM)))
	}
	if r.Calls > 0 && r.Budget > 0 {
		if l, ok := r.Slowest(); ok {
			out = append(out, fmt.Sprintf("%s calls fit %s down to %s: they take %s.", count(r.Calls), r.Budget, l.Name, l.Takes))
		} else {
			out = append(out, fmt.Sprintf("%s of no step fit %s.", count(r.Calls), r.Budget))
		}
	}
	if r.Calls == 0 && r.Budget > 0 {
		if l, ok := r.Slowest(); ok {
			out = append(out, fmt.Sprintf("The slowest step that fits %s once: %s, %s.", r.Budget, l.Name, l.Value))
		} else {
			out = append(out, fmt.Sprintf("No step fits %s.", r.Budget))
		}
	}
	return out
}

// count writes a number with three digits: "3.45 M".
func count(v float64) string {
	return strings.TrimSpace(strings.TrimSuffix(unit.Cycles(v).String(), "cycles"))
}

// shown reports whether a line is in the short form.
func shown(l *latency.Line, o *Options) bool {
	return o.Details || !l.Minor || l.Yours != nil
}

func between(low, high unit.Seconds) string {
	if low == high {
		return ""
	}
	a, unit, _ := strings.Cut(low.String(), " ")
	if b, other, _ := strings.Cut(high.String(), " "); unit == other {
		return a + "–" + b + " " + unit
	}
	return low.String() + " – " + high.String()
}

func table(r *latency.Result, o *Options) answer.Table {
	t := answer.Table{Name: "ladder", Columns: size.Columns("step", ">published", ">range")}
	yours := len(o.Files) > 0
	right := func(names ...string) {
		for _, n := range names {
			t.Columns = append(t.Columns, answer.Column{Name: n, Right: true})
		}
	}
	if yours {
		right("yours")
		if !asked(r) {
			right("from – to")
		}
		right("deviation")
		t.Columns = append(t.Columns, answer.Column{Name: "in range"})
	}
	right("× RAM")
	if !yours {
		right("× call")
	}
	if !asked(r) {
		right("cycles")
	}
	if r.Calls > 0 {
		right(count(r.Calls) + " take")
	}
	if r.Budget > 0 {
		right("in " + r.Budget.String())
	}
	if !yours {
		t.Columns = append(t.Columns, answer.Column{Name: "origin"}, answer.Column{Name: "source"})
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		if !shown(l, o) {
			continue
		}
		t.Add(row(r, l, yours)...)
	}
	return t
}

// asked reports whether the table has columns for calls or a budget, in place of
// cycles.
func asked(r *latency.Result) bool { return r.Calls > 0 || r.Budget > 0 }

// deviation writes a deviation in percent, a large one as a multiple.
func deviation(s unit.Share) string {
	const large = 2
	if s > large {
		return unit.Digits(float64(s)+1, 2) + " ×"
	}
	return size.SignedPercent(s)
}

func row(r *latency.Result, l *latency.Line, yours bool) []string {
	row := []string{l.Name, "–", ""}
	if p := l.Published; p != nil {
		row[1], row[2] = p.Value.String(), between(p.Low, p.High)
	}
	if yours {
		cells := []string{"", "", "", ""}
		if y := l.Yours; y != nil {
			cells[0], cells[1] = y.Value.String(), between(y.Low, y.High)
			if y.Deviation != nil {
				cells[2] = deviation(*y.Deviation)
			}
			if y.Within != nil {
				cells[3] = map[bool]string{true: "yes", false: "no"}[*y.Within]
			}
		}
		if asked(r) {
			cells = slices.Delete(cells, 1, 2)
		}
		row = append(row, cells...)
	}
	row = append(row, count(l.PerRAM))
	if !yours {
		row = append(row, count(l.PerCall))
	}
	if !asked(r) {
		row = append(row, count(float64(l.Cycles)))
	}
	if r.Calls > 0 {
		row = append(row, l.Takes.String())
	}
	if l.Fits != nil {
		row = append(row, unit.Grouped(*l.Fits, 0))
	}
	if !yours {
		origin, source := "", ""
		if l.Published != nil {
			origin, source = string(l.Published.Origin), l.Published.Source
		}
		row = append(row, origin, source)
	}
	return row
}

// sources says what is known of each published figure.
func sources(r *latency.Result) answer.Table {
	t := answer.Table{Name: "sources", Title: "what was published", Columns: size.Columns("step", "origin", "source", "hardware", "note")}
	for i := range r.Lines {
		if p := r.Lines[i].Published; p != nil {
			t.Add(r.Lines[i].Name, string(p.Origin), p.Source, p.Hardware, p.Note)
		}
	}
	return t
}

// samples lists each measurement of the user.
func samples(r *latency.Result) answer.Table {
	t := answer.Table{Name: "measured", Title: "what you measured", Columns: size.Columns("step", ">latency", "measurement", "where")}
	for i := range r.Lines {
		if y := r.Lines[i].Yours; y != nil {
			for _, s := range y.Samples {
				t.Add(r.Lines[i].Name, s.Value.String(), s.What, s.Where)
			}
		}
	}
	return t
}

func changes(r *latency.Result) []answer.Change {
	var out []answer.Change
	mean := func(what string, m latency.Memory) {
		out = append(out, answer.Change{If: what, Result: m.Value.String() + " a mean access to RAM", Change: size.SignedPercent(m.Slower)})
	}
	if r.Memory.Remote > 0 && r.Memory.Remote < 1 {
		mean(r.Memory.Remote.String()+" of the accesses to RAM are remote", r.Memory)
	}
	mean("all accesses to RAM are remote", r.Mixed(1))
	if before, after, ok := r.Clocked(0.2); ok {
		out = append(out, answer.Change{If: "cores clocked 20 % higher", Result: count(after) + " cycles wait for RAM instead of " + count(before), Change: "+20 %"})
	}
	add := func(what string, c latency.Change, ok bool) {
		if ok {
			out = append(out, answer.Change{If: what, Result: c.Value.String(), Change: size.SignedPercent(c.Slower)})
		}
	}
	change, ok := r.OneMoreSwitch()
	add("one more switch that stores a frame, RDMA", change, ok)
	change, ok = r.CompiledCalls()
	add("remote calls in C++ (a claim, not measured)", change, ok)
	return out
}

// read returns what the readers of the files were not sure of, in the short form
// the first few.
func read(o *Options) []string {
	const few = 3
	if o.Details || len(o.Notes) <= few+1 {
		return o.Notes[:len(o.Notes):len(o.Notes)]
	}
	return append(o.Notes[:few:few], fmt.Sprintf("%d more about your files: --details", len(o.Notes)-few))
}

func bars(r *latency.Result, title string) chart.Chart {
	bars := &chart.Bars{X: chart.Axis{Label: "latency, logarithmic", Log: true, Text: func(v float64) string { return unit.Seconds(v).String() }}, Limit: "what a step may take"}
	limit := 0.0
	if r.Calls > 0 && r.Budget > 0 {
		limit = float64(r.Budget) / r.Calls
	}
	anyOwn, assumed := false, false
	for i := range r.Lines {
		anyOwn = anyOwn || r.Lines[i].Yours != nil
	}
	row := func(name, kind string, v, low, high unit.Seconds, soft bool) {
		s := chart.Segment{Value: float64(v), Soft: soft}
		if anyOwn {
			s.Kind = kind
		}
		if low != high {
			s.Low, s.High = float64(low), float64(high)
		}
		bars.Rows = append(bars.Rows, chart.Row{Name: name, Value: v.String(), Segments: []chart.Segment{s}, Limit: limit})
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Minor && l.Yours == nil {
			continue
		}
		if p := l.Published; p != nil {
			row(l.Name, "published", p.Value, p.Low, p.High, p.Origin == unit.Assumed)
			assumed = assumed || p.Origin == unit.Assumed
		}
		if y := l.Yours; y != nil {
			row(l.Name+", yours", "yours", y.Value, y.Low, y.High, false)
		}
	}
	note := "Published: Denneman (A-10), b-nvme, b-vsan, b-ladder and D-4."
	if assumed {
		note += " Hatched: assumed."
	}
	if limit > 0 {
		note += fmt.Sprintf(" %s calls in %s: that is what a step may take.", count(r.Calls), r.Budget)
	}
	return chart.Chart{ID: "latency", Title: strings.TrimSuffix(title, "."), Note: note, Bars: bars}
}
