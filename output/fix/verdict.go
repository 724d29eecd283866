package fix

import (
	"fmt"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/words"
	"example.org/homenode/measure/effect"
	"example.org/homenode/measure/quantity"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/rule"
)

// foreseen describes a predicted difference of a measure.
func foreseen(measure string, from, to float64) string {
	switch measure {
	case fix.MeasureFarShare:
		return fmt.Sprintf("memory on another node %s → %s", words.Percent(from), words.Percent(to))
	case fix.MeasureVNodes:
		return fmt.Sprintf("NUMA nodes of the guest %.0f → %.0f", from, to)
	}
	return fmt.Sprintf("NUMA clients %.0f → %.0f", from, to)
}

// Verdict returns the answer whether a change is present, in effect, and successful.
func Verdict(v *effect.Verdict) *answer.Answer {
	a := &answer.Answer{Command: "fix", Format: "homenode-verify", Title: "Plan " + v.Plan + ", verified", Result: v}
	a.Verdict = []string{fmt.Sprintf("%s: %s.", headline[v.Helped], v.Why)}
	t := answer.Table{Name: "checks", Title: "Written, in effect", Columns: answer.Columns("object", "written", "in effect", "predicted", "why")}
	if v.Helped == effect.TakenBack || v.Helped == effect.PartlyBack {
		t.Title, t.Columns = "Taken back, in effect again", answer.Columns("object", "taken back", "in effect again", "predicted", "why")
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		predicted := ""
		if c.Measure != "" {
			predicted = foreseen(c.Measure, c.From, c.To)
		}
		t.Add(c.Name, string(c.Written), string(c.InEffect), predicted, c.Why)
	}
	a.Tables = append(a.Tables, t)
	a.Facts = []answer.Fact{{Name: "plan", Text: v.Plan}, {Name: "journal", Text: v.Journal}}
	if v.NoSamples != "" {
		a.Notes = append(a.Notes, answer.Note{Text: "not measured: " + v.NoSamples})
	}
	if m := v.Measured; m != nil {
		a.Tables = append(a.Tables, measured(m))
		if t := each(m.Main); len(t.Rows) > 0 {
			a.Tables = append(a.Tables, t)
		}
		if text := m.Main.CouldSee(0); text != "" {
			a.Notes = append(a.Notes, answer.Note{Text: text})
		}
		a.Notes = append(a.Notes, answer.Note{Text: fmt.Sprintf("by chance %.2f of these measures would be worse although nothing changed", m.ByChance)},
			answer.Note{Text: "VMs that were chosen because their last days were bad get better by themselves: choose by settings, not by days"})
	}
	return a
}

// headline has the texts of the answers.
var headline = map[effect.Answer]string{effect.Helped: "It helped", effect.AsPredicted: "In effect as predicted", effect.Worse: "It got worse, or is not as it was left", effect.NotKnown: "Not known yet",
	effect.TakenBack: "Taken back", effect.PartlyBack: "Not all is taken back"}

// measured lists every measure of the changed VMs and of the control VMs.
func measured(m *effect.Report) answer.Table {
	t := answer.Table{Name: "measures", Title: "Before and after, beside VMs that were not changed",
		Columns: answer.Columns("measure", "of", "answer", ">effect", ">low", ">high", ">p", ">VMs", ">controls", ">days before", ">after", "why")}
	add := func(r *effect.Result, of string) {
		row := []string{r.Measure.Title, of, string(r.Answer), "", "", "", ""}
		if r.Test != nil {
			row = append(row[:3], signed(r.Measure, r.Effect), signed(r.Measure, r.Low), signed(r.Measure, r.High), fmt.Sprintf("%.3f", r.P))
		}
		t.Add(append(row, fmt.Sprint(len(r.VMs)), fmt.Sprint(len(r.Controls)), fmt.Sprint(r.Before), fmt.Sprint(r.After), r.Why)...)
	}
	add(m.Main, "changed VMs")
	for _, r := range m.Others {
		add(r, "changed VMs")
	}
	for _, r := range m.Beside {
		add(r, "VMs beside them")
	}
	return t
}

func signed(m quantity.Quantity, n float64) string {
	if n > 0 {
		return "+" + m.Text(n)
	}
	return m.Text(n)
}

// each lists the changed VMs with their individual figures.
func each(r *effect.Result) answer.Table {
	t := answer.Table{Name: "vms", Title: r.Measure.Title + " of each VM", Columns: answer.Columns("VM", "cluster", ">before", ">after", ">gain", ">days before", ">days after", "note")}
	number := func(p *float64) string {
		if p == nil {
			return ""
		}
		return r.Measure.Text(*p)
	}
	for i := range r.VMs {
		c := &r.VMs[i]
		t.Add(c.Name, c.Cluster, number(c.Before), number(c.After), number(c.Gain), fmt.Sprint(c.DaysBefore), fmt.Sprint(c.DaysAfter), rule.Or(c.Alone, c.Note))
	}
	return t
}
