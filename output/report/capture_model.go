package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
)

// captured is a judged set of recordings as the forms show it.
type captured struct {
	*recording.Judged
	sim    *recording.Simulation // nil for what was recorded
	judged *judged
	words  reportWords
}

// The words in which a report of recordings and one of a simulation differ.
type reportWords struct {
	title  string // of pages and documents, before the source: NUMA in
	about  string // what stands over a page
	kind   string // of judgement, in the ids of SARIF runs
	format string // of the JSON
}

func newCaptured(w *rules.Watched) *captured {
	c := &captured{Judged: recording.Of(w), words: reportWords{"NUMA in", "NUMA in a capture", "capture/", "homenode-capture"}}
	c.judged = c.judgement([]openNotes{{"capture", slices.Concat(c.Doubts(), c.Warnings())}, {"judgement", c.Notes}, {"configuration", c.PolicyNotes}})
	return c
}

func newSimulated(r *simulate.Result) *captured {
	s := recording.OfSimulation(r)
	c := &captured{Judged: s.Run, sim: s, words: reportWords{"Simulated: NUMA in", "Simulation, nothing here was observed", "simulate/", "homenode-simulation"}}
	// What the inventory says of itself is for those who judge it: homenode assess.
	c.judged = c.judgement([]openNotes{{"simulation", slices.Concat(r.Outcome.Problems, c.Doubts())}, {"judgement", s.Notes()}, {"configuration", c.PolicyNotes}})
	return c
}

func (c *captured) verdict() (verdict, rest string) {
	if c.sim != nil {
		return c.sim.Verdict()
	}
	return c.Verdict()
}

func (c *captured) judgement(open []openNotes) *judged {
	return &judged{
		Judgement: &c.Judgement, source: c.Source(), kind: c.words.kind, watched: true,
		nothing: c.Nothing(),
		rules:   rulesWhere(func(one *rule.Rule) bool { return one.Watch != nil }),
		open:    open,
		subject: c.Subject, group: c.Subject,
		// A power-on gives another group: the name is what stays.
		key: func(f *finding.Finding) string { return "watched\x00" + f.Host + "\x00" + f.VM },
		id: func(f *finding.Finding) string {
			if f.VM != "" && f.VMID == "" && f.GID > 0 {
				return "gid " + strconv.FormatInt(f.GID, 10)
			}
			return subjectID(f)
		},
		at:    c.FileAt,
		place: c.Place,
	}
}

// grouped returns notes with those that many VMs or hosts share as one.
func (c *captured) grouped(notes []numa.Note) []numa.Note {
	var hosts []string
	for _, rec := range c.Recordings {
		hosts = append(hosts, rec.Host)
	}
	return perHost(grouped(notes), hosts)
}

// gapText says how much time has no ticks: the stretch without what is covered.
func gapText(rec *capture.Recording) string {
	if gap := rec.Last.Sub(rec.First) - rec.Covered; gap >= time.Second {
		return rule.Duration(gap)
	}
	return ""
}

// intervalOf returns the time between two ticks, on average.
func intervalOf(rec *capture.Recording) string {
	if rec.Ticks < 2 || rec.Covered <= 0 {
		return ""
	}
	d := rec.Covered / time.Duration(rec.Ticks-1)
	if d < 10*time.Second {
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), "") + " s"
	}
	return rule.Duration(d.Round(time.Second))
}
