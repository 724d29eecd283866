package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/capture"
	"homenode/output/draw/timeline"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
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
func markSimulated(s *recording.Simulation, b *bufio.Writer, o ExportOptions) {
	fmt.Fprintf(b, "\n\n%s, %s; %s; %s", plural(len(s.Story.Fleet.Hosts), "host"), plural(len(s.Order), "VM"), mark(runText(s)), mark(modelText(s)))
	if o.Version != "" {
		fmt.Fprintf(b, "; homenode %s", mark(o.Version))
	}
	fmt.Fprint(b, ". Nothing here was observed.\n")
	if text := assumedText(s); text != "" {
		fmt.Fprintf(b, "\n**Assumed:** %s\n", mark(text))
	}
}

// markHappened tells the story.
func (c *captured) markHappened(b *bufio.Writer) {
	all, left := recording.Shorten(c.sim.Happened(), mostHappened)
	if len(all) == 0 {
		return
	}
	fmt.Fprint(b, "\n## What happened\n\n")
	t := markTable{b, []string{"Time", "Host", "What", "Note"}, make([]bool, 4)}
	t.head()
	for i := range all {
		h := &all[i]
		text := mark(h.Text)
		if h.Event {
			text = "**" + text + "**"
			if h.Followed != "" {
				text += " → " + mark(h.Followed)
			}
		}
		t.row(c.when(h), mark(h.Host), text, mark(h.Note))
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%s left out.\n", plural(left, "line"))
	}
}

// markVMs lists the VMs that matter.
func markSimulatedVMs(s *recording.Simulation, b *bufio.Writer, o ExportOptions) {
	vms, cut := mattering(s, o.Details)
	if len(vms) == 0 {
		return
	}
	fmt.Fprint(b, "\n## VMs that matter\n\n")
	t := markTable{b, []string{"VM", "vCPUs", "Host", "N%L mean", "Least", "Far", "Ready", "Co-stop", "Moves", "Performance", "Found"},
		[]bool{1: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 10: false}}
	t.head()
	for _, v := range vms {
		cells := simCells(v)
		cells[0], cells[2] = code(cells[0]), mark(cells[2])
		for _, i := range []int{9} {
			cells[i] = mark(cells[i])
		}
		t.row(cells...)
	}
	for i, note := range simFootnotes(s, vms) {
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
func drawSimulated(s *recording.Simulation, o *timeline.Options) {
	o.Simulated = true
	o.Events = func(rec *capture.Recording, v *capture.VM) (out []timeline.Event) {
		for _, e := range s.Events(rec, v) {
			out = append(out, timeline.Event(e))
		}
		return out
	}
	o.Speed = func(v *capture.VM) []timeline.Point {
		var out []timeline.Point
		for _, p := range s.LifeSpeed(v) {
			out = append(out, timeline.Point{Time: p.Time, Value: p.Value, Low: p.Low, High: p.High})
		}
		return out
	}
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
	page := &simulatedPage{Run: runText(s), Model: modelText(s), Assumed: assumedText(s)}
	all, left := recording.Shorten(s.Happened(), mostTold)
	page.Left = left
	for i := range all {
		h := &all[i]
		page.Happened = append(page.Happened, pageHappening{c.when(h), h.Host, h.Text, h.Note, h.Followed, h.Event, h.Rules})
	}
	vms := s.Order[:min(len(s.Order), mostListed)]
	page.VMsCut = len(s.Order) - len(vms)
	for _, v := range vms {
		page.VMs = append(page.VMs, pageVMOf(s, v, drawn))
	}
	page.Footnotes = simFootnotes(s, vms)
	p.Simulated = page
}

// mostTold and mostListed are how many lines of the story, and how many VMs, a page has.
const (
	mostTold   = 400
	mostListed = 300
)

func pageVMOf(s *recording.Simulation, v *recording.SimulatedVM, drawn map[string]bool) pageVM {
	text := simCells(v)
	number := func(i int, n float64, ok bool) captureCell {
		if !ok {
			n = -1
		}
		return captureCell{text[i], strconv.FormatFloat(n, 'f', -1, 64), true}
	}
	mean, hasMean := v.Mean()
	far, hasFar := v.Far()
	ready, hasReady := v.Waited()
	stopped, hasStopped := v.Stopped()
	least, speed := -1.0, -1.0
	if l := v.Least(); l != nil {
		least, _ = l.LeastLocality()
	}
	if v.Speed != nil && v.Missing() == 0 {
		speed = v.Speed.Mean
	}
	row := pageVM{Label: v.Name, Host: strings.Join(v.Hosts(), " → "), Cells: []captureCell{number(1, float64(v.VCPUs()), true), number(3, mean, hasMean), number(4, least, true), number(5, far, hasFar),
		number(6, ready, hasReady), number(7, stopped, hasStopped), number(8, float64(v.Out.Moves.All), true), number(9, speed, true)}}
	for _, l := range v.Lives {
		if id := timeline.VMID(l.Rec, l.VM); drawn[id] && row.Drawing == "" {
			row.Drawing = id
		}
	}
	for _, f := range v.Findings {
		ref := htmlRuleRef{f.Rule, anchorOf(f.Rule, f.Severity), f.Severity}
		if !slices.Contains(row.Rules, ref) {
			row.Rules = append(row.Rules, ref)
		}
		row.Worst = max(row.Worst, int(f.Severity)+1)
	}
	return row
}
