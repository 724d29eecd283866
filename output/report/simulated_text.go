package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/capture"
	"homenode/esxi/scheduler"
	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/rules/rule"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
)

// Simulated writes what a simulation came to for a terminal: the verdict, what was
// simulated, what happened, the hosts, the VMs that matter, and what was found.
func Simulated(w io.Writer, r *simulate.Result, o CaptureOptions) error {
	p := &printer{w: w, colour: o.Colour}
	c := newSimulated(r)
	p.simulatedHead(c, o)
	p.happened(c, o)
	p.simulatedHosts(c, o)
	p.simulatedVMs(c, o)
	if len(c.Findings) > 0 {
		p.printf("\n")
	}
	if o.Details {
		p.captureDetails(c)
	} else {
		p.counts(c.judged)
	}
	p.someNotes(c.grouped(c.judged.notes()), "json or html")
	p.simulatedNext(c, o)
	return p.err
}

func (p *printer) simulatedHead(c *captured, o CaptureOptions) {
	verdict, rest := c.verdict()
	p.printf("%s\n", p.paint(bold, verdict))
	if rest != "" {
		p.printf("%s\n", rest)
	}
	p.printf("\n")
	s := c.sim
	t := texttab.Table{}
	t.Row("simulated", fmt.Sprintf("%s · %s · %s · %s", s.Story.Name, plural(len(s.Story.Fleet.Hosts), "host"), plural(len(s.Order), "VM"), runText(s)), elapsed(o.Read))
	t.Row("model", modelText(s))
	if text := assumedText(s); text != "" {
		t.Row("assumed", text)
	}
	if c.Policy != nil {
		t.Row("config", c.Policy.File+policyText(&c.Judgement))
	}
	if n := len(c.Suppressed); n > 0 {
		t.Row("suppressed", strconv.Itoa(n))
	}
	p.table(&t)
}

// mostHappened is how many lines of the story the overview has.
const mostHappened = 36

// happened tells the story.
func (p *printer) happened(c *captured, o CaptureOptions) {
	all := c.sim.Happened()
	if len(all) == 0 {
		return
	}
	left := 0
	if !o.Details {
		all, left = recording.Shorten(all, mostHappened)
	}
	t := texttab.Table{}
	t.Row("TIME", "WHAT HAPPENED")
	for _, h := range all {
		text := h.Text
		switch {
		case !h.Event:
			text = "  " + h.Host + ": " + h.Text
		case h.Note != "":
			text += "  # " + h.Note
		}
		t.Row(c.when(&h), text)
		if h.Event && p.colour {
			t.Paint(1, bold)
		}
		if h.Followed != "" {
			t.Row("", "  → "+h.Followed)
		}
	}
	p.printf("\n")
	p.table(&t)
	if left > 0 {
		p.printf("%s left out: --details; every decision: --why\n", plural(left, "line"))
	}
}

// when writes from when to when something happened.
func (c *captured) when(h *recording.Happening) string {
	from := c.Clock.At(h.From)
	if to := c.Clock.At(h.To); to != from && !h.Event {
		return c.Clock.Span(h.From, h.To)
	}
	return from
}

// fewHosts is how many hosts the overview lists, each with its nodes.
const fewHosts = 6

// simulatedHosts lists the NUMA nodes of the hosts, and what the balancer did there.
func (p *printer) simulatedHosts(c *captured, o CaptureOptions) {
	hosts, cut := c.WeightedHosts(), ""
	if n := len(hosts) - fewHosts; n > 1 && !o.Details {
		hosts, cut = hosts[:fewHosts], fmt.Sprintf("%s more hosts: --details", thousands(n))
	}
	if len(hosts) == 0 {
		return
	}
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 6: true}}
	t.Row("HOST", "NODE", "MEMORY", "LOAD MEAN", "MOST", "AT", "LEAST FREE", "AT", "MEMORY STATE", "MIGRATIONS")
	for _, rec := range hosts {
		for i := range rec.Nodes {
			n := &rec.Nodes[i]
			name, states, moves := "", "", ""
			if i == 0 {
				name, states, moves = rec.Host, dash(statesText(rec)), kindsText(rec)
			}
			t.Row(name, strconv.Itoa(n.ID), dash(bytesText(n.Total)), dash(levelMean(&n.Busy)), dash(levelPeak(&n.Busy)), dash(c.Clock.At(n.Busy.At)),
				dash(leastFree(n)), dash(c.Clock.At(n.LeastAt)), states, moves)
		}
	}
	p.printf("\n")
	p.table(&t)
	p.cut(cut)
}

