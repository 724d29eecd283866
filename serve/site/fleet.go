package site

import (
	"slices"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/filter"
	"example.org/homenode/serve/board"
)

// showFleet shows the current problems of the fleet, their begin, and hosts that cannot be seen; for a file, the effects of its settings.
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
	v := &view{fields: fields, filter: true, most: 3, live: x.site.Live != nil}
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
		v.answer, err = x.site.recent.once(x, recentFor, x.page.path, func() (*answer.Answer, error) {
			out := *v.answer
			out.Drawings = []answer.Drawing{x.site.placed.of(x.fleet)} // those of hosts are on their pages
			out.Tables = append(slices.Clone(out.Tables), x.accepted(nil)...)
			if first := firstTable(nil, &out); len(first.Rows) > 0 {
				out.Tables = append([]answer.Table{first}, out.Tables...)
			}
			return &out, nil
		})
		return v, err
	}
	v.answer, err = x.site.recent.once(x, presentFor, x.page.path, func() (*answer.Answer, error) { return x.fleetNow(v.answer) })
	return v, err
}

// accepted returns the findings that the configuration accepts and the filter selects; nil if there are none.
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

// fleetNow summarises the problems now, in the last day and in the settings, with what to do first and where. settings is nil before the first
// inventory.
func (x *request) fleetNow(settings *answer.Answer) (*answer.Answer, error) {
	l, vcenter, at := x.site.Live, "", time.Now()
	now := &answer.Answer{Command: "serve", Verdict: []string{"Fleet"}}
	if x.fleet != nil {
		vcenter = x.fleet.Name
		now.Verdict[0] = sizeOf(x.fleet)
	}
	failed := func(err error) {
		if err != nil {
			now.NotesFrom("", numa.Note{Text: "The store does not answer: " + err.Error()})
		}
	}
	p := l.present(vcenter, at)
	h, err := l.happened(x.Context(), vcenter, at, nil)
	failed(err)
	if x.fleet != nil {
		interleaved := x.interleaved()
		h.blind = len(l.Board.VMsOf(func(on *board.Host, vm string) bool { return on.VCenter == vcenter && interleaved(vm) }))
	}
	now.Title = p.reporting() + " · as of " + moment(at, at)
	now.States = statesOf(p, h, settings)
	for i := range now.States {
		now.Verdict = append(now.Verdict, textOf(&now.States[i]))
	}
	now.Drawings = []answer.Drawing{l.nodesNow(vcenter, h)}
	if d, ok, err := x.worstHost(h, at); ok {
		now.Drawings = append(now.Drawings, d)
	} else {
		failed(err)
	}
	trend, ok, err := l.trend(x.Context(), at)
	failed(err)
	if ok {
		now.Drawings = append(now.Drawings, trend)
	}
	if first := firstTable(h, settings); len(first.Rows) > 0 {
		now.Tables = append(now.Tables, first)
	}
	if t, ok := h.table(); ok {
		now.Tables = append(now.Tables, t)
	}
	if len(p.unseen.Rows) > 0 {
		now.Tables = append(now.Tables, p.unseen)
	}
	if a := settings; a != nil {
		now.Format, now.Version, now.Findings = a.Format, a.Version, a.Findings
		now.Facts, now.Tables, now.Notes, now.Data, now.Result = a.Facts, slices.Concat(now.Tables, a.Tables, x.accepted(nil)), append(now.Notes, a.Notes...), a.Data, a.Result
	}
	return now, nil
}

// worstHost charts the last day of the host with the most events; false without events or without a store.
func (x *request) worstHost(h *lately, at time.Time) (d answer.Drawing, ok bool, err error) {
	hosts := h.worstHosts(false)
	if len(hosts) == 0 || x.fleet == nil || x.site.Live.Keeper == nil {
		return d, false, nil
	}
	kept, err := x.site.recent.once(x, recentFor, "worst host "+hosts[0], func() (*answer.Answer, error) {
		one := &answer.Answer{}
		d, ok, err := x.site.Live.pastHost(x.Context(), x.fleet.Name, hosts[0], "24h", 24*time.Hour, at)
		if ok {
			one.Drawings = []answer.Drawing{d}
		}
		return one, err
	})
	if err != nil || len(kept.Drawings) == 0 {
		return d, false, err
	}
	d = kept.Drawings[0]
	d.ID, d.About = "worst-host", hosts[0]+", the host where most happened: "+d.About
	return d, true, nil
}

// assessing returns the question about the findings of the page's fleet.
func assessing() *fleet.Assess {
	q := fleet.AssessEntry.Ask().(*fleet.Assess)
	q.Sources = []string{Source}
	return q
}

// findings shows the findings that a filter selects.
func (x *request) findings(q *fleet.Assess, fields []field) (*view, error) {
	v := &view{fields: fields, command: ask.Line(fleet.AssessEntry.Name, q), most: 10}
	if x.fleet == nil {
		return v, ask.ErrNoFleet
	}
	a, err := x.site.recent.answer(x, fleet.AssessEntry, q)
	if v.answer = a; q.Rules != nil {
		v.most, v.open = rowsShown, true
	}
	if err != nil {
		return v, err
	}
	shown, err := q.Compile()
	if err != nil {
		return v, err
	}
	out := *a
	out.Drawings = ofVMs(a.Drawings)
	out.Tables = append(slices.Clone(out.Tables), x.accepted(shown)...)
	v.answer = &out
	if x.site.Live != nil {
		if err = x.addSeen(v, shown); err == nil {
			err = x.addMemoryShown(v.answer, shown)
		}
	}
	return v, err
}

// ofVMs returns the charts below the first heading, which are about VMs: those of hosts are on their pages.
func ofVMs(all []answer.Drawing) []answer.Drawing {
	for i := 1; i < len(all); i++ {
		if all[i].Heading != "" {
			return all[:i:i]
		}
	}
	return all
}

// addSeen adds the live findings that the filter selects.
func (x *request) addSeen(v *view, shown *filter.Filter) error {
	out := *v.answer
	v.live, v.answer = true, &out
	_, err := x.addHappened(&out, time.Now(), shown.Seen)
	return err
}

// addMemoryShown adds the memory of the VMs that a filter selects, if it selects VMs.
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
