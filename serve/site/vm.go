package site

import (
	"fmt"
	"slices"
	"time"

	"homenode/numa"
	"homenode/output/answer"
)

// showVM explains the topology of a VM, and shows what is seen of it now and was over time.
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

// adviceFirst returns an answer about a VM with what to do above the trace and its facts.
func adviceFirst(a *answer.Answer) *answer.Answer {
	out := *a
	out.Tables = nil
	for _, t := range a.Tables {
		if t.Name == "plan" {
			out.Tables = slices.Insert(out.Tables, 0, t)
			continue
		}
		t.Long = true
		out.Tables = append(out.Tables, t)
	}
	return &out
}

// addVMLive adds what is seen of a VM now and was over time.
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
	if past != nil {
		out.Drawings = slices.Concat([]answer.Drawing{pastVM(past, found, span)}, out.Drawings)
	}
	if err := l.addMemory(x.Context(), &out, vm.Name, length, at, nil, "vcenter", vcenter, "vm_id", vm.ID); err != nil {
		return err
	}
	if events := eventsOf(found, at); len(events) > 0 {
		out.Tables = append([]answer.Table{eventTable("In the "+labelOf(span), events)}, out.Tables...)
		out.Verdict = append([]string{events[0].sentence()}, out.Verdict...)
	}
	if t, said, ok := l.vmNow(vcenter, vm.ID, at); ok {
		t.First = true
		out.Tables = append([]answer.Table{t}, out.Tables...)
		if said != "" {
			out.Verdict = append([]string{said}, out.Verdict...)
		}
	} else {
		out.Facts = append([]answer.Fact{{Name: "now", Text: "not seen: it is switched off, or its host cannot be seen"}}, out.Facts...)
	}
	v.answer = &out
	return nil
}

// hostChoices are the hosts of the fleet.
func (x *request) hostChoices() []choice {
	out := []choice{{"", "its own"}}
	hosts := x.fleet.Result.Fleet.Hosts
	for i := range hosts {
		out = append(out, choice{hosts[i].ID, hosts[i].Name})
	}
	return out
}
