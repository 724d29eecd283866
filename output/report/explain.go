package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/rules/rule"
)

// An Explanation is everything there is to say about one VM on one host.
type Explanation struct {
	VM       *rule.VM
	Host     *numa.Host
	Kind     *rule.Kind
	Case     vnuma.Case
	Layout   vnuma.Layout
	Trace    vnuma.Trace
	Problems []string // settings that could not be understood
	Findings []finding.Finding
	LogLines []string // that vmware.log will hold
	// Suppressed are findings that the configuration accepts; Config is its file.
	Suppressed []policy.Suppressed
	Config     string
}

// Explain writes the explanation for a terminal.
func Explain(w io.Writer, e *Explanation, colour bool) error {
	p := &printer{w: w, colour: colour}
	m := &e.Kind.Machine
	p.printf("%s on %s (%s, %s), %s\n\n", p.paint(bold, e.VM.Name), e.Host.Name, m.Release, m.Shape(), eventText(e))
	p.layout(e)
	p.why(e)
	p.seen(e)
	p.verdict(e)
	p.suppressed(e)
	p.others(e)
	if e.Config != "" {
		p.printf("  config         %s\n", e.Config)
	}
	for _, problem := range e.Problems {
		p.printf("  note           %s\n", problem)
	}
	return p.err
}

func eventText(e *Explanation) string {
	s := map[vnuma.Event]string{
		vnuma.PowerCycle:   "next power cycle",
		vnuma.FirstPowerOn: "first power-on, nothing stored",
		vnuma.Reboot:       "guest reboot",
		vnuma.VMotionIn:    "after vMotion to it",
		vnuma.Resume:       "after resume from suspend",
		vnuma.VCPUsChanged: "power-on after a change of the vCPU count",
	}[e.Case.Event]
	if e.Case.From != nil {
		s += " from a host with " + e.Case.From.Shape()
	}
	return s
}

func (p *printer) layout(e *Explanation) {
	l := &e.Layout
	t := texttab.Table{Indent: "  "}
	seen := fmt.Sprintf("%d vCPU", l.VPDs.Sum())
	if l.GuestSeesNUMA() {
		seen = l.VPDs.String() + " vCPU"
	}
	t.Row("guest sees", guestSees(l), seen, fmt.Sprintf("%s × %s", rule.Plural(l.VSockets.Len(), "socket"), rule.Plural(l.CoresPerSocket, "core")))
	carried := rule.Plural(l.PPDs.Len(), "client")
	if !l.Managed {
		t.Row("carried by", "no client", "", "not NUMA-managed: no home node, memory from anywhere")
	} else {
		t.Row("carried by", carried, l.PPDs.String()+" vCPU", fmt.Sprintf("%s, memory %s", rule.Plural(l.HomeNodes, "home node"), memoryText(l)))
	}
	if l.GuestSeesNUMA() && l.Slice(0) > 0 {
		t.Row("memory", sliceText(l), "", "")
	}
	if l.Stored.Written {
		t.Row("stores", fmt.Sprintf("size %d", l.Stored.Size), fmt.Sprintf("cookie %d", l.Stored.Cookie), "")
	}
	p.table(&t)
}

func memoryText(l *vnuma.Layout) string {
	r := &l.Memory
	switch {
	case !r.Known:
		if r.Placement == vnuma.Interleaved {
			return r.Placement.String()
		}
		return "unknown"
	case r.Placement == vnuma.Overflowing:
		return fmt.Sprintf("%s local, %s remote once touched", r.Local, r.Remote)
	}
	return r.Placement.String()
}

// sliceText returns the memory of the virtual nodes.
func sliceText(l *vnuma.Layout) string {
	if l.VPDs.Even() {
		return fmt.Sprintf("%d × %s", l.VPDs.Len(), l.Slice(0))
	}
	var parts []string
	for i := range l.VPDs.Len() {
		parts = append(parts, l.Slice(i).String())
	}
	return strings.Join(parts, " + ")
}

func (p *printer) why(e *Explanation) {
	p.printf("\n  why\n")
	widest := 0
	for _, s := range e.Trace {
		widest = max(widest, texttab.Width(texttab.Clean(s.Because)))
	}
	widest = min(widest, 64)
	told := map[string]bool{} // a fact is told where it first counts
	for i, s := range e.Trace {
		var mark painted
		if s.Decides {
			mark = p.paint(bold, "  ← decides")
		}
		pad := strings.Repeat(" ", max(0, widest-texttab.Width(texttab.Clean(s.Because))))
		rules := s.Rules
		if s.Choice != "" {
			rules += ", " + s.Choice
		}
		p.printf("  %2d  %s%s → %s  %s%s\n", i+1, s.Because, pad, s.Result, p.paint(faint, "["+rules+"]"), mark)
		for _, u := range s.Facts {
			if text := used(u); !told[text] {
				told[text] = true
				p.printf("      %s\n", p.paint(faint, text))
			}
		}
	}
	if texts := e.Layout.Assumes.Texts(); len(texts) > 0 {
		p.printf("\n  assumed\n")
		for _, t := range texts {
			p.printf("      %s\n", t)
		}
	}
	p.choices(e)
}

// used returns a fact as "vCPUs = 32, read: config.hardware.numCPU (vc01 vm-12)".
func used(u vnuma.Used) string {
	s := fmt.Sprintf("%s = %s, %s", u.Name, u.Value, u.Origin)
	if at := readFrom(u); at != "" && u.Origin.Kind == numa.Read {
		s += " (" + at + ")"
	}
	return s
}

