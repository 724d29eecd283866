package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/internal/alike"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/verdict/recording"
)

// CaptureVM writes what one VM did, life by life: when it was there, its home nodes, its
// memory and its waiting, what was found, and for what was not found how far it was from it.
// The VM is named as the reports name it, or with its host before it: esx07/sql01. A name
// that no VM bears is an error that names those alike.
func CaptureVM(w io.Writer, r *rules.Watched, name string, o CaptureOptions) error {
	c := newCaptured(r)
	lives, err := c.named(name)
	if err != nil {
		return err
	}
	p := &printer{w: w, colour: o.Colour}
	for i, v := range lives {
		if i > 0 {
			p.printf("\n")
		}
		p.life(c, v)
		p.unfound(c, v)
	}
	if o.FailOn > 0 {
		if n := atLeast(lives, o.FailOn); n > 0 {
			p.printf("\nexit 1: %s about it at or above %s (--fail-on)\n", rule.Plural(n, "finding"), o.FailOn)
		}
	}
	return p.err
}

// FindingsOfVM counts the findings at or above a severity about the VM of this name.
func FindingsOfVM(r *rules.Watched, name string, least finding.Severity) int {
	return newCaptured(r).findingsOf(name, least)
}

func (c *captured) findingsOf(name string, least finding.Severity) int {
	lives, err := c.named(name)
	if err != nil {
		return 0
	}
	return atLeast(lives, least)
}

func atLeast(lives []*recording.VM, least finding.Severity) (n int) {
	for _, v := range lives {
		for _, f := range v.Findings {
			if f.Severity >= least {
				n++
			}
		}
	}
	return n
}

type captureVMJSON struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Name    string     `json:"name"`
	Lives   []lifeJSON `json:"lives"`
}

type lifeJSON struct {
	Host string `json:"host"`
	recordedVMJSON
	Findings []*finding.Finding `json:"findings"`
	Unfound  []unfound          `json:"notFound"`
}

// CaptureVMJSON writes what CaptureVM does, as JSON.
func CaptureVMJSON(w io.Writer, r *rules.Watched, name string) error {
	c := newCaptured(r)
	lives, err := c.named(name)
	if err != nil {
		return err
	}
	j := captureVMJSON{Format: "homenode-capture-vm", Version: JSONVersion, Name: name, Lives: []lifeJSON{}}
	for _, v := range lives {
		j.Lives = append(j.Lives, lifeJSON{v.Rec.Host, lifeOf(v), orEmpty(v.Findings), c.unfound(v)})
	}
	return writeJSON(w, &j)
}

// named returns the lives of the VM with this name, in the order of time.
func (c *captured) named(name string) (lives []*recording.VM, err error) {
	var names []string
	for _, v := range c.VMs {
		names = append(names, v.Name)
		for _, one := range []string{v.Name, v.Label} {
			if name == one || name == v.Rec.Host+"/"+one {
				lives = append(lives, v)
				break
			}
		}
	}
	if len(lives) == 0 {
		for _, rec := range c.Recordings {
			if rec.Host == name {
				return nil, fmt.Errorf("%q is a host: --format svg draws hosts, else --vm takes a VM", name)
			}
		}
		slices.Sort(names)
		return nil, fmt.Errorf("no VM %q was %s%s", name, c.Words.Seen, alike.After(name, slices.Compact(names)))
	}
	slices.SortStableFunc(lives, func(a, b *recording.VM) int { return a.First.Compare(b.First) })
	return lives, nil
}

// life writes one life of a VM.
func (p *printer) life(c *captured, v *recording.VM) {
	p.printf("%s\n\n", p.paint(bold, v.Label+" on "+v.Rec.Host))
	t := texttab.Table{}
	row := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if len(parts) > 0 {
			t.Row(name, strings.Join(parts, " · "))
		}
	}
	present := recording.Dated(v.First, v.Last)
	if v.Appeared {
		present += ", appeared meanwhile"
	}
	if v.Left {
		present += ", was gone before the end"
	}
	row("present", present, rule.Duration(v.Present), plural(v.Ticks, "tick"))
	size := ""
	if v.VCPUs > 0 {
		size = plural(v.VCPUs, "vCPU")
	}
	row("size", size, bytesText(v.Size))
	row("home nodes", homesOf(v.VM))
	row("N%L", labelled("least", leastText(v), c.Clock.At(v.Least.Time)), labelled("mean", meanText(v), ""), lowText(v))
	row("remote", labelled("most", remoteText(v), momentOf(c, v.Remote.Most > 0, v.Remote.At)), lastRemote(v))
	row("migrations", migratedText(v.VM))
	row("ready", labelled("mean", levelMean(&v.Ready), ""), labelled("most", levelPeak(&v.Ready), c.Clock.At(v.Ready.At)))
	row("co-stop", labelled("mean", levelMean(&v.CoStop), ""), labelled("most", levelPeak(&v.CoStop), c.Clock.At(v.CoStop.At)))
	row("predicted", predictedText(v))
	p.table(&t)
	p.changes(c, v)
	if len(v.Findings) > 0 || c.sim == nil {
		p.printf("\n")
	}
	for _, f := range v.Findings {
		p.finding(c.judged, f)
	}
}

// unfound says of what was not found how far the VM was from it.
func (p *printer) unfound(c *captured, v *recording.VM) {
	none := c.unfound(v)
	if len(none) == 0 {
		return
	}
	if len(v.Findings) == 0 {
		p.printf("no finding, because\n")
	} else {
		p.printf("\nnothing else, because\n")
	}
	u := texttab.Table{Indent: "  "}
	u.Row("RULE", "LOOKS FOR", "SEEN", "COUNTS FROM")
	for _, one := range none {
		u.Row(one.Rule, one.Title, one.Seen, one.Limits)
	}
	p.table(&u)
}

