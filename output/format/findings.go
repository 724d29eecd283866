package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
)

// toneOf returns the tone of a severity.
func toneOf(s finding.Severity) answer.Tone { return answer.Faint + answer.Tone(s) }

// findings prints the number of findings of each rule or, with details, every finding.
func (p *printer) findings(j *answer.Findings) {
	switch {
	case len(j.Findings) == 0 && j.Nothing == "":
		p.line("\nno findings")
	case len(j.Findings) > 0 && (p.o.Details || !j.Watched):
		p.line("")
	}
	if !p.o.Details {
		if !j.Watched { // events describe recordings
			p.first(j)
			p.counts(j)
		}
		return
	}
	for i := range j.Findings {
		f := &j.Findings[i]
		p.finding(j.Subject(f).Name, f)
		if j.Watched {
			p.evidence(f)
		}
	}
	for i := range j.Suppressed {
		s := &j.Suppressed[i]
		p.line("%s %s %s  until %s: %s (%s)", p.paint("suppressed", codes[answer.Faint]), s.Rule, clean(j.Subject(&s.Finding).Name), clean(s.By.Until), clean(s.By.Reason), clean(s.By.At))
	}
}

func clean(s string) string { return texttab.Clean(s) }

// mostAlso is the most further names of a recommended first action.
const mostAlso = 4

// first prints the recommended first actions.
func (p *printer) first(j *answer.Findings) {
	all := j.First()
	if len(all) > 0 {
		p.line("do first")
	}
	for i := range all {
		one, more := &all[i], ""
		if one.Alike > 0 {
			more = "; also " + clean(words.First(mostAlso, one.Also)) + ", each with a cure of its own"
		}
		p.sentence("  ", fmt.Sprintf("%d. %s (%s%s): %s", i+1, one.Subject.Name, one.Rule, more, one.FirstAdvice()), "")
	}
	if len(all) > 0 {
		p.line("")
	}
}

// mostLow is the most rules with findings of one severity below medium that are listed one by one.
const mostLow = 3

// counts prints one line per rule and severity; many of one severity below medium are one line.
func (p *printer) counts(j *answer.Findings) {
	t := texttab.Table{Right: map[int]bool{1: true}, Width: p.o.Width}
	var rules, findings [finding.High + 1]int
	for _, c := range j.Counts() {
		rules[c.Severity]++
		findings[c.Severity] += len(c.Findings)
	}
	for _, c := range j.Counts() {
		if c.Severity < finding.Medium && rules[c.Severity] > mostLow {
			continue
		}
		t.Row(strings.ToUpper(c.Severity.String()), strconv.Itoa(len(c.Findings)), c.Rule.ID, c.Rule.Title, j.Named(c.Findings), answer.Assumed(c.Findings))
		if p.o.Colour {
			t.Paint(0, codes[toneOf(c.Severity)])
		}
	}
	p.write(&t)
	for _, s := range []finding.Severity{finding.Low, finding.Info} {
		if rules[s] > mostLow {
			p.line("%-6s  %s of %d rules: --details lists them", strings.ToUpper(s.String()), words.Plural(findings[s], "finding"), rules[s])
		}
	}
}

func (p *printer) finding(subject string, f *finding.Finding) {
	severity, message := strings.ToUpper(f.Severity.String()), clean(f.Message)
	head := p.paint(severity, codes[toneOf(f.Severity)]) + " " + f.Rule + " " + p.paint(clean(subject), bold)
	if p.o.Width > 0 && texttab.Width(head)+2+texttab.Width(message) > p.o.Width {
		p.line("%s", head)
		p.hanging("    ", message, "")
	} else {
		p.line("%s  %s", head, message)
	}
	said := [3]string{subject, f.Advice, f.Notice}
	switch first := p.said[said]; {
	case f.Advice == "" && f.Notice == "":
	case first != "":
		p.line("    do       as %s", first)
	default:
		if f.Advice != "" {
			p.hanging("    do       ", clean(f.Advice), "")
		}
		if f.Notice != "" {
			p.hanging("    notice   ", clean(f.Notice), "")
		}
		if p.said == nil {
			p.said = map[[3]string]string{}
		}
		p.said[said] = f.Rule
	}
	if len(f.Assumes) > 0 {
		p.hanging("    assumed  ", clean(strings.Join(f.Assumes, "; ")), codes[answer.Faint])
	}
}

// hanging writes a text after a head. On a terminal, continuation lines are aligned with the
// text.
func (p *printer) hanging(head, text, code string) {
	lines := []string{text}
	if p.o.Width > 0 {
		lines = texttab.Wrap(text, max(p.o.Width-len(head), 20))
	}
	for _, line := range lines {
		indent := head[:len(head)-len(strings.TrimLeft(head, " "))]
		p.line("%s%s", indent, p.paint(head[len(indent):]+line, code))
		head = strings.Repeat(" ", len(head))
	}
}

func (p *printer) evidence(f *finding.Finding) {
	if len(f.Evidence) == 0 {
		return
	}
	p.line("    evidence")
	t := texttab.Table{Indent: "      ", Width: p.o.Width}
	for _, e := range f.Evidence {
		t.Row(e.Name, e.Value, e.Origin, e.At)
	}
	p.write(&t)
}

// mostNotes is the maximum number of notes below findings. Files have all notes.
const mostNotes = 8

func (p *printer) notes(a *answer.Answer) {
	notes, more := a.FewNotes(), 0
	if a.Findings != nil && !p.o.Details && len(notes) > mostNotes+1 {
		notes, more = notes[:mostNotes], len(notes)-mostNotes
	}
	if len(notes) > 0 {
		p.heading("notes")
	}
	for _, n := range notes {
		text := n.Text
		if n.At != "" {
			text += " (" + n.At + ")"
		}
		p.sentence("  ", text, "")
	}
	if more > 0 {
		all := "--format json or html"
		if slices.Contains([]string{"assess", "capture", "simulate"}, a.Command) { // these have it
			all = "--details, or " + all
		}
		p.line("  %d more: see %s", more, all)
	}
}

// exit prints the reason for exit code 1.
func (p *printer) exit(j *answer.Findings) {
	if n := j.AtLeast(p.o.FailOn); n > 0 && !j.NoExit {
		p.line("%s", fmt.Sprintf("exit 1: %s at or above %s (--fail-on)", words.Plural(n, "finding"), p.o.FailOn))
	}
}
