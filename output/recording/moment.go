package recording

import (
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/timeline"
)

// Limits of the table about a moment: the time range of decisions before and after it, and the maximum numbers of decisions and of VMs.
const (
	momentAround = time.Minute
	momentMost   = 40
)

// atMoment describes the state at the requested moment: the nodes of each host, its VMs with findings, and the decisions around that time.
func (r *report) atMoment(at time.Time) answer.Table {
	t := answer.Table{Name: "moment", Title: "At " + at.UTC().Format("2006-01-02 15:04:05") + " UTC", Columns: answer.Columns("what", "where", "held or decided")}
	for _, rec := range r.WeightedHosts()[:min(len(r.Recordings), mostHosts)] {
		if text := timeline.HostAt(rec, at); text != "" {
			t.Add("host", rec.Host, text)
		}
	}
	shown := 0
	for _, v := range r.Weighted(0) {
		if shown == momentMost {
			break
		}
		if text := timeline.VMAt(v.Rec, v.VM, at); text != "" {
			t.Add("VM", v.Label+" on "+v.Rec.Host, text)
			shown++
		}
	}
	decided, left := 0, 0
	start := r.sim.Story.Start
	all, err := r.sim.Decisions("", "")
	if err != nil {
		return t
	}
	for _, d := range all {
		when := start.Add(d.At)
		if when.Before(at.Add(-momentAround)) || when.After(at.Add(momentAround)) {
			continue
		}
		if decided == momentMost {
			left++
			continue
		}
		decided++
		one := r.sim.Decision(d)
		of := one.VM
		if one.Client != nil && of != "" {
			of += "." + strconv.Itoa(*one.Client)
		}
		t.Add("decision at "+when.UTC().Format(time.TimeOnly), strings.TrimPrefix(of+" on "+one.Host, " on "), one.Decision+": "+one.Why)
	}
	if left > 0 {
		t.Cut = words.Verb(left, "more decision was made", "more decisions were made") + " within a minute of it."
	}
	return t
}
