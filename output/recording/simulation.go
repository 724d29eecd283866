package recording

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/timeline"
	"example.org/homenode/output/table"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/rules/verdict/simulation"
)

// Simulation returns the answer of a simulation: the events, and the contents of Capture for
// the run.
func Simulation(result *simulate.Result, o Options) *answer.Answer {
	r := simulated(result, o)
	a := r.simulation("homenode-simulation", lines(r.sim.Verdict()))
	if o.Without != nil {
		a.Verdict = slices.Insert(a.Verdict, 1, o.Without.Text(r.sim.Harm()))
	}
	a.Facts = append(r.told(words.Took(o.Took)), r.asked()...)
	if simulation.Stranded(result) {
		a.Facts = append(a.Facts, answer.Fact{Name: "exit 1", Text: "not every VM runs where it should"})
	}
	// Notes about the inventory are only shown by homenode assess.
	r.note(a, "simulation", slices.Concat(result.Outcome.Problems, r.Doubts()))
	r.note(a, "judgement", r.sim.Notes())
	r.note(a, "configuration", r.PolicyNotes)
	a.Drawings = r.drawings()
	happened := r.sim.Happened()
	a.Tables = slices.Concat(r.events(&r.Judgement), r.story(happened), r.nodes(), r.simulatedVMs(), r.pageTables())
	if !o.Moment.IsZero() {
		a.Tables = append([]answer.Table{r.atMoment(o.Moment)}, a.Tables...)
	}
	if o.Decided {
		t := r.decisionTable(r.sim.About())
		t.Title, t.Lead = "Decisions", "Every decision of the scheduler, with its reason. A time leads to what stood then."
		a.Tables = append(a.Tables, t)
	}
	a.Findings = r.findings("simulate/", nil)
	a.Data = r.simulatedTables(a, happened)
	a.Result = func() any { return r.simulatedResult(happened) }
	a.Next = r.simulatedNext()
	return a
}

// SimulationTables lists the tables of Simulation for spreadsheets, in order.
func SimulationTables() []string {
	return table.Names(Simulation(&simulate.Result{Story: &numa.Story{Fleet: &numa.Fleet{}}, Outcome: &scheduler.Outcome{}, Watched: &rules.Watched{}}, Options{}).Data)
}

// SimulationDrawing is like CaptureDrawing, for a simulated host or VM.
func SimulationDrawing(result *simulate.Result, name string) (*answer.Answer, error) {
	return simulated(result, Options{}).one("simulate", name)
}

func simulated(result *simulate.Result, o Options) *report {
	s := simulation.Of(result)
	return newReport(s.Run, s, o)
}

// simulation returns an answer about the story.
func (r *report) simulation(format string, verdict []string) *answer.Answer {
	return &answer.Answer{Command: "simulate", Format: format, Version: 2, Simulated: true, Title: "Simulated: NUMA in " + r.sim.Story.Name, Verdict: verdict}
}

// told returns the facts about the simulated story.
func (r *report) told(took string) []answer.Fact {
	s := r.sim
	facts := []answer.Fact{
		{Name: "simulated", Took: took, Text: fmt.Sprintf("%s · %s · %s · %s from %s UTC · ticks every %s · seed %d", s.Story.Name, words.Plural(len(s.Story.Fleet.Hosts), "host"), words.Plural(len(s.Order), "VM"),
			words.Duration(s.Story.Length), s.Story.Start.UTC().Format("2006-01-02 15:04"), words.Duration(s.Story.Every), s.Story.Seed)},
		{Name: "model", Text: model(s)},
	}
	if text := assumed(s); text != "" {
		facts = append(facts, answer.Fact{Name: "assumed", Text: text})
	}
	return facts
}

// model names the releases whose scheduler is simulated, and counts the hosts with modified
// options.
func model(s *simulation.Judged) string {
	var names []string
	count := map[string]int{}
	set, left := 0, ""
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
		if h.TierMemory.Value > 0 {
			left = "; slower memory tiers are not modelled: what exceeds the DRAM is swapped (A-12)"
		}
	}
	if slices.ContainsFunc(s.Story.Fleet.VMs, func(v numa.VM) bool { return v.LatencyHigh() }) {
		left += "; cores that latency sensitivity High keeps for a VM are not modelled: others use them too (B-21)"
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, words.Plural(count[name], "host"))
	}
	text := "scheduler of " + strings.Join(names, ", ")
	if set == 0 {
		return text + ", default options" + left
	}
	return fmt.Sprintf("%s; options are set on %s%s", text, words.Plural(set, "host"), left)
}

