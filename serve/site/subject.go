package site

import (
	"fmt"
	"slices"
	"time"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/serve/board"
)

// showHost shows the content of a host's NUMA nodes, now and over time.
func showHost(x *request) (*view, error) {
	name := x.query.Get("host")
	hosts := x.fleet.Result.Fleet.FindHosts(name)
	if len(hosts) == 0 {
		return nil, &unknownError{fmt.Sprintf("no host is named %q", name)}
	}
	a, command, err := x.explained("host", name)
	if err != nil {
		return nil, err
	}
	judged, err := x.judgedOf("host", name)
	if err != nil {
		return nil, err
	}
	v := &view{answer: joined(a, judged), command: command, most: 10, first: true}
	if len(hosts) == 1 {
		v.links = x.furtherOfHost(hosts[0])
	}
	if len(hosts) == 1 && !slices.ContainsFunc(x.fleet.Result.Fleet.VMs, func(v numa.VM) bool { return v.Host == hosts[0].ID }) {
		v.answer.Verdict = []string{fmt.Sprintf("No VM is on %s.", texttab.Line(hosts[0].Name))}
	}
	if x.site.Live == nil || len(hosts) > 1 {
		return v, nil
	}
	return v, x.addHostLive(v, hosts[0])
}

// leftNote explains why a drawing shows other amounts than were observed.
const leftNote = "memory left is predicted: it stays free once the VMs of the host have touched all their memory; free now is the amount that is seen"

// addHostLive adds the current and past observations of a host, and the actions of its collector.
func (x *request) addHostLive(v *view, h *numa.Host) error {
	l, vcenter, at := x.site.Live, x.fleet.Name, time.Now()
	v.live = true
	v.fields = x.asked(field{Name: "host", Value: h.ID, Hidden: true}, spanField())
	span, length, err := x.span()
	if err != nil {
		return err
	}
	past, ok, err := l.pastHost(x.Context(), vcenter, h.Name, span, length, at)
	if err != nil {
		return err
	}
	pictures := v.answer.Drawings
	if v.answer.Drawings = nil; ok {
		v.answer.Drawings = []answer.Drawing{past}
	}
	if err := l.addMemory(x.Context(), v.answer, "the VMs on "+h.Name, length, at, nil, "vcenter", vcenter, "host", h.Name); err != nil {
		return err
	}
	v.answer.Drawings = append(v.answer.Drawings, pictures...)
	lately, err := x.addHappened(v.answer, at, ofHost(h.Name))
	if err != nil {
		return err
	}
	low := slices.DeleteFunc(l.Board.VMsOf(func(on *board.Host, _ string) bool { return on.VCenter == vcenter && on.ID == h.ID }), func(v board.VMNow) bool { return !l.low(&v) || x.interleaved()(v.VMID) })
	v.answer.Verdict = hostVerdict(low, lately, v.answer.Verdict)
	if now := l.hostNow(vcenter, h.ID, at, x.interleaved()); now != nil {
		v.answer.Tables = append(now, v.answer.Tables...)
		v.answer.Notes = slices.Clone(v.answer.Notes)
		v.answer.Note(leftNote)
	}
	status, every, ok := l.seenOf(vcenter, h.ID)
	if !ok {
		return nil
	}
	text := "every " + words.Duration(every)
	switch {
	case !status.Closely.IsZero():
		text = "closely, until " + moment(status.Closely, at)
	case l.Closely != nil:
		v.actions = append(v.actions, action{Path: "/host/closely", Label: "Look closely", Note: "The collector asks this host more often for an hour.", Hidden: []choice{{"fleet", vcenter}, {"host", h.ID}}})
	}
	if !status.Last.IsZero() {
		text += ", last at " + moment(status.Last, at)
	}
	v.answer.Facts = append(slices.Clone(v.answer.Facts), answer.Fact{Name: "collected", Text: text})
	if status.Failing != "" {
		v.answer.Facts = append(v.answer.Facts, answer.Fact{Name: "cannot be seen", Text: status.Failing + ", since " + moment(status.Since, at)})
	}
	return nil
}

