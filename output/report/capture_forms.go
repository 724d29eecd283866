package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"homenode/output/answer"
	"homenode/output/form"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/rules/verdict/recording"
)

// CaptureMarkdown writes judged recordings as GitHub Flavored Markdown: the verdict, the
// hosts, the VMs that matter, how often each rule fired, and the findings at or above
// o.FailOn (with o.Details all).
func CaptureMarkdown(w io.Writer, r *rules.Watched, o ExportOptions) error {
	return newCaptured(r).markdown(w, o)
}

func (c *captured) markdown(w io.Writer, o ExportOptions) error {
	b := bufio.NewWriterSize(w, 64<<10) // keeps the first error until Flush
	verdict, rest := c.verdict()
	fmt.Fprintf(b, "# %s %s\n\n**%s**", c.words.title, mark(cmp.Or(c.Source(), "a capture")), mark(verdict))
	if rest != "" {
		fmt.Fprintf(b, " %s", mark(rest))
	}
	if c.sim != nil {
		markSimulated(c.sim, b, o)
		c.markHappened(b)
		markSimulatedVMs(c.sim, b, o)
	} else {
		c.markCapture(b, o)
	}
	markFindings(b, c.judged, o)
	markNotes(b, c.judged)
	return b.Flush()
}

// markCapture writes what was recorded: the files, the hosts and the VMs that matter.
func (c *captured) markCapture(b *bufio.Writer, o ExportOptions) {
	fmt.Fprintf(b, "\n\n%s, %s, %s", c.filesText(), plural(len(c.Recordings), "host"), plural(recording.CountVMs(c.VMs), "VM"))
	if !c.First.IsZero() {
		fmt.Fprintf(b, "; %s", recording.Dated(c.First, c.Last))
	}
	if o.Version != "" {
		fmt.Fprintf(b, "; homenode %s", mark(o.Version))
	}
	fmt.Fprint(b, ".\n\n## Hosts\n\n")
	t := markTable{b, []string{"Host", "Nodes", "VMs", "Ticks", "Every", "Covered", "Without ticks", "Migrations", "Memory state"}, []bool{1: true, 2: true, 3: true, 7: true, 8: false}}
	t.head()
	for _, rec := range c.Recordings {
		t.row(code(rec.Host), dash(numberText(len(rec.Nodes))), strconv.Itoa(recording.CountVMs(c.On(rec))), thousands(rec.Ticks), dash(intervalOf(rec)), rule.Duration(rec.Covered),
			dash(gapText(rec)), dash(movesOf(rec)), dash(statesText(rec)))
	}
	least := 3
	if o.Details {
		least = len(c.VMs)
	}
	if vms := c.Weighted(least); len(vms) > 0 {
		fmt.Fprint(b, "\n## VMs that matter\n\n")
		t := markTable{b, []string{"VM", "Host", "vCPUs", "Home nodes", "N%L least", "Mean", "Remote at most", "Migrated", "Ready mean", "Max", "Co-stop max", "Predicted", "Found"},
			[]bool{2: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 12: false}}
		t.head()
		for _, v := range vms {
			t.row(code(v.Label), code(v.Rec.Host), dash(numberText(v.VCPUs)), dash(homesOf(v.VM)), dash(leastText(v)), dash(meanText(v)), dash(remoteText(v)),
				dash(migratedText(v.VM)), dash(levelMean(&v.Ready)), dash(levelPeak(&v.Ready)), dash(levelPeak(&v.CoStop)), dash(predictedText(v)), dash(strings.Join(ruleIDs(v.Findings), " ")))
		}
		for i, note := range footnotes(vms) {
			if i == 0 {
				fmt.Fprint(b, "\n")
			}
			fmt.Fprintf(b, "- %s\n", mark(note))
		}
		if n := recording.CountVMs(c.VMs) - recording.CountVMs(vms); n > 0 {
			fmt.Fprintf(b, "\nAnd %s without findings.\n", plural(n, "more VM"))
		}
	}
}

// CaptureSARIF writes judged recordings as SARIF 2.1.0, as SARIF does a fleet. The place of
// a finding is the file that holds the time at which it began to hold.
func CaptureSARIF(w io.Writer, r *rules.Watched, o ExportOptions) error {
	return newCaptured(r).sarif(w, o)
}

func (c *captured) sarif(w io.Writer, o ExportOptions) error {
	p := map[string]any{"source": table.Clean(c.Source()), "hosts": len(c.Recordings), "vms": recording.CountVMs(c.VMs)}
	if c.sim != nil {
		p["simulated"] = true
	}
	if !c.First.IsZero() {
		p["first"], p["last"] = c.First, c.Last
	}
	a := c.judged.answer()
	a.Findings.Properties = p
	return form.SARIF(w, a, o.form())
}

// CaptureJUnit writes judged recordings as a JUnit report: a suite for each host, a test
// for it and for each of its VMs, and before them one for the files, which carries the
// notes.
func CaptureJUnit(w io.Writer, r *rules.Watched, o ExportOptions) error {
	return newCaptured(r).junit(w, o)
}

func (c *captured) junit(w io.Writer, o ExportOptions) error {
	a := c.judged.answer()
	a.Simulated = c.sim != nil
	for _, rec := range c.Recordings {
		s := answer.Suite{Name: rec.Host, Cases: []answer.Case{{Name: "host " + rec.Host, ID: rec.Host, Findings: c.OfHost[rec]}}}
		for _, v := range c.On(rec) {
			one := answer.Case{Name: v.Label, ID: v.Distinct() + " " + strconv.Itoa(len(s.Cases)), Findings: v.Findings}
			if !v.States() {
				one.Skipped = c.Words.The + " states nothing about NUMA of this VM"
			}
			s.Cases = append(s.Cases, one)
		}
		a.Findings.Suites = append(a.Findings.Suites, s)
	}
	return form.JUnit(w, a, o.form())
}