// labelled writes "least 74 % at 03:39:20"; "" when the value is unknown.
func labelled(what, value, at string) string {
	switch {
	case value == "":
		return ""
	case at == "":
		return what + " " + value
	}
	return what + " " + value + " at " + at
}

func momentOf(c *captured, ok bool, at time.Time) string {
	if !ok {
		return ""
	}
	return c.Clock.At(at)
}

func lowText(v *recording.VM) string {
	switch {
	case v.Least.Local+v.Least.Remote <= 0:
		return ""
	case v.Low.Count == 0:
		return "never below " + rule.NL(v.Rec.Options.Locality)
	}
	return fmt.Sprintf("below %s for %s in all, %s at a stretch", rule.NL(v.Rec.Options.Locality), rule.Duration(v.Low.Time), rule.Duration(v.Low.Longest.Length()))
}

func lastRemote(v *recording.VM) string {
	if !v.HasMemory || v.Remote.Most == 0 {
		return ""
	}
	return fmt.Sprintf("%s at last", v.LastRemote)
}

// changes lists where the VM went.
func (p *printer) changes(c *captured, v *recording.VM) {
	if len(v.Changes) == 0 {
		return
	}
	const most = 20
	t := texttab.Table{Indent: "  "}
	t.Row("AT", "FROM", "TO")
	for i, ch := range v.Changes {
		if i == most {
			t.Row(fmt.Sprintf("and %d more: --format json", v.Changed.Total-most))
			break
		}
		t.Row(c.Clock.At(ch.Time), recording.Nodes(ch.From), recording.Nodes(ch.To))
	}
	p.printf("\nchanges of home nodes\n")
	p.table(&t)
}

// An unfound is a rule that found nothing about a VM: what was seen, beside what counts.
type unfound struct {
	Rule   string `json:"rule"`
	Title  string `json:"title"`
	Seen   string `json:"seen"`
	Limits string `json:"limits"`
}

// unfound returns the rules about VMs without a finding about this one.
func (c *captured) unfound(v *recording.VM) []unfound {
	out := []unfound{}
	var set map[string]float64
	if c.Policy != nil {
		set = c.Policy.Thresholds
	}
	for _, one := range rulesWhere(func(one *rule.Rule) bool { return one.Watch != nil && one.VMs }) {
		if slices.ContainsFunc(v.Findings, func(f *finding.Finding) bool { return f.Rule == one.ID }) {
			continue
		}
		var limits []string
		for i := range one.Thresholds {
			t := &one.Thresholds[i]
			limits = append(limits, t.Name+" "+t.Write((&rule.Watch{Rule: one, Thresholds: set}).Threshold(t.Name)))
		}
		out = append(out, unfound{one.ID, one.Title, c.seen(one, v), strings.Join(limits, ", ")})
	}
	return out
}

// seen says how far a VM was from what a rule looks for.
func (c *captured) seen(one *rule.Rule, v *recording.VM) string {
	for _, need := range one.Needs {
		if slices.Contains(v.Rec.Lacks, need) {
			return "not in " + c.Words.The + ": " + need
		}
	}
	if c.Policy != nil {
		if _, off := c.Policy.Off[one.ID]; off {
			return "switched off by the configuration"
		}
	}
	most := func(b *capture.Burst, what string) string {
		return fmt.Sprintf("%s in %s at the most", plural(int(b.Most), what), rule.Duration(v.Rec.Options.Window))
	}
	switch one.ID {
	case "M001":
		return dash(strings.Join(slices.DeleteFunc([]string{labelled("least", leastText(v), ""), lowText(v)}, func(s string) bool { return s == "" }), ", "))
	case "M002":
		return most(&v.Returns, "return")
	case "M003":
		return most(&v.Migrated, "migration")
	case "M005":
		return labelled("remote", dash(remoteText(v)), "") + longest(&v.Far)
	case "M006":
		return fmt.Sprintf("%s; mean N%%L %s", dash(homesOf(v.VM)), dash(meanText(v)))
	case "M007":
		return fmt.Sprintf("%d of %s contradict", v.Percents.Wrong, plural(v.Percents.Ticks, "tick"))
	case "M008":
		if v.Spill.Count == 0 {
			return "none"
		}
		return fmt.Sprintf("%s at the most", v.Spilled.Grown)
	case "M009":
		return labelled("ready at most", dash(levelPeak(&v.Ready)), "") + longest(&v.Starved)
	case "M010":
		return onNodes(v.LastNode) + longest(&v.Lopsided)
	case "M011":
		if v.InFleet == nil {
			return "no prediction: --fleet SOURCE"
		}
		return fmt.Sprintf("%s; predicted %s", dash(homesOf(v.VM)), dash(predictedText(v)))
	}
	return "nothing of it"
}

// longest says for how long at most something held.
func longest(s *capture.Spells) string {
	if s.Count == 0 {
		return ", never so"
	}
	return ", so for " + rule.Duration(s.Longest.Length()) + " at the most"
}

func onNodes(list []numa.MemoryOnNode) string {
	var parts []string
	for _, m := range list {
		parts = append(parts, fmt.Sprintf("%s on node %d", m.Guest, m.Node))
	}
	return dash(strings.Join(parts, ", "))
}
