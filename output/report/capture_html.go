package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/capture"
	"homenode/numa"
	"homenode/output/draw/timeline"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/verdict/recording"
)

var (
	//go:embed capture.tmpl
	captureTemplate string

	capturePage = pageTemplate("capture", captureTemplate)
)

// captureReport is what the page of a capture shows, in its order.
type captureReport struct {
	pageParts
	About       string         // what kind of report it is
	Simulated   *simulatedPage // nil for what was recorded
	When        string
	Drawings    []htmlTimeline // of hosts
	DrawingsCut int
	Drawn       []htmlTimeline // of VMs
	DrawnCut    int
	Predicted   bool // the table has predictions
	Rows        []captureRow
	Footnotes   []string // of the table of VMs
	Hosts       []captureHost
	Nodes       []captureNode
	Open        []captureNotes
	Files       []string
	Read        string // how many, and what of them was not read
	Inventory   string
}

type htmlTimeline struct {
	Label, About string
	SVG          template.HTML
}

// captureRow is one VM of the table.
type captureRow struct {
	Label, Host, Drawing string
	Cells                []captureCell
	Predicted            string
	Rules                []htmlRuleRef
	Worst                int // 0 without findings, else severity + 1
}

// captureCell is a text with the value that it sorts by; "" sorts by the text.
type captureCell struct {
	Text, Value string
	Number      bool
}

type captureHost struct {
	Host                                   string
	VMs, Ticks                             int
	Every, Covered, Without, Moves, States string
}

type captureNode struct {
	Host                                       string
	ID                                         int
	Memory, Mean, Peak, PeakAt, Least, LeastAt string
}

type captureNotes struct {
	Title string
	Notes []numa.Note
}

// CaptureHTML writes judged recordings as one file that needs nothing else, as HTML does a
// fleet: the verdict, what hosts and VMs did over time, and what was found.
func CaptureHTML(w io.Writer, r *rules.Watched, o HTMLOptions) error {
	if o.MostFindings == 0 {
		o.MostFindings = 100 // the table of VMs names them all
	}
	return newCaptured(r).html(w, o.withDefaults())
}

func (c *captured) html(w io.Writer, o HTMLOptions) error {
	p := &captureReport{pageParts: newPageParts(c.judged, o.Version), About: c.words.about}
	p.Title, p.PlaceWord = c.words.title+" "+cmp.Or(c.Source(), "a capture"), "Host"
	p.Verdict, p.Rest = c.verdict()
	p.Read = c.filesText()
	p.Verdict = strings.ReplaceAll(p.Verdict, " %", "\u00a0%") // a heading breaks elsewhere
	if !c.First.IsZero() {
		p.When = recording.Dated(c.First, c.Last)
	}
	drawn, err := p.draw(c, o)
	if err != nil {
		return err
	}
	places := p.group(c.judged, o.MostFindings, func(f *finding.Finding) htmlFinding { return c.htmlFinding(f, drawn) })
	for _, rec := range c.Recordings {
		if places[rec.Host] {
			p.Names = append(p.Names, rec.Host)
		}
	}
	p.rows(c, drawn)
	p.hosts(c)
	p.notes(c)
	if c.sim != nil {
		p.simulated(c, drawn)
	}
	p.dress(timeline.Style)
	return writePage(w, capturePage, p)
}

// htmlFinding names the subject of a finding, and when it held.
func (c *captured) htmlFinding(f *finding.Finding, drawn map[string]bool) htmlFinding {
	h := htmlFinding{Name: f.Host, Place: f.Host}
	rec := c.RecordingOf(f)
	if rec == nil {
		return h
	}
	h.Place = rec.Host
	id := timeline.HostID(rec)
	if f.VM != "" {
		h.Name = f.VM
		if v := c.VMOf(f); v != nil {
			h.Name, id = v.Label, timeline.VMID(rec, v.VM)
		}
	}
	if drawn[id] {
		h.Drawing = id
	}
	switch {
	case f.From.IsZero():
	case f.From.Equal(f.To):
		h.When = c.Clock.At(f.From)
	default:
		h.When = c.Clock.Span(f.From, f.To)
	}
	return h
}

