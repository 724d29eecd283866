package site

import (
	"fmt"
	"slices"
	"time"

	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
)

// showHost shows what the NUMA nodes of a host hold, now and over time.
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
	v := &view{answer: joined(a, judged), command: command, most: 10}
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

// addHostLive adds what is seen of a host now and was over time, and what can be asked of its collector.
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
	if ok {
		v.answer.Drawings = append(slices.Clone(v.answer.Drawings), past)
	}
	if err := l.addMemory(x.Context(), v.answer, "the VMs on "+h.Name, length, at, nil, "vcenter", vcenter, "host", h.Name); err != nil {
		return err
	}
	if err := x.addHappened(v.answer, at, ofHost(h.Name)); err != nil {
		return err
	}
	if now := l.hostNow(vcenter, h.ID, at); now != nil {
		v.answer.Tables = append(now, v.answer.Tables...)
		v.answer.Notes = slices.Clone(v.answer.Notes)
		v.answer.Note("free memory of the drawing and of its table is what is left once the VMs have touched all their memory; the nodes as they are seen have what is free now")
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