// assumed counts the VMs with an assumed load, and describes it; "" if there are none.
func assumed(s *simulation.Judged) string {
	n := len(s.Assumed())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("load of %s is assumed: %s", words.Plural(n, "VM"), s.Story.Unstated.Origin.Where)
}

// mostHappened and mostTold are the maximum numbers of story lines in the overview and on a
// page.
const (
	mostHappened = 36
	mostTold     = 400
)

// story lists the events. Resulting decisions of the scheduler follow after a dot.
func (r *report) story(all []simulation.Happening) []answer.Table {
	if len(all) == 0 {
		return nil
	}
	if r.o.Details {
		return []answer.Table{r.storyTable(all)}
	}
	some, left := simulation.Shorten(all, mostHappened)
	t := r.storyTable(some)
	if left == 0 {
		return []answer.Table{t}
	}
	t.Cut = words.Plural(left, "line") + " left out: --details; every decision: --why"
	more, left := simulation.Shorten(all, mostTold)
	long := r.storyTable(more)
	long.Long = true
	if left > 0 {
		long.Cut = words.Plural(left, "line") + " of little weight left out: --format csv --table story has all."
	}
	return []answer.Table{t, long}
}

func (r *report) storyTable(all []simulation.Happening) answer.Table {
	t := answer.Table{Name: "story", Columns: columns("time", "rules", "what happened"), Lead: "The events of the story, and what the scheduler of the model made of them. --why lists every decision."}
	for i := range all {
		h := &all[i]
		when, what := r.Clock.At(h.From), answer.Cell{Text: h.Text}
		switch {
		case !h.Event:
			if r.Clock.At(h.To) != when {
				when = r.Clock.Span(h.From, h.To)
			}
			what = answer.Cell{Text: "· " + h.Host + ": " + h.Text, Tone: answer.Faint}
		case h.Note != "":
			what.Text += "  # " + h.Note
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: when}, {Text: strings.Join(h.Rules, " ")}, what})
		if h.Followed != "" {
			t.Add("", "", "→ "+h.Followed)
		}
	}
	return t
}

