package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/capture"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/verdict/recording"
)

// CaptureOptions say how Capture writes.
type CaptureOptions struct {
	Colour  bool
	Details bool // every finding with advice and evidence, and every VM with one
	FailOn  finding.Severity
	Read    time.Duration // 0 leaves the time out
	// SourceWords are the files, and the options that name sources, as the user typed them,
	// for the next commands.
	SourceWords []string
}

// mostRows is how many hosts, VMs or nodes the overview lists, the worst first.
const mostRows = 15

// shown returns the rows of the overview and says what it leaves out.
func shown[T any](rows []T, noun string, o CaptureOptions) (first []T, cut string) {
	if n := len(rows) - mostRows; n > 1 && !o.Details {
		return rows[:mostRows], fmt.Sprintf("%s more %ss: --details", thousands(n), noun)
	}
	return rows, ""
}

// cut says what a table leaves out.
func (p *printer) cut(text string) {
	if text != "" {
		p.printf("%s\n", text)
	}
}

// Capture writes what was found in recordings for a terminal: was it NUMA, which VMs, when
// and why.
func Capture(w io.Writer, r *rules.Watched, o CaptureOptions) error {
	p := &printer{w: w, colour: o.Colour}
	c := newCaptured(r)
	p.captureHead(c, o)
	p.captureHosts(c, o)
	p.captureVMs(c, o)
	p.captureNodes(c, o)
	if len(c.Findings) > 0 {
		p.printf("\n")
	}
	if o.Details {
		p.captureDetails(c)
	} else {
		p.counts(c.judged)
	}
	p.someNotes(c.grouped(c.judged.notes()), "json or html")
	p.captureNext(c, o)
	return p.err
}

func (p *printer) captureHead(c *captured, o CaptureOptions) {
	verdict, rest := c.verdict()
	p.printf("%s\n", p.paint(bold, verdict))
	if rest != "" {
		p.printf("%s\n", rest)
	}
	p.printf("\n")
	ticks := 0
	for _, rec := range c.Recordings {
		ticks += rec.Ticks
	}
	t := texttab.Table{}
	read := []string{c.filesText(), plural(len(c.Recordings), "host"), plural(recording.CountVMs(c.VMs), "VM"), plural(ticks, "tick")}
	if !c.First.IsZero() {
		read = append(read, recording.Dated(c.First, c.Last))
	}
	t.Row("read", strings.Join(read, " · "), elapsed(o.Read))
	if f := c.Fleet; f != nil {
		t.Row("inventory", fmt.Sprintf("%s · %s", f.Fleet.Source, c.joinedText()))
	}
	if c.Policy != nil {
		t.Row("config", c.Policy.File+policyText(&c.Judgement))
	}
	if n := len(c.Suppressed); n > 0 {
		t.Row("suppressed", strconv.Itoa(n))
	}
	p.table(&t)
}

// filesText counts the files, and says what of them was not read:
// "2 files (1 not to its end, 3 rows left out)".
func (c *captured) filesText() string {
	byName := map[string]capture.File{}
	for _, rec := range c.Recordings {
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
	var less []string
	if c.Unread > 0 {
		less = append(less, fmt.Sprintf("%d not at all", c.Unread))
	}
	if cut > 0 {
		less = append(less, fmt.Sprintf("%d not to %s end", cut, possessive(cut)))
	}
	if left > 0 {
		less = append(less, plural(left, "row")+" left out")
	}
	text := plural(files+c.Unread, "file")
	if len(less) > 0 {
		text += " (" + strings.Join(less, ", ") + ")"
	}
	return text
}

func possessive(n int) string {
	if n == 1 {
		return "its"
	}
	return "their"
}

// joinedText says how many of the recorded VMs the inventory holds.
func (c *captured) joinedText() string {
	var found []*recording.VM
	for _, v := range c.VMs {
		if v.InFleet != nil {
			found = append(found, v)
		}
	}
	return fmt.Sprintf("holds %d of %s", recording.CountVMs(found), plural(recording.CountVMs(c.VMs), "VM"))
}

func (p *printer) captureHosts(c *captured, o CaptureOptions) {
	if len(c.Recordings) == 0 {
		return
	}
	hosts, cut := shown(c.WeightedHosts(), "host", o)
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 7: true}}
	t.Row("HOST", "NODES", "VMS", "TICKS", "EVERY", "COVERED", "WITHOUT TICKS", "MIGRATIONS", "MEMORY STATE")
	for _, rec := range hosts {
		t.Row(rec.Host, dash(numberText(len(rec.Nodes))), strconv.Itoa(recording.CountVMs(c.On(rec))), thousands(rec.Ticks), dash(intervalOf(rec)), rule.Duration(rec.Covered),
			dash(gapText(rec)), dash(movesOf(rec)), dash(statesText(rec)))
	}
	p.printf("\n")
	p.table(&t)
	p.cut(cut)
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func movesOf(rec *capture.Recording) string {
	if !slices.ContainsFunc(rec.VMs, func(v capture.VM) bool { return v.HasMoves }) {
		return ""
	}
	return thousands(int(rec.Moves.Total))
}