// kindsText counts the NUMA migrations of a host by kind: "45 for load, 30 for locality".
func kindsText(rec *capture.Recording) string {
	load, locality, fairness := kindsOf(rec)
	var parts []string
	for _, k := range []struct {
		n    int64
		name string
	}{{load, "load"}, {locality, "locality"}, {fairness, "fairness"}} {
		if k.n > 0 {
			parts = append(parts, fmt.Sprintf("%s for %s", thousands(int(k.n)), k.name))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// simulatedVMs lists the VMs that matter: with findings, and then the slowest.
func (p *printer) simulatedVMs(c *captured, o CaptureOptions) {
	vms, cut := mattering(c.sim, o.Details)
	if len(vms) == 0 {
		return
	}
	head := []string{"VM", "VCPU", "HOST", "N%L MEAN", "LEAST", "FAR", "READY", "CO-STOP", "MOVES", "PERFORMANCE", "FOUND"}
	right := map[int]bool{1: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}
	taken := slices.ContainsFunc(vms, func(v *recording.SimulatedVM) bool { return v.Took != nil })
	if taken {
		head, right[9] = slices.Insert(head, 9, "SWAPPED"), true
	}
	t := texttab.Table{Right: right}
	t.Row(head...)
	for _, v := range vms {
		row := simCells(v)
		if taken {
			most := ""
			if v.Took != nil {
				most = v.Took.Taken().String()
			}
			row = slices.Insert(row, 9, dash(most))
		}
		t.Row(row...)
		if len(v.Findings) > 0 && p.colour {
			t.Paint(len(head)-1, severityCode[v.Findings[0].Severity])
		}
	}
	p.printf("\n")
	p.table(&t)
	p.cut(cut)
	for _, note := range simFootnotes(c.sim, vms) {
		p.printf("%s\n", note)
	}
}

// cells are what tables for people say of a VM.
func simCells(v *recording.SimulatedVM) []string {
	far, hasFar := v.Far()
	ready, hasReady := v.Waited()
	stopped, hasStopped := v.Stopped()
	hosts := v.Hosts()
	if len(hosts) > 3 {
		hosts = append(hosts[:2:2], fmt.Sprintf("… %s", hosts[len(hosts)-1]))
	}
	return []string{v.Name, dash(numberText(v.VCPUs())), dash(strings.Join(hosts, " → ")), dash(simMeanText(v)), dash(simLeastText(v)), dash(rateOf(far, hasFar)),
		dash(rateOf(ready, hasReady)), dash(rateOf(stopped, hasStopped)), strconv.FormatInt(v.Out.Moves.All, 10), dash(speedText(v)), dash(strings.Join(ruleIDs(v.Findings), " "))}
}

// footnotes say what the columns mean.
func simFootnotes(s *recording.Simulation, vms []*recording.SimulatedVM) (notes []string) {
	var blind []string
	star, priced, taken := false, false, false
	for _, v := range vms {
		if v.Blind() {
			blind = append(blind, v.Name)
		}
		priced = priced || v.Speed != nil
		taken = taken || v.Took != nil
		star = star || v.Speed != nil && v.Speed.Extrapolated
	}
	notes = append(notes, "FAR: memory on another node than the client it belongs to. READY, CO-STOP: of the time in which vCPUs wanted to run.")
	if taken {
		notes = append(notes, "SWAPPED: the most memory at a time that was swapped or ballooned. A VM of which more than 1 % was, has no performance index.")
	}
	if priced {
		text := "PERFORMANCE: 1 is all memory local and no wait, with what the published figures allow (docs/cost.md)."
		if star {
			text += " *: partly outside what was measured; --vm NAME says how."
		}
		notes = append(notes, text)
	}
	if len(blind) > 0 {
		notes = append(notes, words.Few(blind)+": N%L is not measurable, the memory is interleaved over the home nodes (M006).")
	}
	return notes
}

func (p *printer) simulatedNext(c *captured, o CaptureOptions) {
	source := quoted(o.SourceWords)
	t := texttab.Table{}
	next := func(command string) {
		label := "next"
		if t.Len() > 0 {
			label = ""
		}
		t.Row(label, "homenode simulate "+source+command)
	}
	if len(c.sim.Order) > 0 && len(c.Recordings) > 0 {
		name := shellQuote(c.sim.Order[0].Name)
		next(" --vm " + name)
		next(" --why --vm " + name)
		next(" --format html -o report.html")
	}
	if i := slices.IndexFunc(c.sim.Outcome.Decisions, func(d scheduler.Decision) bool { return len(d.Kind.Rules()) > 0 }); i >= 0 {
		id := c.sim.Outcome.Decisions[i].Kind.Rules()[0]
		t.Row("", fmt.Sprintf("homenode rules %s", id))
	}
	if t.Len() > 0 {
		p.printf("\n")
		p.table(&t)
	}
	if n := c.AtLeast(o.FailOn); n > 0 {
		p.printf("exit 1: %s at or above %s (--fail-on)\n", rule.Plural(n, "finding"), o.FailOn)
	}
}

func quoted(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, shellQuote(w))
	}
	return strings.Join(out, " ")
}

// mattering returns the VMs of the overview: those with findings or that were slowed down,
// the worst first, and some to compare them with; cut says what is left out.
func mattering(s *recording.Simulation, details bool) (vms []*recording.SimulatedVM, cut string) {
	if details {
		return s.Order, ""
	}
	const least = 5
	n := 0
	for n < len(s.Order) && n < mostRows {
		v := s.Order[n]
		if n >= least && len(v.Findings) == 0 && v.Missing() == 0 && (v.Speed == nil || v.Speed.Mean >= recording.FullSpeed) {
			break
		}
		n++
	}
	if n >= len(s.Order)-1 {
		return s.Order, ""
	}
	rest, found := s.Order[n:], 0
	for _, v := range rest {
		if len(v.Findings) > 0 {
			found++
		}
	}
	cut = fmt.Sprintf("%s without findings: --details", plural(len(rest), "more VM"))
	switch {
	case s.Watched == nil:
		cut = fmt.Sprintf("%s: --details", plural(len(rest), "more VM"))
	case found > 0:
		cut = fmt.Sprintf("%s, %d of them with findings: --details", plural(len(rest), "more VM"), found)
	}
	return s.Order[:n], cut
}

func kindsOf(rec *capture.Recording) (load, locality, fairness int64) {
	for i := range rec.VMs {
		m := &rec.VMs[i].Moves
		load += m.Balance + m.LoadSwap
		locality += m.Locality + m.LocalitySwap
		fairness += m.Fairness
	}
	return load, locality, fairness
}

func simMeanText(v *recording.SimulatedVM) string {
	share, ok := v.Mean()
	if !ok || v.Blind() {
		return ""
	}
	return rule.NL(share)
}

func simLeastText(v *recording.SimulatedVM) string {
	life := v.Least()
	if life == nil {
		return ""
	}
	return leastText(life)
}

func rateOf(share float64, ok bool) string {
	if !ok {
		return ""
	}
	return recording.Rate(share)
}

// speedText returns the performance index with its interval, or why there is none.
func speedText(v *recording.SimulatedVM) string {
	switch {
	case v.Missing() > 0:
		return "not priced: " + v.TakenText()
	case v.Speed == nil:
		return ""
	}
	return recording.Index(v.Speed)
}

// assumedText says of how many VMs the load is assumed, and what; "" for none.
func assumedText(s *recording.Simulation) string {
	n := len(s.Assumed())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("load of %s is assumed: %s", plural(n, "VM"), s.Story.Unstated.Origin.Where)
}

// modelText says by which releases the hosts schedule, and how many have options set.
func modelText(s *recording.Simulation) string {
	var names []string
	count := map[string]int{}
	set := 0
	for i := range s.Story.Fleet.Hosts {
		h := &s.Story.Fleet.Hosts[i]
		name := "an unknown release"
		if h.Release.Known() {
			name = h.Release.Value.String()
		}
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
		if len(h.Options.Value) > 0 {
			set++
		}
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, plural(count[name], "host"))
	}
	text := "scheduler of " + strings.Join(names, ", ")
	if set == 0 {
		return text + ", default options"
	}
	return fmt.Sprintf("%s; options are set on %s", text, plural(set, "host"))
}

// runText says how long the story is, how finely it was watched, and with which noise.
func runText(s *recording.Simulation) string {
	return fmt.Sprintf("%s from %s UTC · ticks every %s · seed %d", rule.Duration(s.Story.Length), s.Story.Start.UTC().Format("2006-01-02 15:04"),
		rule.Duration(s.Story.Every), s.Story.Seed)
}
