package format

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
)

// Bounds of a comment: fifteen lines, of which a reader of a merge request reads the first.
const (
	commentLines    = 15
	commentSees     = 4
	commentFindings = 3
)

// Comment writes the answer as a comment on a merge request, of at most 15 lines: the verdict, what guests will see, what is wrong, and the
// lines to change.
func Comment(w io.Writer, a *answer.Answer, o Options) error {
	j := a.Findings
	if j == nil {
		return fmt.Errorf("%s has no findings", a.Command)
	}
	var lines []string
	for i, line := range a.Verdict[:min(2, len(a.Verdict))] {
		if line = Mark(line); i == 0 {
			line = "**" + line + "**"
		}
		lines = append(lines, line)
	}
	if t := tableNamed(a, "planned"); t != nil {
		vm := ""
		for _, row := range t.Rows[:min(commentSees, len(t.Rows))] {
			if row[0].Text != "" {
				vm = row[0].Text
			}
			if row[4].Text == "" { // it is not judged, which the verdict says
				continue
			}
			lines = append(lines, fmt.Sprintf("- %s on %s: the guest sees %s", code(vm), code(row[4].Text), Mark(row[6].Text)))
		}
		lines = append(lines, more(len(t.Rows)-commentSees, "placement")...)
	}
	n := j.AtLeast(o.FailOn)
	for i := range j.Findings[:min(n, commentFindings)] {
		f := &j.Findings[i]
		lines = append(lines, fmt.Sprintf("- %s %s %s: %s", markSeverity(f.Severity), f.Rule, code(j.Subject(f).Name), Mark(f.Message)))
	}
	lines = append(lines, more(n-commentFindings, "finding")...)
	lines = append(lines, toChange(tableNamed(a, "changes"), commentLines-len(lines))...)
	_, err := io.WriteString(w, strings.Join(lines[:min(commentLines, len(lines))], "\n")+"\n")
	return err
}

// toChange returns the lines to change as a block of code, in at most so many lines.
func toChange(t *answer.Table, room int) []string {
	const fences = 3
	if t == nil || room <= fences || len(t.Rows) == 0 {
		return nil
	}
	out := []string{"```"}
	n := min(room-fences, len(t.Rows))
	for _, row := range t.Rows[:n] {
		out = append(out, strings.ReplaceAll(texttab.Line(row[2].Text+"  # "+row[0].Text+", "+row[1].Text), "```", "'''"))
	}
	out = append(out, "```")
	return append(out, more(len(t.Rows)-n, "line")...)
}

// more says how many are left out.
func more(n int, noun string) []string {
	if n <= 0 {
		return nil
	}
	return []string{"- and " + words.Plural(n, "more "+noun)}
}

// tableNamed returns the table of the answer with this name; nil for none.
func tableNamed(a *answer.Answer, name string) *answer.Table {
	i := slices.IndexFunc(a.Tables, func(t answer.Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Tables[i]
}
