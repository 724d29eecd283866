package site

import (
	"fmt"
	"slices"
	"time"

	"homenode/ask"
	"homenode/ask/fleet"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules/filter"
	"homenode/rules/finding"
	"homenode/serve/board"
)

// showFleet shows what is bad in the fleet now and since when, and what cannot be seen; of a file, what its settings lead to.
func showFleet(x *request) (*view, error) {
	q := assessing()
	fields, given, err := x.form(q, "severity", "rule", "cluster", "host", "vm", "select")
	fields[0].Group, fields[0].Folded = "Some findings", true
	for i := range fields {
		if of := map[string]string{"cluster": "cluster", "host": "host", "vm": "VM"}[fields[i].Name]; of != "" {
			fields[i].Hint = patternOf(x.example(of))
		}
	}
	if err != nil {
		return &view{fields: fields}, err
	}
	if given {
		return x.findings(q, fields)
	}
	v := &view{fields: fields, most: 3, live: x.site.Live != nil}
	if x.fleet != nil {
		v.command = ask.Line(fleet.AssessEntry.Name, q)
		if v.answer, err = x.site.recent.answer(x, fleet.AssessEntry, q); err != nil {
			return nil, err
		}
	}
	if x.site.Live == nil {
		if x.fleet == nil {
			return nil, ask.ErrNoFleet
		}
		d := x.site.placed.of(x.fleet)
		out := *v.answer
		out.Drawings = []answer.Drawing{d} // those of hosts stand on their pages
		out.Tables = append(slices.Clone(out.Tables), x.accepted(nil)...)
		v.answer = &out
		return v, nil
	}
	v.answer, err = x.site.recent.once(x, presentFor, x.page.path, func() (*answer.Answer, error) { return x.fleetNow(v.answer) })
	return v, err
}

