package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/capture"
	"homenode/esxi/scheduler"
	"homenode/numa"
	"homenode/output/draw/timeline"
	"homenode/rules/simulate"
)

// SimulatedMarkdown writes a simulation as GitHub Flavored Markdown.
func SimulatedMarkdown(w io.Writer, r *simulate.Result, o ExportOptions) error {
	return newSimulated(r).markdown(w, o)
}

// SimulatedSARIF writes a simulation as SARIF 2.1.0; the property simulated of the run says
// that nobody observed it.
func SimulatedSARIF(w io.Writer, r *simulate.Result, o ExportOptions) error {
	return newSimulated(r).sarif(w, o)
}

// SimulatedJUnit writes a simulation as a JUnit report, as CaptureJUnit does a capture.
func SimulatedJUnit(w io.Writer, r *simulate.Result, o ExportOptions) error {
	return newSimulated(r).junit(w, o)
}

// SimulatedHTML writes a simulation as one file that needs nothing else.
func SimulatedHTML(w io.Writer, r *simulate.Result, o HTMLOptions) error {
	if o.MostFindings == 0 {
		o.MostFindings = 100 // the table of VMs names them all
	}
	return newSimulated(r).html(w, o.withDefaults())
}

// SimulatedSVG draws one simulated host or VM over time, as CaptureSVG does a recorded one.
func SimulatedSVG(w io.Writer, r *simulate.Result, name string) error {
	return newSimulated(r).svg(w, name)
}

// markHead says what was simulated.
func (s *simulated) markHead(b *bufio.Writer, o ExportOptions) {
	fmt.Fprintf(b, "\n\n%s, %s; %s; %s", plural(len(s.Story.Fleet.Hosts), "host"), plural(len(s.order), "VM"), mark(s.runText()), mark(s.modelText()))
	if o.Version != "" {
		fmt.Fprintf(b, "; homenode %s", mark(o.Version))
	}
	fmt.Fprint(b, ". Nothing here was observed.\n")
	if text := s.assumedText(); text != "" {
		fmt.Fprintf(b, "\n**Assumed:** %s\n", mark(text))
	}
}

// markHappened tells the story.
func (c *captured) markHappened(b *bufio.Writer) {
	all, left := shorten(c.sim.happenings(), mostHappened)
	if len(all) == 0 {
		return
	}
	fmt.Fprint(b, "\n## What happened\n\n")
	t := markTable{b, []string{"Time", "Host", "What", "Note"}, make([]bool, 4)}
	t.head()
	for i := range all {
		h := &all[i]
		text := mark(h.text)
		if h.event {
			text = "**" + text + "**"
			if h.followed != "" {
				text += " → " + mark(h.followed)
			}
		}
		t.row(c.when(h), mark(h.host), text, mark(h.note))
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%s left out.\n", plural(left, "line"))
	}
}

// markVMs lists the VMs that matter.
func (s *simulated) markVMs(b *bufio.Writer, o ExportOptions) {
	vms, cut := s.mattering(CaptureOptions{Details: o.Details})
	if len(vms) == 0 {
		return
	}
	fmt.Fprint(b, "\n## VMs that matter\n\n")
	t := markTable{b, []string{"VM", "vCPUs", "Host", "N%L mean", "Least", "Far", "Ready", "Co-stop", "Moves", "Performance", "Found"},
		[]bool{1: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 10: false}}
	t.head()
	for _, v := range vms {
		cells := v.cells()
		cells[0], cells[2] = code(cells[0]), mark(cells[2])
		for _, i := range []int{9} {
			cells[i] = mark(cells[i])
		}
		t.row(cells...)
	}
	for i, note := range s.footnotes(vms) {
		if i == 0 {
			fmt.Fprint(b, "\n")
		}
		fmt.Fprintf(b, "- %s\n", mark(note))
	}
	if cut != "" {
		fmt.Fprintf(b, "\n%s\n", mark(strings.TrimSuffix(cut, ": --details")+"."))
	}
}

// draw marks the events of the story and the performance index in drawings.
func (s *simulated) draw(o *timeline.Options) {
	o.Simulated = true
	o.Events = s.eventsOf
	o.Speed = func(v *capture.VM) []timeline.Point {
		var out []timeline.Point
		for _, p := range s.lifeSpeed(v) {
			out = append(out, timeline.Point{Time: p.Time, Value: p.Value, Low: p.Low, High: p.High})
		}
		return out
	}
}