// draw draws the hosts and the VMs with findings, the worst first. It returns the ids of
// the drawings.
func (p *captureReport) draw(c *captured, o HTMLOptions) (map[string]bool, error) {
	drawn := map[string]bool{}
	t := c.drawing()
	t.Inline = true
	var b bytes.Buffer
	for _, rec := range c.WeightedHosts() {
		if len(p.Drawings) == o.MostHosts {
			p.DrawingsCut++
			continue
		}
		b.Reset()
		if err := timeline.DrawHost(&b, rec, t); err != nil {
			return nil, err
		}
		p.Drawings = append(p.Drawings, htmlTimeline{Label: rec.Host, About: rec.Host, SVG: template.HTML(b.String())})
		drawn[timeline.HostID(rec)] = true
	}
	for _, v := range c.Weighted(0) {
		if s, _ := v.Worst(); s == finding.Info {
			continue
		}
		if len(p.Drawn) == o.MostVMs {
			p.DrawnCut++
			continue
		}
		b.Reset()
		if err := timeline.DrawVM(&b, v.Rec, v.VM, t); err != nil {
			return nil, err
		}
		about := v.Findings[0].Rule + ": " + v.Findings[0].Title
		if n := len(v.Findings) - 1; n > 0 {
			about += fmt.Sprintf(", and %s", plural(n, "more finding"))
		}
		p.Drawn = append(p.Drawn, htmlTimeline{Label: v.Label, About: about, SVG: template.HTML(b.String())})
		drawn[timeline.VMID(v.Rec, v.VM)] = true
	}
	return drawn, nil
}

// rows lists all VMs, those that matter first.
func (p *captureReport) rows(c *captured, drawn map[string]bool) {
	for _, v := range c.Weighted(len(c.VMs)) {
		row := captureRow{Label: v.Label, Host: v.Rec.Host, Predicted: predictedText(v), Cells: []captureCell{
			numberCellOf(float64(v.VCPUs), numberText(v.VCPUs)), {Text: homesOf(v.VM)},
		}}
		p.Predicted = p.Predicted || v.InFleet != nil
		low, mean := -1.0, -1.0
		if leastText(v) != "" {
			low, _ = v.LeastLocality()
		}
		if share, ok := rule.MeanLocality(v.VM); ok {
			mean = share
		}
		row.Cells = append(row.Cells, numberCellOf(low, leastText(v)), numberCellOf(mean, meanText(v)), numberCellOf(float64(v.Remote.Most), remoteText(v)),
			numberCellOf(float64(v.Moves.All), migratedText(v.VM)), levelCellOf(v.Ready.Mean, &v.Ready, levelMean), levelCellOf(v.Ready.Peak, &v.Ready, levelPeak),
			levelCellOf(v.CoStop.Peak, &v.CoStop, levelPeak))
		if id := timeline.VMID(v.Rec, v.VM); drawn[id] {
			row.Drawing = id
		}
		for _, f := range v.Findings {
			row.Rules = append(row.Rules, htmlRuleRef{f.Rule, anchorOf(f.Rule, f.Severity), f.Severity})
			row.Worst = max(row.Worst, int(f.Severity)+1)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Footnotes = footnotes(c.VMs)
}

// numberCellOf returns a cell that sorts by a number; what is unknown sorts below all.
func numberCellOf(n float64, text string) captureCell {
	if text == "" {
		n = -1
	}
	return captureCell{dash(text), strconv.FormatFloat(n, 'f', -1, 64), true}
}

func levelCellOf(value func() (float64, bool), l *capture.Level, text func(*capture.Level) string) captureCell {
	share, _ := value()
	return numberCellOf(share, text(l))
}

func (p *captureReport) hosts(c *captured) {
	for _, rec := range c.Recordings {
		p.Hosts = append(p.Hosts, captureHost{rec.Host, recording.CountVMs(c.On(rec)), rec.Ticks, dash(intervalOf(rec)), rule.Duration(rec.Covered), dash(gapText(rec)), dash(movesOf(rec)), dash(statesText(rec))})
		for i := range rec.Nodes {
			n := &rec.Nodes[i]
			p.Nodes = append(p.Nodes, captureNode{rec.Host, n.ID, dash(bytesText(n.Total)), dash(levelMean(&n.Busy)), dash(levelPeak(&n.Busy)), c.Clock.At(n.Busy.At), dash(leastFree(n)), c.Clock.At(n.LeastAt)})
		}
		for _, name := range filesOf(rec) {
			if !slices.Contains(p.Files, name) {
				p.Files = append(p.Files, name)
			}
		}
	}
}

// noteTitles are the headings of notes by where they come from.
var noteTitles = map[string]string{
	"capture": "What the capture lacks, and what could not be read", "simulation": "What could not be simulated", "judgement": "Could not be judged, or not for certain",
}

func (p *captureReport) notes(c *captured) {
	if c.Fleet != nil {
		p.Inventory = c.Fleet.Fleet.Source + ": " + c.joinedText()
	}
	for _, o := range c.judged.open {
		if title := noteTitles[o.from]; title != "" && len(o.list) > 0 {
			p.Open = append(p.Open, captureNotes{title, c.grouped(o.list)})
		}
	}
}
