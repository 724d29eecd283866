// Package recording has the answers about NUMA in recordings, from captures or simulations: which VMs
// lost locality, when and why, with the evidence.
package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules"
	verdict "example.org/homenode/rules/verdict/recording"
	"example.org/homenode/rules/verdict/simulation"
)

// Options are the options of an answer about recordings.
type Options struct {
	Details bool          // all hosts and VMs, instead of the most important
	VM      string        // the only requested VM, whose whole life is shown; "" for none
	Version string        // version of homenode, for the table about the origin of the others
	Took    time.Duration // duration of reading or simulating; 0 omits it
	// Words are the sources and the flags that affect the answer, as typed by the user, for the next
	// commands.
	Words []string
	// Whole is the content of one file for --merge, as returned by archive.Result.Pack; nil omits it.
	Whole []byte
	// Moment is marked in a simulation, and the state at this time is described; zero for none.
	Moment time.Time
	// Decided adds a table with every decision of a simulation.
	Decided bool
	// Without is the simulation without the requested events and changes, for comparison; nil for none.
	Without *simulation.Without
}

// A report is an assessed set of recordings from which an answer is made.
type report struct {
	*verdict.Judged
	o     Options
	sim   *simulation.Judged // nil for captures
	drawn map[string]bool    // IDs of the drawings on a page
	lives map[*capture.VM]*verdict.VM
}

func newReport(j *verdict.Judged, s *simulation.Judged, o Options) *report {
	r := &report{Judged: j, o: o, sim: s, drawn: map[string]bool{}, lives: map[*capture.VM]*verdict.VM{}}
	for _, v := range j.VMs {
		r.lives[v.VM] = v
	}
	return r
}

// Capture returns the answer about assessed captures.
func Capture(w *rules.Watched, o Options) *answer.Answer {
	r := newReport(verdict.Of(w), nil, o)
	a := &answer.Answer{Command: "capture", Version: 2, Title: "NUMA in " + cmp.Or(r.Source(), "a capture")} // in version 1 the verdict was a single text
	a.Verdict = lines(r.Verdict())
	a.Facts = r.facts()
	r.note(a, "capture", slices.Concat(r.Doubts(), r.Warnings()))
	r.note(a, "judgement", r.Notes)
	r.note(a, "configuration", r.PolicyNotes)
	a.Drawings = r.drawings()
	if o.VM != "" {
		a.Tables = slices.Concat(r.events(&r.Judgement), r.allLives(r.VMs))
	} else {
		a.Tables = slices.Concat(r.events(&r.Judgement), r.hosts(), r.vms(), r.nodes(), r.files())
	}
	a.Findings = r.findings("capture/", nil)
	a.Data = r.data(a)
	a.Result = func() any { return r.result() }
	a.Next = r.next()
	return a
}

// CaptureTables lists the tables of Capture for spreadsheets, in order.
func CaptureTables() []string { return table.Names(Capture(&rules.Watched{}, Options{}).Data) }

// lines returns the verdict, followed by rest if it is not empty.
func lines(verdict, rest string) []string {
	if rest == "" {
		return []string{verdict}
	}
	return []string{verdict, rest}
}

// note adds notes. If many hosts have the same note, it is merged into one with their number.
func (r *report) note(a *answer.Answer, from string, notes []numa.Note) {
	n := len(a.Notes)
	a.NotesFrom(from, notes...)
	for i := range a.Notes[n:] {
		one := &a.Notes[n+i]
		one.Host = slices.ContainsFunc(r.Recordings, func(rec *capture.Recording) bool { return rec.Host == one.At })
	}
}

func (r *report) facts() []answer.Fact {
	ticks := 0
	for _, rec := range r.Recordings {
		ticks += rec.Ticks
	}
	when := ""
	if !r.First.IsZero() {
		when = verdict.Dated(r.First, r.Last)
	}
	if r.undated() {
		when += " (file times; the files state no time of their own)"
	}
	facts := []answer.Fact{{Name: "read", Took: words.Took(r.o.Took),
		Text: words.Join(" · ", r.read(), words.Plural(len(r.Recordings), "host"), words.Plural(verdict.CountVMs(r.VMs), "VM"), words.Plural(ticks, "tick"), when)}}
	if r.Fleet != nil {
		facts = append(facts, answer.Fact{Name: "inventory", Text: r.Fleet.Fleet.Source + " · " + r.joined()})
	}
	return append(facts, r.asked()...)
}

// undated reports whether a file has no times, so that its ticks have the time of the file.
func (r *report) undated() bool {
	return slices.ContainsFunc(r.Recordings, func(rec *capture.Recording) bool {
		return slices.ContainsFunc(rec.Files, func(f capture.File) bool {
			return slices.ContainsFunc(f.Warnings, func(w string) bool { return strings.Contains(w, numa.Undated) })
		})
	})
}

// asked returns facts about the options: the filter and the configuration.
func (r *report) asked() (facts []answer.Fact) {
	if r.Filter != "" {
		facts = append(facts, answer.Fact{Name: "shown", Text: r.Filter})
	}
	if r.Policy != nil {
		facts = append(facts, answer.Fact{Name: "config", Text: (&answer.Findings{Judgement: &r.Judgement}).Config()})
	}
	if n := len(r.Suppressed); n > 0 {
		facts = append(facts, answer.Fact{Name: "suppressed", Text: strconv.Itoa(n)})
	}
	return facts
}

// read returns the number of files and of skipped parts: "2 files (1 not to its end, 3 rows left
// out)".
func (r *report) read() string {
	byName := map[string]capture.File{}
	for _, rec := range r.Recordings {
		for _, f := range rec.Files {
			n := byName[f.Name]
			byName[f.Name] = capture.File{Parts: max(n.Parts, f.Parts, 1), Cut: n.Cut || f.Cut, Left: max(n.Left, f.Left)}
		}
	}
	files, cut, left := 0, 0, 0
	for _, f := range byName {
		files, left = files+f.Parts, left+f.Left
		if f.Cut {
			cut++
		}
	}
	var unread, ends, rows string
	if r.Unread > 0 {
		unread = fmt.Sprintf("%d not at all", r.Unread)
	}
	if cut > 0 {
		ends = words.Verb(cut, "not to its end", "not to their end")
	}
	if left > 0 {
		rows = words.Plural(left, "row") + " left out"
	}
	text := words.Plural(files+r.Unread, "file")
	if less := words.Join(", ", unread, ends, rows); less != "" {
		text += " (" + less + ")"
	}
	return text
}

// joined states how many of the recorded VMs are in the inventory.
func (r *report) joined() string {
	var found []*verdict.VM
	for _, v := range r.VMs {
		if v.InFleet != nil {
			found = append(found, v)
		}
	}
	return fmt.Sprintf("holds %d of %s", verdict.CountVMs(found), words.Plural(verdict.CountVMs(r.VMs), "VM"))
}

func (r *report) next() (out []string) {
	command := "homenode capture " + words.Command(r.o.Words...)
	switch {
	case r.o.VM != "" && len(r.VMs) == 1:
		out = append(out, command+" --format svg -o "+words.Command(r.VMs[0].Name+".svg"))
	case len(r.Findings) > 0 && !r.o.Details:
		out = append(out, command+" --details")
	}
	if len(r.VMs) > 0 {
		out = append(out, command+" --format html -o report.html")
	}
	return out
}
