package format

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
)

// Markdown writes the answer as GitHub Flavored Markdown, for tickets, merge requests and
// summaries of CI jobs. It includes findings at or above o.FailOn, or all with o.Details.
func Markdown(w io.Writer, a *answer.Answer, o Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", Mark(cmp.Or(a.Title, a.Question, "homenode "+a.Command)))
	for i, line := range a.Verdict {
		if i == 0 {
			line = "**" + Mark(line) + "**"
		} else {
			line = Mark(line)
		}
		fmt.Fprintf(&b, "%s\n\n", line)
	}
	for _, f := range a.Facts {
		fmt.Fprintf(&b, "- %s: %s\n", Mark(f.Name), Mark(f.Text))
	}
	if len(a.Facts) > 0 {
		b.WriteByte('\n')
	}
	for _, t := range a.AllTables() {
		if !t.Long {
			markTable(&b, a.HeadingOf(&t), &t)
		}
	}
	if a.Findings != nil {
		markFindings(&b, a.Findings, o)
		markNotes(&b, "Suppressed", a.Findings.SuppressedBy())
		if len(a.Notes) > 0 {
			b.WriteString("## Notes\n\n")
		}
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "- %s\n", Mark(n.String()))
	}
	if o.Version != "" {
		fmt.Fprintf(&b, "\nMade by homenode %s.\n", Mark(o.Version))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markTable(b *strings.Builder, heading string, t *answer.Table) {
	if heading != "" {
		fmt.Fprintf(b, "## %s\n\n", Mark(heading))
	}
	var head, rule strings.Builder
	for _, c := range t.Columns {
		head.WriteString("| " + Mark(c.Name) + " ")
		if c.Right {
			rule.WriteString("|--:")
		} else {
			rule.WriteString("|---")
		}
	}
	fmt.Fprintf(b, "%s|\n%s|\n", head.String(), rule.String())
	for _, row := range t.Rows {
		for _, cell := range row {
			b.WriteString("| " + Mark(cell.Text) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	if t.Cut != "" {
		fmt.Fprintf(b, "%s\n\n", Mark(t.Cut))
	}
	for _, s := range t.Foot {
		fmt.Fprintf(b, "- %s\n", Mark(s))
	}
	if len(t.Foot) > 0 {
		b.WriteString("\n")
	}
}

func markFindings(b *strings.Builder, j *answer.Findings, o Options) {
	b.WriteString("## Findings\n\n")
	if len(j.Findings) == 0 {
		b.WriteString("None.\n\n")
		return
	}
	b.WriteString("| Severity | Count | Rule | What | Where |\n|---|--:|---|---|---|\n")
	markRow := func(cells ...string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	for _, c := range j.Counts() {
		markRow(markSeverity(c.Severity), strconv.Itoa(len(c.Findings)), c.Rule.ID, Mark(c.Rule.Title), code(j.Named(c.Findings)))
	}
	b.WriteString("\n")
	least := o.FailOn
	if o.Details {
		least = finding.Info
	}
	n := j.AtLeast(least)
	if n == 0 {
		fmt.Fprintf(b, "None at or above %s.\n\n", least)
		return
	}
	fmt.Fprintf(b, "### %s at or above %s\n\n| Severity | Rule | Subject | Finding | Do |\n|---|---|---|---|---|\n", words.Plural(n, "finding"), least)
	for i := range j.Findings {
		f := &j.Findings[i]
		if f.Severity < least {
			continue
		}
		message := Mark(f.Message)
		if len(f.Assumes) > 0 {
			message += " (assumed: " + Mark(strings.Join(f.Assumes, "; ")) + ")"
		}
		markRow(markSeverity(f.Severity), f.Rule, code(j.Subject(f).Name), message, Mark(f.Advice))
	}
	b.WriteString("\n")
}

func markSeverity(s finding.Severity) string {
	if s >= finding.Medium {
		return "**" + s.String() + "**"
	}
	return s.String()
}

func markNotes(b *strings.Builder, title string, notes []numa.Note) {
	if len(notes) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n", title)
	for _, n := range notes {
		fmt.Fprintf(b, "- %s\n", Mark(n.String()))
	}
	b.WriteString("\n")
}

// markEscape escapes the special characters of Markdown. It inserts an empty comment into
// mentions, references and addresses, which would otherwise become links.
var markEscape = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`,
	"@", "@<!-- -->", "#", `\#<!-- -->`, "://", ":<!-- -->//", "www.", "www<!-- -->.", "$", `\$`,
)

// Mark returns untrusted text on one line of Markdown, without markup.
func Mark(s string) string { return markEscape.Replace(texttab.Line(s)) }

// code returns a name as a code span. In a table, only the bar needs escaping in it.
func code(s string) string {
	s = strings.ReplaceAll(texttab.Line(s), "|", `\|`)
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