// accepted lists the findings that the configuration accepts and the filter shows; nothing where there is none.
func (x *request) accepted(shown *filter.Filter) []answer.Table {
	t := answer.Table{Name: "accepted", Title: "Accepted findings", Columns: answer.Columns("Rule", "Of", "Finding", "Reason", "Until", "Written in")}
	for i := range x.fleet.Result.Suppressed {
		s := &x.fleet.Result.Suppressed[i]
		if !shown.Seen(&s.Finding) {
			continue
		}
		of := answer.Cell{Text: s.Subject()}
		switch {
		case s.VMID != "":
			of.To = answer.Object{Kind: "vm", ID: s.VMID}
		case s.HostID != "":
			of.To = answer.Object{Kind: "host", ID: s.HostID}
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: s.Rule, To: answer.Object{Kind: "rule", ID: s.Rule}}, of, {Text: s.Message}, {Text: s.By.Reason}, {Text: s.By.Until}, {Text: s.By.At}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []answer.Table{t}
}

// fleetNow returns what is bad now and over the last day, and then what the settings lead to, which is nil before there is an inventory.
func (x *request) fleetNow(settings *answer.Answer) (*answer.Answer, error) {
	vcenter := ""
	if x.fleet != nil {
		vcenter = x.fleet.Name
	}
	at := time.Now()
	now := x.site.Live.now(vcenter, at)
	trend, ok, err := x.site.Live.trend(x.Context(), at)
	switch {
	case err != nil:
		now.NotesFrom("", numa.Note{Text: "The store does not answer: " + err.Error()})
	case ok:
		now.Drawings = append(now.Drawings, trend)
	case x.site.Live.Keeper != nil:
		now.NotesFrom("", numa.Note{Text: "The trend of the locality is drawn of whole hours: it comes when two are over."})
	}
	var labels []string
	if vcenter != "" {
		labels = []string{"vcenter", vcenter}
	}
	if err := x.addMemoryOfMany(now, "all VMs", nil, labels...); err != nil {
		now.NotesFrom("", numa.Note{Text: "The store does not answer: " + err.Error()})
	}
	past, err := x.site.Live.lost(x.Context(), vcenter, at)
	if err != nil {
		now.NotesFrom("", numa.Note{Text: "The store does not answer: " + err.Error()})
	}
	if t, said, ok := past.table(at); ok {
		now.Verdict = append(now.Verdict, said)
		i := slices.IndexFunc(now.Tables, func(t answer.Table) bool { return t.Name == "lowest" })
		if i < 0 {
			i = len(now.Tables)
		}
		now.Tables = slices.Insert(now.Tables, i, t)
	} else if said != "" {
		now.Verdict = append(now.Verdict, said)
	}
	if a := settings; a != nil {
		now.Command, now.Format, now.Version, now.Findings = a.Command, a.Format, a.Version, a.Findings
		now.Verdict = append(now.Verdict, a.Verdict...)
		now.Facts, now.Tables, now.Notes, now.Data, now.Result = a.Facts, slices.Concat(now.Tables, a.Tables, x.accepted(nil)), append(now.Notes, a.Notes...), a.Data, a.Result
	}
	now.Drawings[0].Heading = "Now"
	return now, nil
}

// assessing returns the question about the findings of the fleet of a page.
func assessing() *fleet.Assess {
	q := fleet.AssessEntry.Ask().(*fleet.Assess)
	q.Sources = []string{Source}
	return q
}

// findings shows the findings that a filter leaves.
func (x *request) findings(q *fleet.Assess, fields []field) (*view, error) {
	v := &view{fields: fields, command: ask.Line(fleet.AssessEntry.Name, q), most: 10}
	if x.fleet == nil {
		return v, ask.ErrNoFleet
	}
	a, err := x.site.recent.answer(x, fleet.AssessEntry, q)
	if v.answer = a; q.Rules != nil {
		v.most = rowsShown
	}
	if err != nil {
		return v, err
	}
	shown, err := q.Compile()
	if err != nil {
		return v, err
	}
	out := *a
	out.Tables = append(slices.Clone(out.Tables), x.accepted(shown)...)
	v.answer = &out
	if x.site.Live != nil {
		if err = x.addSeen(v, shown); err == nil {
			err = x.addMemoryShown(v.answer, shown)
		}
	}
	return v, err
}

// addSeen adds the findings about what is seen now that the filter leaves.
func (x *request) addSeen(v *view, shown *filter.Filter) error {
	at := time.Now()
	open := slices.DeleteFunc(x.site.Live.alarms(x.fleet.Name), func(a board.Alarm) bool { return !shown.Seen(&a.Finding) })
	out := *v.answer
	if err := x.addLost(&out, at, shown.Seen); err != nil {
		return err
	}
	v.live = true
	if len(open) > 0 {
		t := alarmTable(open, nil, at)
		t.Title = "Seen now"
		out.Tables = append([]answer.Table{t}, out.Tables...)
		out.Verdict = append([]string{fmt.Sprintf("%s about what is seen now.", words.Plural(len(open), "finding"))}, out.Verdict...)
	}
	v.answer = &out
	return nil
}

// addMemoryShown adds the memory of the VMs that a filter shows, when it says which.
func (x *request) addMemoryShown(out *answer.Answer, shown *filter.Filter) error {
	if !slices.ContainsFunc([]string{"cluster", "host", "vm", "select"}, func(name string) bool { return x.query.Get(name) != "" }) {
		return nil
	}
	these, err := shown.Shown(x.Context(), x.fleet.Result)
	if err != nil {
		return err
	}
	return x.addMemoryOfMany(out, words.Plural(len(these.VMs), "VM"), func(id string) bool { return these.VMs[id] }, "vcenter", x.fleet.Name)
}

// addLost adds to an answer who lost locality over the last day, of the findings that are shown.
func (x *request) addLost(out *answer.Answer, at time.Time, shown func(*finding.Finding) bool) error {
	past, err := x.site.Live.lost(x.Context(), x.fleet.Name, at)
	if err != nil {
		return err
	}
	t, said, ok := past.only(shown).table(at)
	if ok {
		out.Tables = append([]answer.Table{t}, out.Tables...)
	}
	if said != "" {
		out.Verdict = append(slices.Clone(out.Verdict), said)
	}
	return nil
}
