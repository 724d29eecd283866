package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/change/diff"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// DriftOptions say how WhatIf and Diff write.
type DriftOptions struct {
	Colour  bool
	Details bool // every VM in a row of its own
	FailOn  finding.Severity
}

// Diff writes what differs between two fleets for a terminal.
func Diff(w io.Writer, d *diff.Drift, o DriftOptions) error {
	p := &printer{w: w, colour: o.Colour}
	p.printf("%s\n\n", p.paint(bold, diffLine(d)))
	t := texttab.Table{}
	for _, side := range []struct {
		name string
		r    *rules.Result
	}{{"A", d.A}, {"B", d.B}} {
		f := side.r.Fleet
		t.Row(side.name, fmt.Sprintf("%s · %s · %s", f.Source, rule.Plural(len(f.Hosts), "host"), rule.Plural(len(f.VMs), "VM")), f.Collected)
	}
	p.table(&t)
	p.comings(d)
	p.differences(d, o, "A", "B")
	p.told(d)
	p.settings(d.Hosts, d.VMs, o, "A", "B")
	p.newNotes(d)
	if d.OneSided > 0 {
		p.printf("\nnote   %s known on one side only: not compared\n", rule.Plural(d.OneSided, "fact"))
	}
	var reasons []string
	if d.Differs() {
		reasons = append(reasons, "drift")
	}
	if reasons = append(reasons, worsened(d, o)...); reasons != nil {
		p.printf("\nexit 1: %s\n", strings.Join(reasons, "; "))
	}
	return p.err
}

// worsened says what counts for the exit code, in words.
func worsened(d *diff.Drift, o DriftOptions) []string {
	var out []string
	findings, vms := d.Worsens(o.FailOn)
	if findings > 0 {
		out = append(out, fmt.Sprintf("%s new or worse at or above %s (--fail-on)", rule.Plural(findings, "finding"), o.FailOn))
	}
	if vms > 0 {
		out = append(out, rule.Plural(vms, "VM")+" cannot run")
	}
	return out
}

// told prints the findings that differ by facts which one side alone knows.
func (p *printer) told(d *diff.Drift) {
	if len(d.Told) == 0 {
		return
	}
	p.printf("\nby facts that one side alone knows, no drift:\n")
	p.findings(findingGroups(d, d.Told))
}

// toldText counts them: "3 findings told by facts that A does not know".
func toldText(d *diff.Drift) string {
	inB := 0
	for i := range d.Told {
		if d.Told[i].TellsB() {
			inB++
		}
	}
	switch gone := len(d.Told) - inB; {
	case len(d.Told) == 0:
		return ""
	case inB == 0:
		return rule.Plural(gone, "finding") + " gone by facts that one side alone knows"
	case gone == 0:
		return rule.Plural(inB, "finding") + " told by facts that A does not know"
	default:
		return fmt.Sprintf("%s told by facts that A does not know, %d gone by them", rule.Plural(inB, "finding"), gone)
	}
}

// diffLine returns the summary of a comparison in one line.
func diffLine(d *diff.Drift) string {
	if !d.Differs() && len(d.Findings) == 0 {
		if text := toldText(d); text != "" {
			return "no drift; " + text
		}
		return "no drift"
	}
	parts := []string{verdicts(d)}
	add := func(one, noun string, count, gone int) {
		if count+gone > 0 {
			parts = append(parts, fmt.Sprintf("%s %s, %d gone", rule.Plural(count, noun), one, gone))
		}
	}
	add("new", "host", len(d.NewHosts), len(d.GoneHosts))
	add("new", "VM", len(d.NewVMs), len(d.GoneVMs))
	settings := 0
	for i := range d.VMs {
		if len(d.VMs[i].Settings) > 0 {
			settings++
		}
	}
	for i := range d.Hosts {
		if len(d.Hosts[i].Settings) > 0 {
			settings++
		}
	}
	if settings > 0 {
		parts = append(parts, rule.Plural(settings, "object")+" with other settings")
	}
	added, gone, other := 0, 0, 0
	for i := range d.Findings {
		switch f := &d.Findings[i]; {
		case f.A == nil:
			added++
		case f.B == nil:
			gone++
		default:
			other++
		}
	}
	add("new", "finding", added, gone)
	if other > 0 {
		parts = append(parts, rule.Plural(other, "finding")+" of another severity")
	}
	if len(d.Told) > 0 {
		parts = append(parts, toldText(d))
	}
	return strings.Join(parts, "; ")
}

