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
	fmt.Fprintf(b, "# %s %s\n\n**%s**", c.words().title, mark(cmp.Or(c.source(), "a capture")), mark(verdict))
	if rest != "" {
		fmt.Fprintf(b, " %s", mark(rest))
	}
	if c.sim != nil {
		c.sim.markHead(b, o)
		c.markHappened(b)
		c.sim.markVMs(b, o)
	} else {
		c.markCapture(b, o)
	}
	markFindings(b, c.judged, o)
	markNotes(b, c.judged)
	return b.Flush()
}

// markCapture writes what was recorded: the files, the hosts and the VMs that matter.
func (c *captured) markCapture(b *bufio.Writer, o ExportOptions) {
	fmt.Fprintf(b, "\n\n%s, %s, %s", c.filesText(), plural(len(c.Recordings), "host"), plural(countVMs(c.vms), "VM"))
	if !c.first.IsZero() {
		fmt.Fprintf(b, "; %s", dated(c.first, c.last))
	}
	if o.Version != "" {
		fmt.Fprintf(b, "; homenode %s", mark(o.Version))
	}
	fmt.Fprint(b, ".\n\n## Hosts\n\n")
	t := markTable{b, []string{"Host", "Nodes", "VMs", "Ticks", "Every", "Covered", "Without ticks", "Migrations", "Memory state"}, []bool{1: true, 2: true, 3: true, 7: true, 8: false}}
	t.head()
	for _, rec := range c.Recordings {
		t.row(code(rec.Host), dash(numberText(len(rec.Nodes))), strconv.Itoa(countVMs(c.of(rec))), thousands(rec.Ticks), dash(intervalOf(rec)), rule.Duration(rec.Covered),
			dash(gapText(rec)), dash(movesOf(rec)), dash(statesText(rec)))
	}
	least := 3
	if o.Details {
		least = len(c.vms)
	}
	if vms := c.weighted(least); len(vms) > 0 {
		fmt.Fprint(b, "\n## VMs that matter\n\n")
		t := markTable{b, []string{"VM", "Host", "vCPUs", "Home nodes", "N%L least", "Mean", "Remote at most", "Migrated", "Ready mean", "Max", "Co-stop max", "Predicted", "Found"},
			[]bool{2: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 12: false}}
		t.head()
		for _, v := range vms {
			t.row(code(v.label), code(v.rec.Host), dash(numberText(v.VCPUs)), dash(homesOf(v.VM)), dash(v.leastText()), dash(v.meanText()), dash(v.remoteText()),
				dash(migratedText(v.VM)), dash(levelMean(&v.Ready)), dash(levelPeak(&v.Ready)), dash(levelPeak(&v.CoStop)), dash(v.predicted()), dash(strings.Join(ruleIDs(v.findings), " ")))
		}
		for i, note := range footnotes(vms) {
			if i == 0 {
				fmt.Fprint(b, "\n")
			}
			fmt.Fprintf(b, "- %s\n", mark(note))
		}
		if n := countVMs(c.vms) - countVMs(vms); n > 0 {
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
	p := map[string]any{"source": table.Clean(c.source()), "hosts": len(c.Recordings), "vms": countVMs(c.vms)}
	if c.sim != nil {
		p["simulated"] = true
	}
	if !c.first.IsZero() {
		p["first"], p["last"] = c.first, c.last
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
		s := answer.Suite{Name: rec.Host, Cases: []answer.Case{{Name: "host " + rec.Host, ID: rec.Host, Findings: c.hosts[rec]}}}
		for _, v := range c.of(rec) {
			one := answer.Case{Name: v.label, ID: distinct(v.VM) + " " + strconv.Itoa(len(s.Cases)), Findings: v.findings}
			if !v.HasMemory && !v.HasHomes && !v.HasMoves {
				one.Skipped = c.words().the + " states nothing about NUMA of this VM"
			}
			s.Cases = append(s.Cases, one)
		}
		a.Findings.Suites = append(a.Findings.Suites, s)
	}
	return form.JUnit(w, a, o.form())
}
