package recording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	verdict "example.org/homenode/rules/verdict/recording"
)

// life returns tables about one life of a VM: its time range, its home nodes, its memory, its
// waiting times, and, for rules without findings, the distance from the threshold. nth counts
// from 1; it is 0 for the only life.
func (r *report) life(v *verdict.VM, nth int) []answer.Table {
	tables := []answer.Table{r.lifeTable(v)}
	if len(v.Changes) > 0 {
		tables = append(tables, r.changeTable(v))
	}
	if none := r.silent(v); len(none) > 0 && (r.sim == nil || r.o.Details) {
		t := answer.Table{Name: "silent", Title: "Rules that found nothing about it", Columns: columns("rule", "looks for", "seen", "counts from")}
		for _, one := range none {
			t.Add(one.Rule, one.Title, one.Seen, one.Limits)
		}
		tables = append(tables, t)
	}
	for i := range tables {
		if nth > 0 {
			tables[i].Name += " " + strconv.Itoa(nth)
		}
	}
	return tables
}

// allLives returns tables about the lives of VMs, in time order.
func (r *report) allLives(lives []*verdict.VM) (all []answer.Table) {
	for i, v := range inOrder(lives) {
		nth := 0
		if len(lives) > 1 {
			nth = i + 1
		}
		all = append(all, r.life(v, nth)...)
	}
	return all
}

func (r *report) lifeTable(v *verdict.VM) answer.Table {
	t := answer.Table{Name: "life", Title: v.Label + " on " + v.Rec.Host, Columns: columns("what", "seen")}
	row := func(name string, parts ...string) {
		if text := words.Join(" · ", parts...); text != "" {
			t.Add(name, text)
		}
	}
	present := verdict.Dated(v.First, v.Last)
	if v.Appeared {
		present += ", appeared meanwhile"
	}
	if v.Left {
		present += ", was gone before the end"
	}
	row("present", present, words.Duration(v.Present), words.Plural(v.Ticks, "tick"))
	vcpus, size := "", ""
	if v.VCPUs > 0 {
		vcpus = words.Plural(v.VCPUs, "vCPU")
	}
	if v.Size > 0 {
		size = v.Size.String()
	}
	row("size", vcpus, size)
	row("home nodes", homes(v.VM))
	row("N%L", labelled("least", leastText(v), r.Clock.At(v.Least.Time)), labelled("mean", meanText(v), ""), lowText(v))
	at, last := "", ""
	if v.HasMemory && v.Remote.Most > 0 {
		at, last = r.Clock.At(v.Remote.At), fmt.Sprintf("%s at last", v.LastRemote)
	}
	row("remote", labelled("most", remoteText(v), at), last)
	row("migrations", migratedText(v.VM))
	for _, one := range []struct {
		name string
		*capture.Level
	}{{"ready", &v.Ready}, {"co-stop", &v.CoStop}} {
		row(one.name, labelled("mean", rate(one.Mean()), ""), labelled("most", rate(one.Peak()), r.Clock.At(one.At)))
	}
	row("predicted", predicted(v))
	return t
}

// rate formats a share of time; "" if it is unknown.
func rate(share float64, ok bool) string {
	if !ok {
		return ""
	}
	return words.Rate(share)
}

// labelled returns "least 74 % at 03:39:20"; "" if the value is unknown.
func labelled(what, value, at string) string {
	switch {
	case value == "":
		return ""
	case at == "":
		return what + " " + value
	}
	return what + " " + value + " at " + at
}

func lowText(v *verdict.VM) string {
	limit := rule.NL(v.Rec.Options.Locality)
	switch {
	case v.Least.Local+v.Least.Remote <= 0:
		return ""
	case v.Low.Count == 0:
		return "never below " + limit
	}
	return fmt.Sprintf("below %s for %s in all, %s at a stretch", limit, words.Duration(v.Low.Time), words.Duration(v.Low.Longest.Length()))
}

