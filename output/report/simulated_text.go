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
	"homenode/rules/rule"
	"homenode/rules/simulate"
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
	t.Row("simulated", fmt.Sprintf("%s · %s · %s · %s", s.Story.Name, plural(len(s.Story.Fleet.Hosts), "host"), plural(len(s.order), "VM"), s.runText()), elapsed(o.Read))
	t.Row("model", s.modelText())
	if text := s.assumedText(); text != "" {
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
	all := c.sim.happenings()
	if len(all) == 0 {
		return
	}
	left := 0
	if !o.Details {
		all, left = shorten(all, mostHappened)
	}
	t := texttab.Table{}
	t.Row("TIME", "WHAT HAPPENED")
	for _, h := range all {
		text := h.text
		switch {
		case !h.event:
			text = "  " + h.host + ": " + h.text
		case h.note != "":
			text += "  # " + h.note
		}
		t.Row(c.when(&h), text)
		if h.event && p.colour {
			t.Paint(1, bold)
		}
		if h.followed != "" {
			t.Row("", "  → "+h.followed)
		}
	}
	p.printf("\n")
	p.table(&t)
	if left > 0 {
		p.printf("%s left out: --details; every decision: --why\n", plural(left, "line"))
	}
}

// when writes from when to when something happened.
func (c *captured) when(h *happening) string {
	from := c.after(h.from)
	if to := c.after(h.to); to != from && !h.event {
		return c.clock.span(c.sim.Story.Start.Add(h.from), c.sim.Story.Start.Add(h.to))
	}
	return from
}

// fewHosts is how many hosts the overview lists, each with its nodes.
const fewHosts = 6

// simulatedHosts lists the NUMA nodes of the hosts, and what the balancer did there.
func (p *printer) simulatedHosts(c *captured, o CaptureOptions) {
	hosts, cut := c.weightedHosts(), ""
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
			t.Row(name, strconv.Itoa(n.ID), dash(bytesText(n.Total)), dash(levelMean(&n.Busy)), dash(levelPeak(&n.Busy)), dash(c.clock.at(n.Busy.At)),
				dash(leastFree(n)), dash(c.clock.at(n.LeastAt)), states, moves)
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

func kindsOf(rec *capture.Recording) (load, locality, fairness int64) {
	for i := range rec.VMs {
		m := &rec.VMs[i].Moves
		load += m.Balance + m.LoadSwap
		locality += m.Locality + m.LocalitySwap
		fairness += m.Fairness
	}
	return load, locality, fairness
}

// simulatedVMs lists the VMs that matter: with findings, and then the slowest.
func (p *printer) simulatedVMs(c *captured, o CaptureOptions) {
	vms, cut := c.sim.mattering(o)
	if len(vms) == 0 {
		return
	}
	head := []string{"VM", "VCPU", "HOST", "N%L MEAN", "LEAST", "FAR", "READY", "CO-STOP", "MOVES", "PERFORMANCE", "FOUND"}
	right := map[int]bool{1: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}
	taken := slices.ContainsFunc(vms, func(v *simulatedVM) bool { return v.taken != nil })
	if taken {
		head, right[9] = slices.Insert(head, 9, "SWAPPED"), true
	}
	t := texttab.Table{Right: right}
	t.Row(head...)
	for _, v := range vms {
		row := v.cells()
		if taken {
			most := ""
			if v.taken != nil {
				most = v.taken.Taken().String()
			}
			row = slices.Insert(row, 9, dash(most))
		}
		t.Row(row...)
		if len(v.findings) > 0 && p.colour {
			t.Paint(len(head)-1, severityCode[v.findings[0].Severity])
		}
	}
	p.printf("\n")
	p.table(&t)
	p.cut(cut)
	for _, note := range c.sim.footnotes(vms) {
		p.printf("%s\n", note)
	}
}

// fullSpeed is the performance index from which it reads 1.00.
const fullSpeed = 0.995

// mattering returns the VMs of the overview: those with findings or that were slowed down,
// the worst first, and some to compare them with; cut says what is left out.
func (s *simulated) mattering(o CaptureOptions) (vms []*simulatedVM, cut string) {
	if o.Details {
		return s.order, ""
	}
	const least = 5
	n := 0
	for n < len(s.order) && n < mostRows {
		v := s.order[n]
		if n >= least && len(v.findings) == 0 && v.missing() == 0 && (v.speed == nil || v.speed.Mean >= fullSpeed) {
			break
		}
		n++
	}
	if n >= len(s.order)-1 {
		return s.order, ""
	}
	rest, found := s.order[n:], 0
	for _, v := range rest {
		if len(v.findings) > 0 {
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
	return s.order[:n], cut
}

// cells are what tables for people say of a VM.
func (v *simulatedVM) cells() []string {
	far, hasFar := v.far()
	ready, hasReady := v.waited()
	stopped, hasStopped := v.stopped()
	hosts := v.hosts()
	if len(hosts) > 3 {
		hosts = append(hosts[:2:2], fmt.Sprintf("… %s", hosts[len(hosts)-1]))
	}
	return []string{v.Name, dash(numberText(v.vcpus())), dash(strings.Join(hosts, " → ")), dash(v.meanText()), dash(v.leastText()), dash(rateOf(far, hasFar)),
		dash(rateOf(ready, hasReady)), dash(rateOf(stopped, hasStopped)), strconv.FormatInt(v.out.Moves.All, 10), dash(v.speedText()), dash(strings.Join(ruleIDs(v.findings), " "))}
}

// vcpus returns how many vCPUs it had at the last.
func (v *simulatedVM) vcpus() int {
	if n := len(v.lives); n > 0 && v.lives[n-1].VCPUs > 0 {
		return v.lives[n-1].VCPUs
	}
	return v.Config.VCPUs.Value
}

// footnotes say what the columns mean.
func (s *simulated) footnotes(vms []*simulatedVM) (notes []string) {
	var blind []string
	star, priced, taken := false, false, false
	for _, v := range vms {
		if v.blind() {
			blind = append(blind, v.Name)
		}
		priced = priced || v.speed != nil
		taken = taken || v.taken != nil
		star = star || v.speed != nil && v.speed.Extrapolated
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
		notes = append(notes, namesText(blind)+": N%L is not measurable, the memory is interleaved over the home nodes (M006).")
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
	if len(c.sim.order) > 0 && len(c.Recordings) > 0 {
		name := shellQuote(c.sim.order[0].Name)
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