// moveKinds counts the NUMA migrations of a host by reason: "45 for load, 30 for locality".
func moveKinds(rec *capture.Recording) string {
	var load, locality, fairness int64
	for i := range rec.VMs {
		m := &rec.VMs[i].Moves
		load += m.Balance + m.LoadSwap
		locality += m.Locality + m.LocalitySwap
		fairness += m.Fairness
	}
	var parts []string
	for _, k := range []struct {
		n    int64
		name string
	}{{load, "load"}, {locality, "locality"}, {fairness, "fairness"}} {
		if k.n > 0 {
			parts = append(parts, words.Thousands(int(k.n))+" for "+k.name)
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// mostListed is the maximum number of VMs of the story on a page.
const mostListed = 300

// simulatedVMs lists the most important VMs: those with findings or slowdowns, the worst first,
// and some for comparison.
func (r *report) simulatedVMs() []answer.Table {
	all := r.sim.Order
	n := r.mattering()
	tables := short(all, n, "", r.simulatedTable)
	if n == len(all) {
		return tables
	}
	rest, found := all[n:], 0
	for _, v := range rest {
		if len(v.Findings) > 0 {
			found++
		}
	}
	cut := words.Plural(len(rest), "more VM")
	switch {
	case r.sim.Watched == nil:
	case found > 0:
		cut += fmt.Sprintf(", %d of them with findings", found)
	default:
		cut += " without findings"
	}
	tables[0].Cut = cut + ": --details"
	listed := all[:min(len(all), mostListed)]
	tables[1].Fill, tables[1].Foot = func() [][]answer.Cell { return r.simulatedTable(listed).Rows }, r.simulatedFoot(listed)
	if left := len(all) - len(listed); left > 0 {
		tables[1].Cut = words.Plural(left, "more VM") + " not listed here: --format csv --table vms has all."
	}
	return tables
}

// mattering returns the number of VMs that the overview lists, from the worst on.
func (r *report) mattering() int {
	all := r.sim.Order
	if r.o.Details {
		return len(all)
	}
	const least = 5
	n := 0
	for n < len(all) && n < mostRows {
		v := all[n]
		if n >= least && len(v.Findings) == 0 && v.Missing() == 0 && (v.Speed == nil || v.Speed.Mean >= simulation.FullSpeed) {
			break
		}
		n++
	}
	if n >= len(all)-1 {
		return len(all)
	}
	return n
}

func (r *report) simulatedTable(vms []*simulation.VM) answer.Table {
	t := answer.Table{Name: "VMs", Columns: columns("VM", ">vCPU", "host", ">N%L mean", ">least", ">far", ">ready", ">co-stop", ">moves", "performance", "found"), Foot: r.simulatedFoot(vms)}
	taken := slices.ContainsFunc(r.sim.Order, func(v *simulation.VM) bool { return v.Took != nil })
	if taken {
		t.Columns = slices.Insert(t.Columns, 9, answer.Column{Name: "swapped", Right: true})
	}
	for _, v := range vms {
		hosts := v.Hosts()
		if len(hosts) > 3 {
			hosts = append(hosts[:2:2], "… "+hosts[len(hosts)-1])
		}
		name := answer.Cell{Text: v.Name}
		for _, l := range v.Lives {
			if id := timeline.VMID(l.Rec, l.VM); r.drawn[id] && name.Ref == "" {
				name.Ref = id
			}
		}
		mean, _ := v.Out.Locality()
		least, speed := 0.0, 0.0
		if l := v.Least(); l != nil {
			least, _ = l.LeastLocality()
		}
		if v.Speed != nil && v.Missing() == 0 {
			speed = v.Speed.Mean
		}
		row := []answer.Cell{name, count(v.VCPUs()), text(strings.Join(hosts, " → ")), number(mean, simulatedMean(v)), number(least, simulatedLeast(v)), share(v.Out.FarShare()),
			share(v.Out.ReadyShare()), share(v.Out.CoStopShare()), number(float64(v.Out.Moves.All), fmt.Sprint(v.Out.Moves.All)), number(speed, performance(v)), found(v.Findings)}
		if taken {
			most := numa.Bytes(0)
			if v.Took != nil {
				most = v.Took.Taken()
			}
			row = slices.Insert(row, 9, memory(most))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// simulatedFoot explains the columns.
func (r *report) simulatedFoot(vms []*simulation.VM) []string {
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
	notes := []string{"FAR: memory on another node than the client it belongs to. READY, CO-STOP: of the time in which vCPUs wanted to run, where the demand of 20 s exceeds a node; shorter waits are not modelled: on a busy node there is more."}
	if taken {
		notes = append(notes, "SWAPPED: the most memory at a time that was swapped or ballooned. A VM of which more than 1 % was, has no performance index.")
	}
	if priced {
		text := "PERFORMANCE: 1 is all memory local and no wait, as far as published figures allow (docs/evidence/cost.md)."
		if star {
			text += " *: partly outside the measured range; --vm NAME explains it."
		}
		notes = append(notes, text)
	}
	if len(blind) > 0 {
		notes = append(notes, words.Few(blind)+": N%L is not measurable, the memory is interleaved over the home nodes (M006).")
	}
	return notes
}

// pageTables returns tables that only pages have: the hosts, and each stay of a VM on a host.
func (r *report) pageTables() []answer.Table {
	if len(r.Recordings) == 0 {
		return nil
	}
	hosts, lives := r.hostTable(r.WeightedHosts()), r.vmTable(nil)
	hosts.Long, lives.Long, lives.Name = true, true, "lives"
	lives.Fill = func() [][]answer.Cell { return r.vmTable(r.Weighted(len(r.VMs))).Rows }
	return []answer.Table{lives, hosts}
}

func simulatedMean(v *simulation.VM) string {
	share, ok := v.Out.Locality()
	if !ok || v.Blind() {
		return ""
	}
	return rule.NL(share)
}

func simulatedLeast(v *simulation.VM) string {
	if life := v.Least(); life != nil {
		return leastText(life)
	}
	return ""
}

// performance returns the performance index with its interval, or the reason why there is none.
func performance(v *simulation.VM) string {
	switch {
	case v.Missing() > 0:
		return "not priced: " + v.TakenText()
	case v.Speed == nil:
		return ""
	}
	return simulation.Index(v.Speed)
}

func (r *report) simulatedNext() (out []string) {
	command := "homenode simulate " + words.Command(r.o.Words...)
	if len(r.sim.Order) > 0 && len(r.Recordings) > 0 {
		name := words.Command(r.sim.Order[0].Name)
		out = []string{command + " --vm " + name, command + " --why --vm " + name, command + " --format html -o report.html"}
	}
	return append(out, explaining(r.sim.Outcome.Decisions)...)
}

// explaining returns the command that explains the first of these decisions with a rule.
func explaining(all []scheduler.Decision) []string {
	for i := range all {
		if ids := all[i].Kind.Rules(); len(ids) > 0 {
			return []string{"homenode rules " + ids[0]}
		}
	}
	return nil
}
