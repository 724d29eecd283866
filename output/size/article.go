package size

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa/datafile"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/format"
	"example.org/homenode/size/dump"
	"example.org/homenode/size/iocost"
	"example.org/homenode/size/latency"
)

// article has data about the article as a whole.
//
//go:embed *.txt
var article embed.FS

// ArticleExperiments are the experiments of the article, numbered as in the record, with the
// command based on each.
var ArticleExperiments = datafile.Must[struct{ ID, What, Command string }](article, "experiments.txt")

// ArticleContradictions are the contradictions within the article.
var ArticleContradictions = datafile.Must[struct{ ID, Experiments, Text string }](article, "contradictions.txt")

// published returns the published figures behind the size commands.
func published() []unit.Check {
	return slices.Concat(iocost.Checks(), dump.Checks(), latency.Checks())
}

// ArticlePage returns the Markdown page of all figures of the article that a calculation
// restates: the number of matches, each figure, and the article's contradictions. It omits
// figures of other articles.
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

// articleContradictionsTable lists the contradictions within the article, with the figures that
// show them.
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
