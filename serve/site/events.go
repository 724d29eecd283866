package site

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	told "example.org/homenode/output/recording"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/verdict/recording"
	"example.org/homenode/serve/board"
)

// An event is a story of live or stored findings.
type event struct {
	*recording.Story
	begin, end time.Time
	open       bool // it is going on
	before     bool // it may have begun before begin
}

// eventsOf groups alarms into events. The lasting effect of a setting is no event.
func eventsOf(all []board.Alarm, now time.Time) (out []event) {
	byCenter := map[string][]*finding.Finding{}
	of := map[*finding.Finding]*board.Alarm{}
	for i := range all {
		f := all[i].Finding
		if f.Severity == finding.Info {
			continue
		}
		f.From, f.To = all[i].Begin, all[i].End
		if f.To.IsZero() {
			f.To = now
		}
		of[&f] = &all[i]
		byCenter[all[i].VCenter] = append(byCenter[all[i].VCenter], &f)
	}
	for _, center := range slices.Sorted(maps.Keys(byCenter)) {
		for _, s := range recording.Stories(byCenter[center]) {
			e := event{Story: s, begin: s.From, end: s.To}
			for _, f := range s.Findings {
				a := of[f]
				e.open, e.before = e.open || a.End.IsZero(), e.before || a.Before && a.Begin.Equal(s.From)
			}
			if !s.State() {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b event) int {
		open := func(e *event) int { return map[bool]int{true: 0, false: 1}[e.open] }
		return cmp.Or(cmp.Compare(open(&a), open(&b)), cmp.Compare(b.Worst().Severity, a.Worst().Severity), b.begin.Compare(a.begin), cmp.Compare(a.Worst().VM, b.Worst().VM))
	})
	return out
}

// when returns the period of the event with its date: "24 Nov 12:01 to 12:10 UTC".
func (e *event) when() string {
	const day, date, clock = "2 Jan", "2 Jan 15:04", "15:04"
	begin, end := e.begin.UTC(), e.end.UTC()
	switch {
	case e.open && e.before:
		return "since " + begin.Format(date) + " UTC or before"
	case e.open:
		return "since " + begin.Format(date) + " UTC"
	case begin.Format(day) == end.Format(day):
		return begin.Format(date) + " to " + end.Format(clock) + " UTC"
	}
	return begin.Format(date) + " to " + end.Format(date) + " UTC"
}

// subjectCell links to the VM, host or cluster of a finding.
func subjectCell(f *finding.Finding) answer.Cell {
	switch {
	case f.VMID != "":
		return answer.Cell{Text: f.VM, To: answer.Object{Kind: "vm", ID: f.VMID}}
	case f.VM != "":
		return answer.Cell{Text: f.VM}
	}
	return answer.Cell{Text: cmp.Or(f.Host, f.Cluster), To: answer.Object{Kind: "host", ID: cmp.Or(f.HostID, f.Host)}}
}

// eventTable returns the table of events.
func eventTable(title string, all []event) answer.Table {
	of := map[*recording.Story]*event{}
	var stories []*recording.Story
	for i := range all {
		of[all[i].Story] = &all[i]
		stories = append(stories, all[i].Story)
	}
	t := told.Events(stories, func(s *recording.Story) told.Event {
		return told.Event{Who: subjectCell(s.Worst()), When: of[s].when()}
	})
	t.Title, t.First = title, true
	return t
}

// lately has the events of the last day, or of the last hour without a store.
type lately struct {
	over   string // "last 24 hours"
	events []event
	more   int  // VMs that lost less locality and were not assessed
	early  bool // earlier hours have not been read yet
	blind  int  // VMs whose N%L hides that their memory is interleaved, by their settings
}

// happened returns the events of the last day about the VMs and hosts for which shown is true; a nil shown selects all.
func (l *Live) happened(ctx context.Context, vcenter string, now time.Time, shown func(*finding.Finding) bool) (*lately, error) {
	h, over := &lately{over: "last hour"}, time.Hour
	if l.Keeper != nil {
		h.over, over = "last 24 hours", lostOver
	}
	open, ended := l.Board.AlarmsOf(func(a *board.Alarm) bool {
		return a.Live && (vcenter == "" || a.VCenter == vcenter) && (l.Keeper == nil || a.Finding.VM == "") && (a.End.IsZero() || now.Sub(a.End) < over)
	})
	found := slices.Concat(open, ended)
	for i := range found {
		l.settle(&found[i], now)
	}
	past, err := l.lost(ctx, vcenter, now)
	if past != nil {
		h.more, h.early = past.more, past.early
		found = append(found, past.found...)
	}
	if shown != nil {
		found = slices.DeleteFunc(found, func(a board.Alarm) bool { return !shown(&a.Finding) })
	}
	h.events = eventsOf(found, now)
	return h, err
}

// line lists the affected VMs and hosts in one line.
func (h *lately) line() answer.Cell {
	c := answer.Cell{}
	say := func(text string) { c.Parts = append(c.Parts, answer.Cell{Text: text}) }
	var vms, hosts []answer.Cell
	for i := range h.events {
		f := h.events[i].Worst()
		of := &vms
		if f.VM == "" {
			of = &hosts
		}
		if one := subjectCell(f); !slices.ContainsFunc(*of, func(c answer.Cell) bool { return c.Text == one.Text && c.To == one.To }) {
			*of = append(*of, one)
		}
	}
	name := func(all []answer.Cell) {
		for i := range all[:min(len(all), 5)] {
			if i > 0 {
				say("·")
			}
			c.Parts = append(c.Parts, all[i])
		}
		if n := len(all) - 5; n > 0 {
			say("and " + words.Plural(n, "other"))
		}
	}
	switch {
	case h.early:
		say("the history is being read")
	case len(vms) == 0 && len(hosts) == 0:
		say("no VM lost locality, and no node was overloaded")
	case len(vms) > 0:
		say(words.Plural(len(vms), "VM") + " had trouble:")
		name(vms)
	}
	if len(hosts) > 0 && !h.early {
		if len(vms) > 0 {
			say("·")
		}
		say(words.Verb(len(hosts), "host had trouble:", "hosts had trouble:"))
		name(hosts)
	}
	if h.blind > 0 {
		say(fmt.Sprintf("· all the time, N%%L of %s hides interleaved memory (M006)", words.Plural(h.blind, "VM")))
	}
	return c
}

// table returns the table of the events; false if there are none.
func (h *lately) table() (t answer.Table, ok bool) {
	if h.early || len(h.events) == 0 {
		return t, false
	}
	t = eventTable("In the "+h.over, h.events)
	if h.more > 0 {
		t.Cut = words.Verb(h.more, "more VM lost less and was not assessed", "more VMs lost less and were not assessed")
	}
	return t, true
}

// addHappened adds the events of the last day to an answer, as happened selects them, and returns them.
func (x *request) addHappened(out *answer.Answer, at time.Time, shown func(*finding.Finding) bool) (*lately, error) {
	h, err := x.site.Live.happened(x.Context(), x.fleet.Name, at, shown)
	if err != nil {
		return nil, err
	}
	if t, ok := h.table(); ok {
		out.Tables = append([]answer.Table{t}, out.Tables...)
	}
	return h, nil
}

// ofHost reports whether a finding is about a host or a VM on it.
func ofHost(name string) func(*finding.Finding) bool {
	return func(f *finding.Finding) bool { return numa.SameHost(f.Host, name) }
}

// sentence describes the event of a VM in one sentence.
func (e *event) sentence() string {
	when := e.when()
	return strings.ToUpper(when[:1]) + when[1:] + ": " + e.Bad() + "."
}
