package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/simulate"
	verdict "example.org/homenode/rules/verdict/recording"
	"example.org/homenode/rules/verdict/simulation"
)

// Decisions returns the answer with the scheduler's decisions and their reasons, in time order.
// It can be limited to one VM and one host; "" means all. For an unknown VM the error lists
// similar names.
func Decisions(result *simulate.Result, vm, host string, o Options) (*answer.Answer, error) {
	r := simulated(result, o)
	chosen, err := r.sim.Decisions(vm, host)
	if err != nil {
		return nil, err
	}
	a := r.simulation("homenode-why", []string{fmt.Sprintf("Simulated: %s of the NUMA scheduler in %s", words.Plural(len(chosen), "decision"), r.sim.Story.Name)})
	a.Tables = []answer.Table{r.decisionTable(chosen)}
	a.Data = []table.Table{marked(decisionData(r.sim, chosen))}
	a.Result = struct {
		Story     storyJSON             `json:"story"`
		Decisions []simulation.Decision `json:"decisions"`
	}{r.storyJSON(), decisions(r.sim, chosen)}
	for _, d := range chosen {
		if a.Next = explaining([]scheduler.Decision{*d}); a.Next != nil {
			break
		}
	}
	return a, nil
}

// decisionTable lists decisions, each with its reason.
func (r *report) decisionTable(all []*scheduler.Decision) answer.Table {
	t := answer.Table{Name: "decisions", Columns: columns("time", "host", "VM", "decision", "why", "rules")}
	for _, d := range all {
		one := r.sim.Decision(d)
		client := one.VM
		if one.Client != nil && client != "" {
			client += "." + strconv.Itoa(*one.Client)
		}
		t.Add(r.moment(d.At), one.Host, text(client).Text, one.Decision, text(one.Why).Text, strings.Join(one.Rules, " "))
	}
	return t
}