// changeTable lists the changes of home nodes.
func (r *report) changeTable(v *verdict.VM) answer.Table {
	const most = 20
	t := answer.Table{Name: "changes", Title: "Changes of home nodes", Columns: columns("at", "from", "to")}
	for _, ch := range v.Changes[:min(len(v.Changes), most)] {
		t.Add(r.Clock.At(ch.Time), homeNodes(ch.From), homeNodes(ch.To))
	}
	if v.Changed.Total > most {
		t.Cut = fmt.Sprintf("and %d more: --format csv --table changes", v.Changed.Total-most)
	}
	return t
}

// A silence is a rule without findings about a VM: the observed value and the threshold.
type silence struct {
	Rule   string `json:"rule"`
	Title  string `json:"title"`
	Seen   string `json:"seen"`
	Limits string `json:"limits"`
}

// silent returns the rules about VMs without findings about this VM.
func (r *report) silent(v *verdict.VM) []silence {
	out := []silence{}
	var set map[string]float64
	if r.Policy != nil {
		set = r.Policy.Thresholds
	}
	for _, one := range answer.RulesWhere(func(one *rule.Rule) bool { return one.Watch != nil && one.VMs }) {
		if slices.ContainsFunc(v.Findings, func(f *finding.Finding) bool { return f.Rule == one.ID }) {
			continue
		}
		var limits []string
		for i := range one.Thresholds {
			t := &one.Thresholds[i]
			limits = append(limits, t.Name+" "+t.Write((&rule.Watch{Rule: one, Thresholds: set}).Threshold(t.Name)))
		}
		out = append(out, silence{one.ID, one.Title, text(r.seen(one, v)).Text, strings.Join(limits, ", ")})
	}
	return out
}

// seen compares a VM with the threshold of a rule.
func (r *report) seen(one *rule.Rule, v *verdict.VM) string {
	for _, need := range one.Needs {
		if slices.Contains(v.Rec.Lacks, need) {
			return "not in " + r.Words.The + ": " + need
		}
	}
	if r.Policy != nil && r.Policy.Off[one.ID] {
		return "switched off by the configuration"
	}
	most := func(b *capture.Burst, what string) string {
		return fmt.Sprintf("%s in %s at the most", words.Plural(int(b.Most), what), words.Duration(v.Rec.Options.Window))
	}
	dash := func(s string) string { return text(s).Text }
	switch one.ID {
	case "M001":
		return words.Join(", ", labelled("least", leastText(v), ""), lowText(v))
	case "M002":
		return most(&v.Returns, "return")
	case "M003":
		return most(&v.Migrated, "migration")
	case "M005":
		told := ""
		if slices.ContainsFunc(v.Findings, func(f *finding.Finding) bool { return f.Rule == "M001" }) {
			told = "; M001 reports it"
		}
		return "remote " + dash(remoteText(v)) + longest(&v.Far) + told
	case "M006":
		return fmt.Sprintf("%s; mean N%%L %s", dash(homes(v.VM)), dash(meanText(v)))
	case "M007":
		return fmt.Sprintf("%d of %s contradict", v.Percents.Wrong, words.Plural(v.Percents.Ticks, "tick"))
	case "M008":
		if v.Spill.Count == 0 {
			return "none"
		}
		return fmt.Sprintf("%s at the most", v.Spilled.Grown)
	case "M009":
		return "ready at most " + dash(rate(v.Ready.Peak())) + longest(&v.Starved)
	case "M010":
		return text(rule.OnNodes(v.LastNode)).Text + longest(&v.Lopsided)
	case "M011":
		if v.InFleet == nil {
			return "no prediction: --fleet SOURCE"
		}
		return fmt.Sprintf("%s; predicted %s", dash(homes(v.VM)), dash(predicted(v)))
	}
	return "nothing of it"
}

// longest states the longest duration of a condition.
func longest(s *capture.Spells) string {
	if s.Count == 0 {
		return ", never so"
	}
	return ", so for " + words.Duration(s.Longest.Length()) + " at the most"
}

// inOrder returns the lives of VMs in time order.
func inOrder(lives []*verdict.VM) []*verdict.VM {
	return slices.SortedStableFunc(slices.Values(lives), func(a, b *verdict.VM) int { return a.First.Compare(b.First) })
}