// statesText says how long the host was in which memory state: "high, soft for 15 min".
func statesText(rec *capture.Recording) string {
	if !rec.HasStates {
		return ""
	}
	var parts []string
	for i, d := range rec.States {
		if d == 0 {
			continue
		}
		text := numa.MemoryState(i).String()
		if numa.MemoryState(i) > numa.High {
			text += " for " + rule.Duration(d)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (p *printer) captureVMs(c *captured, o CaptureOptions) {
	least := 3
	if o.Details {
		least = len(c.VMs)
	}
	vms, _ := shown(c.Weighted(least), "VM", o)
	if len(vms) == 0 {
		return
	}
	several, predicted := len(c.Recordings) > 1, slices.ContainsFunc(vms, func(v *recording.VM) bool { return v.InFleet != nil })
	header := []string{"VM", "VCPU", "HOME NODES", "N%L LEAST", "MEAN", "REMOTE MAX", "MIGRATED", "READY MEAN", "MAX", "CO-STOP MAX"}
	right := map[int]bool{1: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true}
	if several {
		header = slices.Insert(header, 1, "HOST")
		right = map[int]bool{2: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true}
	}
	if predicted {
		header = append(header, "PREDICTED")
	}
	t := texttab.Table{Right: right}
	t.Row(append(header, "FOUND")...)
	for _, v := range vms {
		row := []string{v.Label, dash(numberText(v.VCPUs)), dash(homesOf(v.VM)), dash(leastText(v)), dash(meanText(v)), dash(remoteText(v)), dash(migratedText(v.VM)),
			dash(levelMean(&v.Ready)), dash(levelPeak(&v.Ready)), dash(levelPeak(&v.CoStop))}
		if several {
			row = slices.Insert(row, 1, v.Rec.Host)
		}
		if predicted {
			row = append(row, dash(predictedText(v)))
		}
		t.Row(append(row, dash(strings.Join(ruleIDs(v.Findings), " ")))...)
		if s, ok := v.Worst(); ok && p.colour {
			t.Paint(len(header), severityCode[s])
		}
	}
	p.printf("\n")
	p.table(&t)
	p.cut(c.moreVMs(vms))
	for _, note := range footnotes(vms) {
		p.printf("%s\n", note)
	}
}

// moreVMs says how many VMs a table leaves out.
func (c *captured) moreVMs(shown []*recording.VM) string {
	var rest, with []*recording.VM
	for _, v := range c.VMs {
		if slices.Contains(shown, v) {
			continue
		}
		if rest = append(rest, v); len(v.Findings) > 0 {
			with = append(with, v)
		}
	}
	switch n, found := recording.CountVMs(rest), recording.CountVMs(with); {
	case n == 0:
		return ""
	case found == 0:
		return fmt.Sprintf("and %s without findings: --details", plural(n, "more VM"))
	default:
		return fmt.Sprintf("and %s, %d of them with findings: --details", plural(n, "more VM"), found)
	}
}

// captureNodes lists the NUMA nodes of the hosts.
func (p *printer) captureNodes(c *captured, o CaptureOptions) {
	type node struct {
		host string
		*capture.Node
	}
	var nodes []node
	for _, rec := range c.WeightedHosts() {
		for i := range rec.Nodes {
			nodes = append(nodes, node{rec.Host, &rec.Nodes[i]})
		}
	}
	nodes, cut := shown(nodes, "node", o)
	if len(nodes) == 0 {
		return
	}
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 6: true}}
	t.Row("HOST", "NODE", "MEMORY", "BUSY MEAN", "PEAK", "AT", "LEAST FREE", "AT")
	for _, one := range nodes {
		t.Row(one.host, strconv.Itoa(one.ID), dash(bytesText(one.Total)), dash(levelMean(&one.Busy)), dash(levelPeak(&one.Busy)), dash(c.Clock.At(one.Busy.At)),
			dash(leastFree(one.Node)), dash(c.Clock.At(one.LeastAt)))
	}
	p.printf("\n")
	p.table(&t)
	p.cut(cut)
}

// captureDetails prints every finding with its evidence.
func (p *printer) captureDetails(c *captured) {
	for i := range c.Findings {
		f := &c.Findings[i]
		p.finding(c.judged, f)
		if len(f.Evidence) > 0 {
			t := texttab.Table{Indent: "      "}
			for _, e := range f.Evidence {
				t.Row(e.Name, e.Value, e.Origin, e.At)
			}
			p.printf("    evidence\n")
			p.table(&t)
		}
	}
	p.accepted(c.judged)
}

func (p *printer) captureNext(c *captured, o CaptureOptions) {
	var words []string
	for _, w := range o.SourceWords {
		words = append(words, shellQuote(w))
	}
	source := strings.Join(words, " ")
	t := texttab.Table{}
	next := func(command string) {
		label := "next"
		if t.Len() > 0 {
			label = ""
		}
		t.Row(label, command)
	}
	if len(c.Findings) > 0 && !o.Details {
		next("homenode capture " + source + " --details")
	}
	if len(c.VMs) > 0 {
		next("homenode capture " + source + " --format html -o report.html")
	}
	if c.Fleet == nil && len(c.VMs) > 0 {
		next("homenode capture " + source + " --fleet SOURCE")
	}
	if t.Len() > 0 {
		p.printf("\n")
		p.table(&t)
	}
	if n := c.AtLeast(o.FailOn); n > 0 {
		p.printf("exit 1: %s at or above %s (--fail-on)\n", rule.Plural(n, "finding"), o.FailOn)
	}
}