// comings prints the VMs and hosts of one fleet alone.
func (p *printer) comings(d *diff.Drift) {
	t := texttab.Table{}
	names := func(word, noun string, n int, name func(int) string) {
		if n == 0 {
			return
		}
		const most = 6
		var list []string
		for i := range min(n, most) {
			list = append(list, name(i))
		}
		if n > most {
			list = append(list, fmt.Sprintf("%d more", n-most))
		}
		t.Row(word, rule.Plural(n, noun), strings.Join(list, ", "))
	}
	names("new", "host", len(d.NewHosts), func(i int) string { return d.NewHosts[i].Name })
	names("gone", "host", len(d.GoneHosts), func(i int) string { return d.GoneHosts[i].Name })
	names("new", "VM", len(d.NewVMs), func(i int) string { return d.NewVMs[i].Name })
	names("gone", "VM", len(d.GoneVMs), func(i int) string { return d.GoneVMs[i].Name })
	if d.Moved > 0 {
		t.Row("moved", rule.Plural(d.Moved, "VM"), "to another host, without other consequence")
	}
	p.table(&t)
}

// differences prints the VMs that get another layout or other findings, and the
// findings.
func (p *printer) differences(d *diff.Drift, o DriftOptions, from, to string) {
	rows := changedRows(d, o.Details)
	if len(rows) > 0 {
		t := texttab.Table{}
		t.Row("", "VM", from, to, "WHY")
		for _, r := range rows {
			t.Row(r.word(), r.Subjects(), r.from, r.to, r.why)
			if p.colour {
				t.Paint(0, map[diff.Verdict]string{diff.Worse: severityCode[finding.High], diff.Better: "32", diff.Other: severityCode[finding.Low]}[r.verdict])
			}
		}
		p.printf("\n")
		p.table(&t)
		p.printf("%s\n", p.paint(faint, shortLegend))
	}
	if len(d.Findings) > 0 {
		p.printf("\n")
		p.findings(findingGroups(d, d.Findings))
	}
}

// findings prints the findings that differ, those of a rule in one row.
func (p *printer) findings(groups []findingGroup) {
	t := texttab.Table{Right: map[int]bool{1: true}}
	for _, g := range groups {
		t.Row(g.change, strconv.Itoa(len(g.findings)), severityWord(g.severity), g.rule.ID, g.rule.Title, subjects(g.findings, clusterOf, clusterAndName))
		if p.colour {
			t.Paint(2, severityCode[g.severity])
		}
	}
	p.table(&t)
}

// shortLegend explains the short form of layouts.
const shortLegend = "2×16: 2 clients of 16 vCPU; blind: the guest sees 1 node; sees: other nodes than clients; +50 %: memory on another node"

// settings prints the settings that differ.
func (p *printer) settings(hosts []diff.Host, vms []diff.VM, o DriftOptions, from, to string) {
	rows := settingRows(hosts, vms, o)
	if len(rows) == 0 {
		return
	}
	t := texttab.Table{}
	t.Row("SETTING", from, to, "OF")
	for _, r := range rows {
		t.Row(r.name, r.from, r.to, r.of())
	}
	p.printf("\n")
	p.table(&t)
}

// newNotes prints the notes that B has and A has not.
func (p *printer) newNotes(d *diff.Drift) {
	p.someNotes(newNotes(d), "json")
}

func newNotes(d *diff.Drift) []numa.Note {
	had := map[numa.Note]bool{}
	for _, n := range slices.Concat(d.A.Fleet.Notes, d.A.Unjudged) {
		had[n] = true
	}
	for i := range d.VMs { // those that stop have the reason in their row
		if v := &d.VMs[i]; v.Stops() {
			for _, why := range v.Why {
				had[numa.Note{At: v.B.At, Text: "VM " + v.B.Name + ": " + why}] = true
			}
		}
	}
	var out []numa.Note
	for _, n := range slices.Concat(d.B.Fleet.Notes, d.B.Unjudged) {
		if !had[n] {
			out = append(out, n)
		}
	}
	return out
}
