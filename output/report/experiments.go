package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"homenode/internal/texttab"
	"homenode/measure/experiment"
)

// Experiments writes each figure of published experiments beside what the model says.
func Experiments(w io.Writer, results []*experiment.Result, colour bool) error {
	p := &printer{w: w, colour: colour}
	for _, r := range results {
		c := r.Case
		p.printf("%s: %s\n  %s\n", c.ID, c.Title, c.Source)
		for _, a := range c.Assumed {
			for _, line := range folded("assumed: "+a, assumedWidth) {
				p.printf("  %s\n", line)
			}
		}
		t := texttab.Table{Indent: "  "}
		for i := range r.Rows {
			row := &r.Rows[i]
			t.Row(row.Verdict.String(), row.Figure.ID, row.Figure.What)
			if code, ok := verdictCode[row.Verdict]; ok && colour {
				t.Paint(0, code)
			}
			t.Row("", "", "  published  "+row.Published())
			if row.Model != "" {
				t.Row("", "", "  model      "+row.Model)
			}
			for _, note := range notes(row) {
				for _, line := range folded(plainLinks.ReplaceAllString(note, "docs/$1"), noteWidth) {
					t.Row("", "", "  "+line)
				}
			}
		}
		p.printf("\n")
		p.table(&t)
		p.printf("\n")
	}
	p.printf("%s\n", experiment.Count(results))
	return p.err
}

// How wide text is on a terminal of 120 columns; notes stand beside verdict and id.
const (
	noteWidth    = 90
	assumedWidth = 115
)

// plainLinks are links as the pages of docs/ write them.
var plainLinks = regexp.MustCompile(`\[[a-z]+\]\(([a-z-]+\.md)\)`)

// folded breaks text into lines of at most width runes, at blanks.
func folded(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = "  " + word
			continue
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

var verdictCode = map[experiment.Verdict]string{experiment.Miss: severityCode[2]}

// notes are what a reader has to know of a figure beside its numbers.
func notes(r *experiment.Row) []string {
	var out []string
	f := r.Figure
	for _, n := range []struct{ before, text string }{
		{"", f.Input}, {"", f.Unmodelled}, {"tolerance: ", f.Because}, {"fitted: ", f.Fitted}, {"", f.Why},
	} {
		if n.text != "" {
			out = append(out, n.before+n.text)
		}
	}
	for _, o := range r.Against() {
		out = append(out, fmt.Sprintf("if %s: %s, %s", o.Variant, o.Model, o.Verdict))
	}
	return out
}

type experimentsJSON struct {
	Format      string           `json:"format"`
	Version     int              `json:"version"`
	Figures     int              `json:"figures"`
	Reproduced  int              `json:"reproduced"`
	Missed      int              `json:"missed"`
	Fitted      int              `json:"reproducedFitted"`
	Depends     int              `json:"reproducedDepends"`
	Inputs      int              `json:"inputs"`
	NotModelled int              `json:"notModelled"`
	Cases       []experimentJSON `json:"cases"`
}

type experimentJSON struct {
	ID      string       `json:"id"`
	Title   string       `json:"title"`
	Source  string       `json:"source"`
	Assumed []string     `json:"assumed"`
	Figures []figureJSON `json:"figures"`
}

type figureJSON struct {
	ID        string      `json:"id"`
	What      string      `json:"what"`
	Published string      `json:"published"`
	Model     string      `json:"model,omitempty"`
	Verdict   string      `json:"verdict"`
	Notes     []string    `json:"notes"`
	Variants  []otherJSON `json:"variants"`
}

type otherJSON struct {
	Variant string `json:"variant"`
	Model   string `json:"model"`
	Verdict string `json:"verdict"`
}

// ExperimentsJSON writes what Experiments does, with every variant, as JSON.
func ExperimentsJSON(w io.Writer, results []*experiment.Result) error {
	s := experiment.Count(results)
	out := experimentsJSON{
		Format: "homenode-experiments", Version: JSONVersion, Figures: s.Figures, Reproduced: s.Reproduced, Missed: s.Missed,
		Fitted: s.Fitted, Depends: s.Depends, Inputs: s.Inputs, NotModelled: s.NotModelled, Cases: []experimentJSON{},
	}
	for _, r := range results {
		c := experimentJSON{ID: r.Case.ID, Title: r.Case.Title, Source: r.Case.Source, Assumed: orEmpty(r.Case.Assumed)}
		for i := range r.Rows {
			row := &r.Rows[i]
			f := figureJSON{
				ID: row.Figure.ID, What: row.Figure.What, Published: row.Published(), Model: row.Model,
				Verdict: row.Verdict.String(), Notes: orEmpty(notes(row)), Variants: []otherJSON{},
			}
			for _, o := range row.Others {
				f.Variants = append(f.Variants, otherJSON{o.Variant, o.Model, o.Verdict.String()})
			}
			c.Figures = append(c.Figures, f)
		}
		out.Cases = append(out.Cases, c)
	}
	return writeJSON(w, &out)
}

// ExperimentsMarkdown returns the tables of docs/published-simulations.md.
func ExperimentsMarkdown(results []*experiment.Result) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "**%s**\n\n| case | what | figures | reproduced | missed | inputs | not modelled |\n|---|---|---|---|---|---|---|\n", experiment.Count(results))
	for _, r := range results {
		s := experiment.Count([]*experiment.Result{r})
		fmt.Fprintf(&b, "| [%s](#%s) | %s |", r.Case.ID, strings.ToLower(r.Case.ID), cell(r.Case.Title))
		for _, n := range []int{s.Figures, s.Reproduced, s.Missed, s.Inputs, s.NotModelled} {
			b.WriteString(" " + strconv.Itoa(n) + " |")
		}
		b.WriteString("\n")
	}
	for _, r := range results {
		c := r.Case
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\nSource: %s.\n", c.ID, c.Title, c.Source)
		if len(c.Assumed) > 0 {
			b.WriteString("\nAssumed, for no source states it:\n\n")
		}
		for _, a := range c.Assumed {
			fmt.Fprintf(&b, "- %s\n", a)
		}
		b.WriteString("\n| id | figure | published | model | verdict | notes |\n|---|---|---|---|---|---|\n")
		for i := range r.Rows {
			row := &r.Rows[i]
			verdict := row.Verdict.String()
			if row.Verdict == experiment.Miss {
				verdict = "**miss**"
			}
			for j, text := range []string{row.Figure.ID, row.Figure.What, row.Published(), row.Model, verdict, strings.Join(notes(row), "<br>")} {
				if text == "" {
					text = "–"
				}
				if j == 0 {
					b.WriteString("|")
				}
				b.WriteString(" " + cell(text) + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// cell escapes text for a cell of a Markdown table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