// readFrom returns the object a fact was read from: none when a flag states it.
func readFrom(u vnuma.Used) string {
	if strings.HasPrefix(u.Origin.Where, "--") {
		return ""
	}
	return u.At
}

// choices explains where the sources disagree, for the steps that say so.
func (p *printer) choices(e *Explanation) {
	seen := map[string]bool{}
	for _, s := range e.Trace {
		for _, c := range vnuma.ChoiceList {
			if c.ID != s.Choice || seen[c.ID] {
				continue
			}
			if len(seen) == 0 {
				p.printf("\n  sources disagree\n")
			}
			seen[c.ID] = true
			taken, other := c.Default, c.Alternative
			if *c.Field(&e.Case.Choices) {
				taken, other = other, taken
			}
			p.printf("      %s: taken: %s; else: %s\n", c.ID, taken, other)
		}
	}
}

// verdict prints what the rules say about the VM.
func (p *printer) verdict(e *Explanation) {
	p.printf("\n")
	if len(e.Findings) == 0 {
		verdict := "nothing to do"
		if len(e.Layout.Assumes.Texts()) > 0 {
			verdict = "nothing found, under the assumptions above"
		}
		p.printf("  verdict        %s\n", verdict)
	}
	said := map[[2]string]string{} // advice and notice: the rule that gave them first
	for _, f := range e.Findings {
		p.printf("  %s %s  %s\n", p.severity(f.Severity), f.Rule, f.Message)
		key := [2]string{f.Advice, f.Notice}
		if first := said[key]; first != "" && f.Advice != "" {
			p.printf("      do      as %s\n", first)
			continue
		}
		said[key] = f.Rule
		if f.Advice != "" {
			p.printf("      do      %s\n", f.Advice)
		}
		if f.Notice != "" {
			p.printf("      notice  %s\n", f.Notice)
		}
	}
}

// suppressed prints what the configuration accepts about the VM.
func (p *printer) suppressed(e *Explanation) {
	for _, s := range e.Suppressed {
		p.printf("  suppressed     %s %s until %s: %s (%s)\n", s.Rule, s.Severity, s.By.Until, s.By.Reason, s.By.At)
	}
}

// others says what the VM gets on the other hosts of its cluster, hosts with the
// same answer together.
func (p *printer) others(e *Explanation) {
	var answers []string
	hosts := map[string][]*numa.Host{}
	for _, on := range e.VM.On {
		c := e.Case
		l := vnuma.Predict(&e.VM.Guest, &on.Kind.Machine, &c)
		answer := "the same"
		switch {
		case !l.SameGuest(&e.Layout) || !l.PPDs.Equal(e.Layout.PPDs):
			answer = fmt.Sprintf("guest sees %s, carried by %s (%s vCPU)", guestSees(&l), rule.Plural(l.PPDs.Len(), "client"), l.PPDs)
		case !l.Same(&e.Layout):
			answer = "the same, but memory " + memoryText(&l)
		}
		for _, h := range on.Kind.Hosts {
			if h == e.Host {
				continue
			}
			if hosts[answer] == nil {
				answers = append(answers, answer)
			}
			hosts[answer] = append(hosts[answer], h)
		}
	}
	t := texttab.Table{Indent: "  "}
	for i, answer := range answers {
		label := ""
		if i == 0 {
			label = "on the others"
		}
		t.Row(label, rule.HostNames(hosts[answer]), answer)
	}
	if len(answers) > 0 {
		p.printf("\n")
		p.table(&t)
	}
}

// RulePage writes the page of a rule.
func RulePage(w io.Writer, r *rule.Rule, colour bool) error {
	p := &printer{w: w, colour: colour}
	p.printf("%s  %s  (%s, up to %s)\n", p.paint(bold, r.ID), r.Title, r.Name, r.Severity)
	if r.Watch != nil {
		p.printf("  judges recordings (homenode capture)\n")
	}
	for _, part := range []struct{ name, text string }{{"why", r.Why}, {"fix", r.Fix}, {"when it is wrong", r.Limits}} {
		p.printf("\n%s\n", p.paint(bold, part.name))
		for line := range strings.Lines(part.text) {
			p.printf("  %s\n", strings.TrimSpace(line))
		}
	}
	if len(r.Thresholds) > 0 {
		p.printf("\n%s\n", p.paint(bold, "thresholds (homenode.yaml)"))
	}
	for i := range r.Thresholds {
		t := &r.Thresholds[i]
		p.printf("  %s.%s: %s, from %s to %s\n    %s\n", r.ID, t.Name, t.Write(t.Default), t.Write(t.Least), t.Write(t.Most), t.Text)
	}
	p.printf("\n%s\n", p.paint(bold, "sources"))
	for _, s := range r.Sources {
		p.printf("  %s\n", s)
	}
	p.printf("  rule book: %s\n", strings.Join(r.Book, ", "))
	return p.err
}

// RuleList writes one line a rule.
func RuleList(w io.Writer, rs []*rule.Rule, colour bool) error {
	p := &printer{w: w, colour: colour}
	t := texttab.Table{}
	for _, r := range rs {
		t.Row(r.ID, severityWord(r.Severity), r.About(), r.Title)
		if p.colour {
			t.Paint(1, severityCode[r.Severity])
		}
	}
	p.table(&t)
	p.printf("\n%s: homenode rules ID\n", "one of "+strconv.Itoa(len(rs))+" in full")
	return p.err
}