// moment formats a time of the story with seconds, because decisions are 2 s apart.
func (r *report) moment(d time.Duration) string {
	story := r.sim.Story
	at := story.Start.Add(d).UTC()
	const day = 24 * time.Hour
	if last := story.Start.Add(story.Length - 1); last.Truncate(day).Equal(story.Start.Truncate(day)) { // days in UTC
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

func decisions(s *simulation.Judged, all []*scheduler.Decision) []simulation.Decision {
	out := make([]simulation.Decision, 0, len(all))
	for _, d := range all {
		out = append(out, s.Decision(d))
	}
	return out
}

// SimulatedVM returns the answer about the life of one VM: the totals, every decision about it
// with its reason, its stay on each host, and its findings.
func SimulatedVM(result *simulate.Result, o Options) (*answer.Answer, error) {
	r := simulated(result, o)
	v, err := r.sim.One(o.VM)
	if err != nil {
		return nil, err
	}
	chosen := r.sim.About(v)
	a := r.simulation("homenode-simulation-vm", []string{"Simulated: " + v.Name + " in " + r.sim.Story.Name})
	if v.Out.Steps == 0 {
		a.Verdict = append(a.Verdict, neverRan(v))
	} else {
		a.Facts = r.sum(v)
	}
	a.Findings = r.findings("simulate/", v)
	a.Tables = slices.Concat(r.events(a.Findings.Judgement), r.decided(v, chosen), r.allLives(v.Lives))
	if !o.Moment.IsZero() {
		a.Tables = append([]answer.Table{r.atMoment(o.Moment)}, a.Tables...)
	}
	for _, life := range v.Lives {
		a.Drawings = append(a.Drawings, drawnVM(life, life.Label+" on "+life.Rec.Host, r.drawing()))
	}
	a.Data = []table.Table{marked(a.Findings.FindingTable()), marked(simulatedData(r.sim, []*simulation.VM{v})), marked(decisionData(r.sim, chosen)), marked(speedData([]*simulation.VM{v})), marked(lifeData("lives", v.Lives))}
	lives := []lifeJSON{}
	for _, l := range v.Lives {
		one := lifeJSON{l.Rec.Host, vmOf(l), list(l.Findings)}
		one.vmJSON.Silent = r.silent(l)
		lives = append(lives, one)
	}
	a.Result = struct {
		Story     storyJSON             `json:"story"`
		VM        simulatedJSON         `json:"vm"`
		Decisions []simulation.Decision `json:"decisions"`
		Lives     []lifeJSON            `json:"lives"`
	}{r.storyJSON(), simulatedOf(v, true), decisions(r.sim, chosen), lives}
	if len(v.Lives) > 0 {
		a.Next = []string{"homenode simulate " + words.Command(r.o.Words...) + " --vm " + words.Command(drawnLife(v)) + " --format svg -o " + words.Command(v.Name+".svg")}
	}
	return a, nil
}

// neverRan returns a sentence with the reason why the VM did not run.
func neverRan(v *simulation.VM) string {
	switch {
	case v.Template.Or(false):
		return "It is a template, which does not run."
	case v.Power.Value == numa.PoweredOff:
		return "It never ran: it is powered off, and no event of the story powers it on, as --at '0h power-on " + v.Name + "' does."
	case v.Nowhere:
		return "It never ran: no host was found for it."
	}
	return "It never ran."
}

// drawnLife returns the name of the life with the most findings, or else of the first, as
// drawings expect it.
func drawnLife(v *simulation.VM) string {
	if len(v.Lives) == 1 {
		return v.Name
	}
	worst := slices.MaxFunc(v.Lives, func(a, b *verdict.VM) int { return cmp.Compare(len(a.Findings), len(b.Findings)) })
	return worst.Rec.Host + "/" + worst.Label
}

// sum returns the facts about a VM over the whole story.
func (r *report) sum(v *simulation.VM) (facts []answer.Fact) {
	add := func(name string, parts ...string) {
		if text := words.Join(" · ", parts...); text != "" {
			facts = append(facts, answer.Fact{Name: name, Text: text})
		}
	}
	story := r.sim.Story
	add("ran", fmt.Sprintf("%s of %s, on %s", words.Duration(v.Ran()), words.Duration(story.Length), strings.Join(v.Hosts(), " → ")))
	leastAt := ""
	if life := v.Least(); life != nil {
		leastAt = r.Clock.At(life.Least.Time)
	}
	add("memory", labelled("N%L mean", simulatedMean(v), ""), labelled("least", simulatedLeast(v), leastAt), labelled("far", rate(v.Out.FarShare()), ""))
	add("waiting", labelled("ready", rate(v.Out.ReadyShare()), ""), labelled("co-stop", rate(v.Out.CoStopShare()), ""))
	m := &v.Out.Moves
	add("migrations", fmt.Sprintf("%d: %d for load, %d for locality, %d for fairness", m.All, m.Balance+m.LoadSwap, m.Locality+m.LocalitySwap, m.Fairness))
	if v.Took != nil {
		add("taken", labelled("at the most", v.TakenText(), r.Clock.At(v.Took.TakenAt)))
	}
	if v.Missing() > 0 {
		add("performance", unpriced(v))
	} else if s := v.Speed; s != nil {
		add("performance", fmt.Sprintf("%s of 1 · worst %.2f at %s · workload %s · %s of accesses far", performance(v), s.Worst, r.Clock.At(s.WorstAt), s.Workload, words.Rate(s.Far)))
		for _, why := range s.Why {
			add("extrapolated", why)
		}
	}
	if !r.sim.Stated(v) {
		add("assumed", "its load: "+story.Unstated.Origin.Where)
	}
	return facts
}

// unpriced explains why a VM has no performance index, and gives the index of the remaining
// time.
func unpriced(v *simulation.VM) string {
	const why = "not priced while memory is swapped or ballooned: no published figure says what that costs"
	s := v.Speed
	if s == nil {
		return why
	}
	priced := words.Rate(float64(len(s.Points)) / float64(len(s.Points)+v.Took.Unpriced))
	return fmt.Sprintf("%s; in the other %s of the moments %s", why, priced, simulation.Index(s))
}

// mostDecided is the maximum number of decisions listed in the story of a VM.
const mostDecided = 40

// decided lists the decisions about a VM, with its events in the story.
func (r *report) decided(v *simulation.VM, chosen []*scheduler.Decision) []answer.Table {
	if len(chosen) == 0 {
		return nil
	}
	type row struct {
		at    time.Duration
		cells []string
	}
	var rows []row
	for i := range r.sim.Story.Events {
		if e := &r.sim.Story.Events[i]; e.VM == v.ID || e.Talk != nil && (e.Talk.A == v.ID || e.Talk.B == v.ID) {
			rows = append(rows, row{e.At, []string{"", "story: " + cmp.Or(e.Text, e.Kind.String()), text(e.Note).Text, ""}})
		}
	}
	for _, d := range chosen {
		what := d.Kind.String()
		if d.Client >= 0 && r.sim.Clients(v) > 1 {
			what += fmt.Sprintf(" (client %d)", d.Client)
		}
		if d.VM != v.Index {
			what += " in turn for " + r.sim.VMs[d.VM].Name
		}
		rows = append(rows, row{d.At, []string{r.sim.Story.Fleet.Hosts[d.Host].Name, what, text(d.Why(r.sim.Story.Fleet)).Text, strings.Join(d.Kind.Rules(), " ")}})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	most := len(rows)
	if most > mostDecided+1 && !r.o.Details {
		most = mostDecided
	}
	t := answer.Table{Name: "decided", Title: "Decisions and their reasons", Columns: columns("time", "host", "what", "why", "rules")}
	for _, one := range rows[:most] {
		t.Add(append([]string{r.moment(one.at)}, one.cells...)...)
	}
	if n := len(rows) - most; n > 0 {
		t.Cut = fmt.Sprintf("%s: --details, or --why --vm %s", words.Plural(n, "more decision"), v.Name)
	}
	return []answer.Table{t}
}