// eventsOf returns the events of the story that are about a host or its VMs, or with v
// about that VM and its host.
func (s *simulated) eventsOf(rec *capture.Recording, v *capture.VM) []timeline.Event {
	here := map[string]bool{} // IDs of VMs
	for i := range rec.VMs {
		if one := &rec.VMs[i]; v == nil || one == v {
			here[s.Story.Fleet.VMs[s.Lives[one].VM].ID] = true
		}
	}
	var out []timeline.Event
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
		out = append(out, timeline.Event{Time: s.Story.Start.Add(e.At), Text: text, Note: e.Note})
	}
	return out
}

// brought reports whether an event of another host brought one of these VMs here.
func (s *simulated) brought(e *numa.Event, rec *capture.Recording, here map[string]bool) bool {
	for _, d := range s.decidedAt(e.At) {
		if (d.Kind == scheduler.MovedIn || d.Kind == scheduler.Restart) && here[s.Story.Fleet.VMs[d.VM].ID] && s.hostName(d.Host) == rec.Host && d.Other >= 0 && s.Story.Fleet.Hosts[d.Other].ID == e.Host {
			return true
		}
	}
	return false
}

// simulatedPage is what the page of a simulation has besides.
type simulatedPage struct {
	Run, Model, Assumed string
	Happened            []pageHappening
	Left                int // lines that are left out
	VMs                 []pageVM
	VMsCut              int // that are not listed
	Footnotes           []string
}

type pageHappening struct {
	When, Host, Text, Note, Followed string
	Event                            bool
	Rules                            []string
}

type pageVM struct {
	Label, Host, Drawing string
	Cells                []captureCell
	Rules                []htmlRuleRef
	Worst                int
}

func (p *captureReport) simulated(c *captured, drawn map[string]bool) {
	s := c.sim
	page := &simulatedPage{Run: s.runText(), Model: s.modelText(), Assumed: s.assumedText()}
	all, left := shorten(s.happenings(), mostTold)
	page.Left = left
	for i := range all {
		h := &all[i]
		page.Happened = append(page.Happened, pageHappening{c.when(h), h.host, h.text, h.note, h.followed, h.event, h.rules})
	}
	vms := s.order[:min(len(s.order), mostListed)]
	page.VMsCut = len(s.order) - len(vms)
	for _, v := range vms {
		page.VMs = append(page.VMs, s.pageVM(v, drawn))
	}
	page.Footnotes = s.footnotes(vms)
	p.Simulated = page
}

// mostTold and mostListed are how many lines of the story, and how many VMs, a page has.
const (
	mostTold   = 400
	mostListed = 300
)

func (s *simulated) pageVM(v *simulatedVM, drawn map[string]bool) pageVM {
	text := v.cells()
	number := func(i int, n float64, ok bool) captureCell {
		if !ok {
			n = -1
		}
		return captureCell{text[i], strconv.FormatFloat(n, 'f', -1, 64), true}
	}
	mean, hasMean := v.mean()
	far, hasFar := v.far()
	ready, hasReady := v.waited()
	stopped, hasStopped := v.stopped()
	least, speed := -1.0, -1.0
	if l := v.least(); l != nil {
		least = leastLocality(l.VM)
	}
	if v.speed != nil && v.missing() == 0 {
		speed = v.speed.Mean
	}
	row := pageVM{Label: v.Name, Host: strings.Join(v.hosts(), " → "), Cells: []captureCell{number(1, float64(v.vcpus()), true), number(3, mean, hasMean), number(4, least, true), number(5, far, hasFar),
		number(6, ready, hasReady), number(7, stopped, hasStopped), number(8, float64(v.out.Moves.All), true), number(9, speed, true)}}
	for _, l := range v.lives {
		if id := timeline.VMID(l.rec, l.VM); drawn[id] && row.Drawing == "" {
			row.Drawing = id
		}
	}
	for _, f := range v.findings {
		ref := htmlRuleRef{f.Rule, anchorOf(f.Rule, f.Severity), f.Severity}
		if !slices.Contains(row.Rules, ref) {
			row.Rules = append(row.Rules, ref)
		}
		row.Worst = max(row.Worst, int(f.Severity)+1)
	}
	return row
}