// hostVerdict puts the VMs with much remote memory now, and the events of the last day, before the verdict about the settings of a host.
func hostVerdict(low []board.VMNow, past *lately, settings []string) (lines []string) {
	if len(low) > 0 {
		lines = append(lines, textOf(&answer.State{Name: "now", Cell: answer.Cell{Parts: lowParts(low)}})+".")
	}
	if len(past.events) > 0 {
		lines = append(lines, textOf(&answer.State{Name: past.over, Cell: past.line()})+".")
	}
	if lines == nil || len(settings) == 0 {
		return append(lines, settings...)
	}
	return append(append(lines, "Settings: "+settings[0]), settings[1:]...)
}

// showVM explains the topology of a VM, and shows its current and past observations.
func showVM(x *request) (*view, error) {
	name := x.query.Get("vm")
	asks := []field{{Name: "on", Label: "On host", Choices: x.hostChoices()}, {Name: "event", Label: "Event", Choices: eventChoices()}}
	if x.site.Live != nil {
		asks = append(asks, spanField())
	}
	fields := x.asked(asks...)
	found := x.fleet.Result.Fleet.FindVMs(name)
	if len(found) == 0 {
		return nil, &unknownError{fmt.Sprintf("no VM is named %q", name)}
	}
	a, command, err := x.explained("vm", name, "on", valueOf(fields, "on"), "event", valueOf(fields, "event"))
	if err == nil {
		a = adviceFirst(a)
	}
	v := &view{answer: a, fields: append([]field{{Name: "vm", Value: name, Label: "VM"}}, fields...), command: command, most: rowsShown}
	v.links = x.furtherOf(found)
	if err != nil || x.site.Live == nil || len(found) > 1 {
		return v, err
	}
	v.live = true
	return v, x.addVMLive(v, found[0])
}

// adviceFirst returns an answer about a VM with the plan above the trace and its facts, below the drawings.
func adviceFirst(a *answer.Answer) *answer.Answer {
	out := *a
	out.Tables = nil
	for _, t := range a.Tables {
		if t.Name == "plan" {
			t.First = false
			out.Tables = slices.Insert(out.Tables, 0, t)
			continue
		}
		t.Long = true
		out.Tables = append(out.Tables, t)
	}
	return &out
}

// addVMLive adds the current and past observations of a VM.
func (x *request) addVMLive(v *view, vm *numa.VM) error {
	l, vcenter, at := x.site.Live, x.fleet.Name, time.Now()
	span, length, err := x.span()
	if err != nil {
		return err
	}
	out := *v.answer
	past, err := l.pastOfVM(x.Context(), vcenter, vm.ID, length, at)
	if err != nil {
		return err
	}
	found, err := l.over(x.Context(), vcenter, []string{vm.ID}, at.Add(-length), at)
	if err != nil {
		return err
	}
	if out.Drawings = nil; past != nil {
		out.Drawings = []answer.Drawing{pastVM(past, found, span, x.interleaved()(vm.ID))}
	}
	if err := l.addMemory(x.Context(), &out, vm.Name, length, at, nil, "vcenter", vcenter, "vm_id", vm.ID); err != nil {
		return err
	}
	out.Drawings = append(out.Drawings, v.answer.Drawings...)
	if events := eventsOf(found, at); len(events) > 0 {
		for i := range out.Tables {
			if t := &out.Tables[i]; t.Name == "plan" {
				t.Title = "Plan for its settings, not for what happened above"
			}
		}
		out.Tables = append([]answer.Table{eventTable("In the "+labelOf(span), events)}, out.Tables...)
		out.Verdict = append([]string{events[0].sentence()}, out.Verdict...)
	}
	if t, said, ok := l.vmNow(vcenter, vm.ID, at, x.interleaved()); ok {
		out.Notes = slices.Clone(out.Notes)
		out.Note(leftNote)
		t.First = true
		at := 0
		for at < len(out.Tables) && out.Tables[at].First { // the events
			at++
		}
		out.Tables = slices.Insert(slices.Clone(out.Tables), at, t)
		if said != "" {
			out.Verdict = append([]string{said}, out.Verdict...)
		}
	} else {
		out.Facts = append([]answer.Fact{{Name: "now", Text: "not seen: it is switched off, or its host cannot be seen"}}, out.Facts...)
	}
	v.answer = &out
	return nil
}

// hostChoices returns the hosts of the fleet.
func (x *request) hostChoices() []choice {
	out := []choice{{"", "its own"}}
	hosts := x.fleet.Result.Fleet.Hosts
	for i := range hosts {
		out = append(out, choice{hosts[i].ID, hosts[i].Name})
	}
	return out
}
