package change

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/change/diff"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/size/fit"
)

// Options are the options of comparing fleets.
type Options struct {
	Details bool             // one row for each VM and setting
	FailOn  finding.Severity // lowest severity of a new or worse finding that makes the exit code 1
	// Losses are the failures of one host of the changed clusters of a what-if, by the ID of the cluster; Today those before the change.
	Losses, Today map[string]*fit.Free
}

// Diff returns the answer that compares two fleets.
func Diff(d *diff.Drift, o Options) *answer.Answer {
	a := &answer.Answer{
		Command: "compare", Format: "homenode-drift", Version: 2, Title: fmt.Sprintf("Drift from %s to %s", d.InA.Source, d.InB.Source),
		Verdict: []string{diffLine(d)}, Result: d,
	}
	for _, side := range []struct {
		name string
		of   *diff.Side
	}{{"A", &d.InA}, {"B", &d.InB}} {
		text := fmt.Sprintf("%s · %s · %s", side.of.Source, words.Plural(side.of.Hosts, "host"), words.Plural(side.of.VMs, "VM"))
		a.Facts = append(a.Facts, answer.Fact{Name: side.name, Text: words.Join(" · ", text, side.of.Collected)})
	}
	shownFact(a, d)
	var reasons []string
	if d.Differs() {
		reasons = append(reasons, "drift")
	}
	exitFact(a, append(reasons, worsened(d, o)...))
	if t := comings(d); len(t.Rows) > 0 {
		a.Tables = append(a.Tables, t)
	}
	a.Tables = append(a.Tables, differences(d, o, "A", "B")...)
	if len(d.Told) > 0 {
		t := findingTable("told", d, d.Told)
		t.Title = "By facts that one side alone knows, no drift: " + toldText(d)
		a.Tables = append(a.Tables, t)
	}
	a.Tables = addSettings(a.Tables, d.Hosts, d.VMs, o, "A", "B")
	if d.OneSided > 0 {
		a.Note(words.Plural(d.OneSided, "fact") + " known on one side only: not compared")
	}
	a.NotesFrom("source", d.Notes()...)
	return a
}

// comings lists the hosts and VMs that only one fleet has, and the number of moved VMs.
func comings(d *diff.Drift) answer.Table {
	t := answer.Table{Name: "objects", Columns: answer.Columns("change", "count", "objects"), Plain: &answer.Table{Columns: answer.Columns("change", "kind", "name")}}
	for _, one := range []struct {
		change, noun string
		names        []string
	}{{"new", "host", d.NewHosts}, {"gone", "host", d.GoneHosts}, {"new", "VM", d.NewVMs}, {"gone", "VM", d.GoneVMs}} {
		if n := len(one.names); n > 0 {
			t.Add(one.change, words.Plural(n, one.noun), words.Few(one.names))
		}
		for _, name := range one.names {
			t.Plain.Add(one.change, one.noun, name)
		}
	}
	if d.Moved > 0 {
		t.Add("moved", words.Plural(d.Moved, "VM"), "to another host, without other consequence")
	}
	return t
}

// shownFact adds the filter of the comparison, if any.
func shownFact(a *answer.Answer, d *diff.Drift) {
	if d.B.Filter != "" {
		a.Facts = append(a.Facts, answer.Fact{Name: "shown", Text: d.B.Filter})
	}
}

// exitFact adds the reasons for exit code 1.
func exitFact(a *answer.Answer, reasons []string) {
	if reasons != nil {
		a.Facts = append(a.Facts, answer.Fact{Name: "exit 1", Text: strings.Join(reasons, "; ")})
	}
}

// worsened describes the changes that affect the exit code.
func worsened(d *diff.Drift, o Options) []string {
	var out []string
	findings, stopped, worse := d.Worsens(o.FailOn)
	if findings > 0 {
		out = append(out, fmt.Sprintf("%s new or worse at or above %s (--fail-on)", words.Plural(findings, "finding"), o.FailOn))
	}
	if stopped > 0 {
		out = append(out, words.Plural(stopped, "VM")+" cannot run")
	}
	if worse > 0 {
		out = append(out, fmt.Sprintf("%s worse, with findings at or above %s (--fail-on)", words.Verb(worse, "VM is", "VMs are"), o.FailOn))
	}
	return out
}

// toldText counts findings that depend on facts of one side only: "3 findings told by facts
// that A does not know".
func toldText(d *diff.Drift) string {
	inB := words.Count(d.Told, func(t diff.Finding) bool { return t.TellsB() })
	switch gone := len(d.Told) - inB; {
	case len(d.Told) == 0:
		return ""
	case inB == 0:
		return words.Plural(gone, "finding") + " gone by facts that one side alone knows"
	case gone == 0:
		return words.Plural(inB, "finding") + " told by facts that A does not know"
	default:
		return fmt.Sprintf("%s told by facts that A does not know, %d gone by them", words.Plural(inB, "finding"), gone)
	}
}

