package fix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/change/fix/apply"
	"homenode/change/fix/journal"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules/rule"
)

// mostLines is how many lines of a journal are shown.
const mostLines = 100

// did says what a step does.
var did = map[string]string{"reconfigure": "change settings", "options": "change options", "shutdown": "shut down the guest", "powerOff": "power off", "powerOn": "power on", "wait": "wait until it is off"}

// Progress returns the answer how far the newest run of a journal is. running says that it is under way.
func Progress(lines []journal.Line, running bool) *answer.Answer {
	p, _ := apply.Remember(lines)
	results := apply.Ended(lines)
	a := &answer.Answer{Command: "fix", Title: "Plan " + p.ID}
	first := 0
	var begun journal.Line
	for i := range slices.Backward(lines) {
		if lines[i].Step == journal.StepPlan {
			first, begun = i, lines[i]
			break
		}
	}
	count := map[apply.Outcome]int{}
	came := answer.Table{Name: "results", Title: "Results", Columns: answer.Columns("object", "outcome", "why")}
	for i := range p.Changes {
		t := p.Changes[i].Target()
		r, ok := results[t.ID]
		if !ok {
			came.Rows = append(came.Rows, []answer.Cell{object(p.Changes[i].VM != nil, t.ID, t.Name), {Text: "–"}, {}})
			continue
		}
		count[r.Outcome]++
		one := answer.Cell{Text: string(r.Outcome)}
		if r.Bad() {
			one.Tone = answer.Bad
		}
		came.Rows = append(came.Rows, []answer.Cell{object(p.Changes[i].VM != nil, t.ID, t.Name), one, {Text: r.Why}})
	}
	verb := map[bool]string{false: "carried out", true: "taken back"}[begun.Undo]
	done := strings.Join(counted(count), ", ")
	switch {
	case running:
		a.Verdict = []string{fmt.Sprintf("The plan is being %s: of %s %s.", verb, rule.Plural(len(p.Changes), "change"), cmp.Or(done, "none has ended"))}
	case len(results) < len(p.Changes):
		a.Verdict = []string{fmt.Sprintf("The run ended early: of %s %s.", rule.Plural(len(p.Changes), "change"), cmp.Or(done, "none has ended"))}
	default:
		a.Verdict = []string{fmt.Sprintf("The plan was %s: of %s %s.", verb, rule.Plural(len(p.Changes), "change"), done)}
	}
	a.Facts = []answer.Fact{{Name: "begun", Text: begun.Time.UTC().Format(time.DateTime) + " UTC"}}
	log := answer.Table{Name: "journal", Title: "Journal, the newest first", Columns: answer.Columns("time", "object", "step", "what")}
	for i := len(lines) - 1; i > first; i-- {
		if len(log.Rows) == mostLines {
			log.Cut = fmt.Sprintf("%d earlier lines stand in the journal", i-first)
			break
		}
		l := &lines[i]
		step := map[string]string{journal.StepIntent: "begins", journal.StepTask: "vCenter took it", journal.StepDone: "read back", journal.StepEnd: "ended"}[l.Step]
		log.Add(l.Time.UTC().Format(time.TimeOnly)+" UTC", l.Name, step, strings.TrimSpace(strings.Join([]string{cmp.Or(did[l.Do], l.Do), l.State, l.Why, changed(l.Edits)}, " ")))
	}
	a.Tables = []answer.Table{came, log}
	return a
}

// object returns the cell of what is changed.
func object(vm bool, id, name string) answer.Cell {
	c := answer.Cell{Text: name}
	if vm {
		c.To = answer.Object{Kind: "vm", ID: id}
	}
	return c
}

// changed says what an intent changes.
func changed(all []numa.Edit) string {
	if len(all) == 0 {
		return ""
	}
	return edits(all)
}
