package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/finding"
)

// Markdown writes the judged fleet as GitHub Flavored Markdown, for tickets, merge
// requests and the summaries of CI jobs: the verdict, the clusters, how often each
// rule fired, and the findings at or above o.FailOn (with o.Details all).
func Markdown(w io.Writer, r *rules.Result, o ExportOptions) error {
	b := bufio.NewWriterSize(w, 64<<10) // keeps the first error until Flush
	verdict, rest := verdictOf(r)
	fmt.Fprintf(b, "# NUMA of %s\n\n**%s**", mark(r.Fleet.Source), mark(verdict))
	if rest != "" {
		fmt.Fprintf(b, " %s", mark(rest))
	}
	fmt.Fprintf(b, "\n\n%s, %s, %s judged in %s", plural(len(r.Fleet.Hosts), "host"), plural(len(r.Fleet.VMs), "VM"), thousands(r.VMs), predictions(r.Pairs))
	if r.Fleet.Collected != "" {
		fmt.Fprintf(b, "; collected %s", mark(r.Fleet.Collected))
	}
	if o.Version != "" {
		fmt.Fprintf(b, "; homenode %s", mark(o.Version))
	}
	fmt.Fprint(b, ".\n\n## Clusters\n\n")
	t := markTable{b, []string{"Cluster", "Hosts", "Node", "VMs", "Wide", "Guest blind", "Too big", "Fits everywhere"}, []bool{1: true, 3: true, 4: true, 5: true, 6: true, 7: false}}
	t.head()
	for _, s := range r.Summaries() {
		t.row(code(ClusterTitle(s.Cluster)), strconv.Itoa(len(s.Cluster.Hosts)), mark(paragraph(nodeText(s.Cluster))), strconv.Itoa(len(s.Cluster.VMs)),
			strconv.Itoa(s.Wide), strconv.Itoa(s.Blind), strconv.Itoa(s.TooBig), mark(fits(&s)))
	}
	j := judgedFleet(newIndex(r))
	markFindings(b, j, o)
	markNotes(b, j)
	return b.Flush()
}

func markFindings(b *bufio.Writer, j *judged, o ExportOptions) {
	fmt.Fprint(b, "\n## Findings\n\n")
	if len(j.Findings) == 0 {
		fmt.Fprint(b, "None.\n")
		return
	}
	t := markTable{b, []string{"Severity", "Count", "Rule", "What", "Where"}, []bool{1: true, 4: false}}
	t.head()
	for _, c := range j.Counts() {
		t.row(severityOf(c.Severity), strconv.Itoa(len(c.Findings)), c.Rule.ID, mark(c.Rule.Title), code(j.subjects(c.Findings)))
	}
	least := o.FailOn
	if o.Details {
		least = finding.Info
	}
	n := j.AtLeast(least)
	if n == 0 {
		fmt.Fprintf(b, "\nNone at or above %s.\n", least)
		return
	}
	fmt.Fprintf(b, "\n### %s at or above %s\n\n", plural(n, "finding"), least)
	t = markTable{b, []string{"Severity", "Rule", "Subject", "Finding", "Do"}, make([]bool, 5)}
	t.head()
	for i := range j.Findings {
		f := &j.Findings[i]
		if f.Severity < least {
			continue
		}
		message := mark(f.Message)
		if len(f.Assumes) > 0 {
			message += " (assumed: " + mark(strings.Join(f.Assumes, "; ")) + ")"
		}
		t.row(severityOf(f.Severity), f.Rule, code(j.subject(f)), message, mark(f.Advice))
	}
}

func severityOf(s finding.Severity) string {
	if s >= finding.Medium {
		return "**" + s.String() + "**"
	}
	return s.String()
}

func markNotes(b *bufio.Writer, j *judged) {
	for _, part := range []struct {
		title string
		list  []numa.Note
	}{{"Suppressed", j.SuppressedBy()}, {"Notes", j.notes()}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", part.title)
		for _, n := range part.list {
			fmt.Fprintf(b, "- %s\n", mark(n.String()))
		}
	}
}

// markTable writes a table of GitHub Flavored Markdown; its cells are escaped.
type markTable struct {
	b      *bufio.Writer
	header []string
	right  []bool
}

func (t *markTable) head() {
	t.row(t.header...)
	for i := range t.header {
		if t.right[i] {
			fmt.Fprint(t.b, "|---:")
		} else {
			fmt.Fprint(t.b, "|---")
		}
	}
	fmt.Fprint(t.b, "|\n")
}

func (t *markTable) row(cells ...string) {
	fmt.Fprintf(t.b, "| %s |\n", strings.Join(cells, " | "))
}

// markEscape takes from text what Markdown gives a meaning. A mention, a reference
// and an address would become links of their own: an empty comment keeps them text.
var markEscape = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`,
	"@", "@<!-- -->", "#", `\#<!-- -->`, "://", ":<!-- -->//", "www.", "www<!-- -->.", "$", `\$`,
)

// mark returns s as text of Markdown, on one line.
func mark(s string) string { return markEscape.Replace(table.Clean(s)) }

// code returns a name as a code span: nothing in it has a meaning but, in a table,
// the bar.
func code(s string) string {
	s = strings.ReplaceAll(table.Clean(s), "|", `\|`)
	if strings.TrimSpace(s) == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}
