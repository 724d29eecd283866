package size

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"homenode/numa/datafile"
	"homenode/numa/unit"
	"homenode/output/format"
	"homenode/size/dump"
	"homenode/size/iocost"
	"homenode/size/latency"
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

// published returns the published figures that the size commands rest on.
func published() []unit.Check {
	return slices.Concat(iocost.Checks(), dump.Checks(), latency.Checks())
}

// ArticlePage returns the page of all figures of the article that a sum restates, in
// Markdown: how many come out, each figure, and where the article contradicts itself.
// Figures of other articles are left out.
func ArticlePage() []byte {
	checks := slices.DeleteFunc(published(), func(c unit.Check) bool { return !strings.HasPrefix(c.ID, "b-") })
	var b bytes.Buffer
	b.WriteString("# Published figures on capacity, computed again\n\n")
	n := count(checks)
	fmt.Fprintf(&b, "**Blind: 0, fitted: 0. No figure here is a prediction: all are restated, by the article's own arithmetic.** Of %d printed figures %d come out\n"+
		"and %d more are changes of a unit, %d contradict the article's own arithmetic, %d are missed. Not counted: %d that the article does not print, or from which the sum begins.\n",
		len(checks)-n.circular, n.restated, n.units, n.contradicted, n.missed, n.circular)
	fmt.Fprintf(&b, "The article contradicts itself in %d points.\n\n", len(ArticleContradictions))
	b.WriteString(articleIntroduction)
	b.WriteString("\n| experiment | what | figures | restated | unit | contradicted | missed | circular | command |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, e := range ArticleExperiments {
		of := articleOf(checks, e.ID)
		n := count(of)
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %d | %d | %d | %d | %d | %d | `homenode %s --published` |\n", e.ID, e.ID, format.Mark(e.What), len(of),
			n.restated, n.units, n.contradicted, n.missed, n.circular, e.Command)
	}
	articleContradictionsTable(&b, checks)
	for _, e := range ArticleExperiments {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n", e.ID, format.Mark(e.What))
		articleTable(&b, articleOf(checks, e.ID))
	}
	return b.Bytes()
}

//go:embed article.md
var articleIntroduction string

// articleOf returns the checks of an experiment.
func articleOf(checks []unit.Check, id string) []unit.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c unit.Check) bool { return c.ID != id })
}

func articleTable(b *bytes.Buffer, checks []unit.Check) {
	b.WriteString("| what | quantity | printed | computed | deviation | verdict | note |\n|---|---|--:|--:|--:|---|---|\n")
	for i := range checks {
		p := &checks[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", format.Mark(p.What), format.Mark(p.Quantity), format.Mark(p.Printed),
			unit.Digits(p.Computed, 5), deviation(p), p.Verdict(), format.Mark(p.Note))
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
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", c.ID, c.Experiments, format.Mark(c.Text), format.Mark(strings.Join(shown, "; ")))
	}
}