// diffLine summarizes a comparison in one line.
func diffLine(d *diff.Drift) string {
	if !d.Differs() && len(d.Findings) == 0 {
		return words.Join("; ", "no drift", toldText(d))
	}
	parts := []string{verdicts(d)}
	add := func(noun string, count, gone int) {
		if count+gone > 0 {
			parts = append(parts, fmt.Sprintf("%s new, %d gone", words.Plural(count, noun), gone))
		}
	}
	add("host", len(d.NewHosts), len(d.GoneHosts))
	add("VM", len(d.NewVMs), len(d.GoneVMs))
	settings := len(d.Hosts)
	for i := range d.VMs {
		if len(d.VMs[i].Settings) > 0 {
			settings++
		}
	}
	if settings > 0 {
		parts = append(parts, words.Plural(settings, "object")+" with other settings")
	}
	added, gone, other := 0, 0, 0
	for i := range d.Findings {
		switch f := &d.Findings[i]; {
		case f.A == nil:
			added++
		case f.Stopped: // it disappears because its VMs do not run
		case f.B == nil:
			gone++
		default:
			other++
		}
	}
	add("finding", added, gone)
	if other > 0 {
		parts = append(parts, words.Plural(other, "finding")+" of another severity or size")
	}
	return words.Join("; ", append(parts, toldText(d))...)
}

// verdicts summarizes the changes of VMs in one line. VMs that can no longer run come first: "3
// VMs cannot run, 0 better, 1 worse, 289 unchanged".
func verdicts(d *diff.Drift) string {
	s := words.Plural(d.Better, "VM") + " better"
	if d.Stopped > 0 {
		s = fmt.Sprintf("%s cannot run, %d better", words.Plural(d.Stopped, "VM"), d.Better)
	}
	s += fmt.Sprintf(", %d worse", d.Worse-d.Stopped)
	if d.Other > 0 {
		s += fmt.Sprintf(", %d other", d.Other)
	}
	return s + fmt.Sprintf(", %d unchanged", d.Unchanged)
}

// differences returns tables of the VMs with another layout or other findings, and of the
// findings.
func differences(d *diff.Drift, o Options, from, to string) (out []answer.Table) {
	if rows := changedRows(d, o.Details); len(rows) > 0 {
		t := answer.Table{Name: "vms", Columns: answer.Columns("", "VM", from, to, "why"), Plain: &answer.Table{Columns: answer.Columns("verdict", "VM", "ID", from, to, "why")}}
		for i, r := range rows {
			t.Add(r.word(), r.subjects(), r.from, r.to, r.why)
			t.Rows[i][0].Tone = map[diff.Verdict]answer.Tone{diff.Worse: answer.High, diff.Other: answer.Low}[r.verdict]
		}
		t.Explain(rule.ShortLegend(t.Texts()...))
		for _, r := range changedRows(d, true) {
			t.Plain.Add(r.word(), r.first, r.vms[0].ID, r.from, r.to, r.why)
		}
		out = append(out, t)
	}
	if len(d.Findings) > 0 {
		out = append(out, findingTable("findings", d, d.Findings))
	}
	return out
}

// findingTable shows the findings that differ, one row per rule.
func findingTable(name string, d *diff.Drift, findings []diff.Finding) answer.Table {
	t := answer.Table{Name: name, Columns: answer.Columns("finding", ">count", "severity", "rule", "what", "where", "cure"),
		Plain: &answer.Table{Columns: answer.Columns("finding", "severity", "rule", "what", "cluster", "host", "VM", "message", "cure")}}
	named := answer.Findings{Subject: func(f *finding.Finding) answer.Subject { return answer.Subject{Name: f.Subject(), Group: f.Cluster} }}
	for i, g := range findingGroups(d, findings) {
		t.Add(g.change, strconv.Itoa(len(g.findings)), strings.ToUpper(g.severity.String()), g.rule.ID, g.rule.Title, named.Named(g.findings), g.cure())
		t.Rows[i][2].Tone = answer.Faint + answer.Tone(g.severity)
	}
	for i := range findings {
		f := findings[i].Of()
		t.Plain.Add(findings[i].Change(), f.Severity.String(), f.Rule, f.Title, f.Cluster, f.Host, f.VM, f.Message, cure(&findings[i]))
	}
	return t
}

// cure returns the first cure of the group, and the number of the others.
func (g *findingGroup) cure() string {
	if len(g.cures) < 2 {
		return strings.Join(g.cures, "")
	}
	return fmt.Sprintf("%s; %s more", g.cures[0], words.Plural(len(g.cures)-1, "cure"))
}

// cure returns the advice for a finding that is there afterwards.
func cure(f *diff.Finding) string {
	if f.B == nil {
		return ""
	}
	return f.B.Advice
}

// addSettings adds a table of the settings that differ.
func addSettings(to []answer.Table, hosts []diff.Host, vms []diff.VM, o Options, a, b string) []answer.Table {
	t := answer.Table{Name: "settings", Columns: answer.Columns("setting", a, b, "of")}
	t.Plain = &answer.Table{Columns: t.Columns}
	for _, r := range settingRows(hosts, vms, o.Details) {
		t.Add(r.name, r.from, r.to, r.of())
	}
	for _, r := range settingRows(hosts, vms, true) {
		t.Plain.Add(r.name, r.from, r.to, r.first)
	}
	if len(t.Rows) == 0 {
		return to
	}
	return append(to, t)
}
