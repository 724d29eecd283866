package simulation

import (
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
)

// Events returns the events of the story about a host or its VMs, or if v is set about that VM
// and its host.
func (s *Judged) Events(rec *capture.Recording, v *capture.VM) []capture.Event {
	here := map[string]bool{} // IDs of VMs
	for i := range rec.VMs {
		if one := &rec.VMs[i]; v == nil || one == v {
			here[s.Story.Fleet.VMs[s.Lives[one].VM].ID] = true
		}
	}
	var out []capture.Event
	last := -1
	for i := range s.Story.Events {
		e := &s.Story.Events[i]
		about := here[e.VM] || e.Talk != nil && (here[e.Talk.A] || here[e.Talk.B])
		if e.VM == "" && e.Host != "" {
			about = s.hostByID(e.Host) == rec.Host || s.brought(e, rec, here)
		} else if e.Host != "" && v == nil {
			about = about || s.hostByID(e.Host) == rec.Host
		}
		if !about || last >= 0 && s.sameLine(&s.Story.Events[last], e) {
			continue
		}
		last = i
		text := e.Text
		if text == "" {
			text = strings.TrimSpace(e.Kind.String() + " " + s.vmByID(e.VM))
		}
		out = append(out, capture.Event{Time: s.Story.Start.Add(e.At), Text: text, Note: e.Note})
	}
	return out
}

// brought reports whether an event of another host moved one of these VMs here.
func (s *Judged) brought(e *numa.Event, rec *capture.Recording, here map[string]bool) bool {
	for _, d := range s.decidedAt(e.At) {
		if (d.Kind == scheduler.MovedIn || d.Kind == scheduler.Restart) && here[s.Story.Fleet.VMs[d.VM].ID] && s.hostName(d.Host) == rec.Host && d.Other >= 0 && s.Story.Fleet.Hosts[d.Other].ID == e.Host {
			return true
		}
	}
	return false
}
