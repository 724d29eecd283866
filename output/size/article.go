package size

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"homenode/numa/datafile"
	"homenode/numa/unit"
	"homenode/output/form"
)

// article is what is known of the article as a whole.
//
//go:embed *.txt
var article embed.FS

// ArticleExperiments are those of the article, as the record numbers them, with the command
// that rests on each.
var ArticleExperiments = datafile.Must[struct{ ID, What, Command string }](article, "experiments.txt")

// ArticleContradictions are the points in which the article does not agree with itself.
var ArticleContradictions = datafile.Must[struct{ ID, Experiments, Text string }](article, "contradictions.txt")

// ArticlePage returns the page of all figures of the article that a sum reproduces, in
// Markdown: how many come out, each figure, and where the article contradicts itself.
// Checks of other articles are left out.
func ArticlePage(all []unit.Check) []byte {
	checks := slices.DeleteFunc(slices.Clone(all), func(c unit.Check) bool { return !strings.HasPrefix(c.ID, "b-") })
	var b bytes.Buffer
	b.WriteString("# Published figures on capacity, computed again\n\n")
	reproduced, contradicted, missed := count(checks)
	fmt.Fprintf(&b, "**%d of %d printed figures come out, %d contradict the article's own arithmetic, %d are missed.**\n", reproduced, len(checks), contradicted, missed)
	fmt.Fprintf(&b, "The article contradicts itself in %d points.\n\n", len(ArticleContradictions))
	b.WriteString(articleIntroduction)
	b.WriteString("\n| experiment | what | figures | reproduced | contradicted | command |\n|---|---|--:|--:|--:|---|\n")
	for _, e := range ArticleExperiments {
		of := articleOf(checks, e.ID)
		r, c, _ := count(of)
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %d | %d | %d | `homenode %s --published` |\n", e.ID, e.ID, form.Mark(e.What), len(of), r, c, e.Command)
	}
	articleContradictionsTable(&b, checks)
	for _, e := range ArticleExperiments {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n", e.ID, form.Mark(e.What))
		articleTable(&b, articleOf(checks, e.ID))
	}
	return b.Bytes()
}

const articleIntroduction = `The article is eight posts of 2022 to 2024 at [vcdx200.uw.cz](https://vcdx200.uw.cz/2024) about what I/O costs in CPU, core dumps
and latency. The ` + "`size`" + ` commands rest on its measurements. So the figures that it computes from them are computed again here,
by its own raw figures and formulas:

- **reproduced**: what comes out rounds to what is printed; “~” allows a whole unit of the last digit.
- **I-…**: it does not, because the article contradicts itself there; the [list](#where-the-article-contradicts-itself) says how. The
  commands use the computed figure; rules of thumb stay as printed, and are named so.
- **MISSED**: it does not, and nobody knows why. A test checks that there is none.

Figures that the article measures and computes nothing from are inputs and not counted, nor are its posts on downloads,
VMware Health Analyzer and IPv4.
`

// articleOf returns the checks of an experiment.
func articleOf(checks []unit.Check, id string) []unit.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c unit.Check) bool { return c.ID != id })
}

func articleTable(b *bytes.Buffer, checks []unit.Check) {
	b.WriteString("| what | quantity | printed | computed | deviation | verdict | note |\n|---|---|--:|--:|--:|---|---|\n")
	for i := range checks {
		p := &checks[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", form.Mark(p.What), form.Mark(p.Quantity), form.Mark(p.Printed),
			unit.Digits(p.Computed, 5), deviation(p), p.Verdict(), form.Mark(p.Note))
	}
}

// articleContradictionsTable lists where the article contradicts itself, with the figures
// that show it.
func articleContradictionsTable(b *bytes.Buffer, checks []unit.Check) {
	b.WriteString("\n## Where the article contradicts itself\n\n| id | experiment | what it comes to | printed → computed |\n|---|---|---|---|\n")
	for _, c := range ArticleContradictions {
		var shown []string
		for i := range checks {
			if p := &checks[i]; p.Inconsistency == c.ID && !p.Reproduced() {
				if s := fmt.Sprintf("%s: %s → %s", p.Quantity, p.Printed, unit.Digits(p.Computed, 5)); !slices.Contains(shown, s) {
					shown = append(shown, s)
				}
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", c.ID, c.Experiments, form.Mark(c.Text), form.Mark(strings.Join(shown, "; ")))
	}
}
