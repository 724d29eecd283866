package measure

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"homenode/esxi/vnuma"
	"homenode/internal/golden"
	"homenode/measure/experiment"
	"homenode/measure/published"
	"homenode/output/answer"
	"homenode/output/form"
)

// experiments returns the published experiments beside the model.
func experiments(t *testing.T) []*experiment.Result {
	t.Helper()
	names, err := fs.Glob(published.Simulations, "testdata/sim/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	var out []*experiment.Result
	for _, name := range names {
		b, err := fs.ReadFile(published.Simulations, name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := experiment.Read(name, b)
		if err != nil {
			t.Fatal(err)
		}
		r, err := experiment.Judge(t.Context(), c, vnuma.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestPublishedExperiments pins every verdict and every number of the model, in both
// directions: what a change of the model does to a published figure is read here.
func TestPublishedExperiments(t *testing.T) {
	results := experiments(t)
	page := document(t, "figures", "\n"+markdownOf(results)+"\n")
	page = replace(t, page, "quantities", "\n| quantity | what |\n|---|---|\n"+experiment.Quantities()+"\n")
	golden.Equal(t, []byte(page), publishedPage)

	if n := experiment.Unexplained(results); n != 0 {
		t.Errorf("%d misses without a reason", n)
	}
	want := experiment.Score{Figures: 101, Reproduced: 81, Missed: 11, Inputs: 2, NotModelled: 7, Fitted: 38, Depends: 19}
	if got := experiment.Count(results); got != want {
		t.Errorf("score %+v, want %+v", got, want)
	}
}

const publishedPage = "../../docs/published-simulations.md"

// document returns the page with another text in the section.
func document(t *testing.T, section, text string) string {
	t.Helper()
	page, err := os.ReadFile(publishedPage)
	if err != nil {
		t.Fatal(err)
	}
	return replace(t, string(page), section, text)
}

func replace(t *testing.T, page, section, text string) string {
	t.Helper()
	begin, end := "<!-- "+section+" -->\n", "<!-- end of "+section+" -->"
	head, rest, ok := strings.Cut(page, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no section %q", publishedPage, section)
	}
	return head + begin + text + end + tail
}

// smallCase has a figure of each verdict.
const smallCase = `-- case --
id S
title a | case
source nobody
assumed nothing
-- in --
release 7.0U3
host esx01 nodes=2 cores=4 threads=4 memory=64GB
vm a host=esx01 vcpus=2 memory=8GB
run 10m every=1m
load a cpu=50% memory=4GB
-- vary more --
load a memory=5GB
-- observed --
figure a-limits memory
want local a at 5m = 4GB ±0.5GB
because whole GB
fitted a number
figure a-limits home
want homes a at 5m = 1
why it is 0
figure a-one-node given
shown 1
input told
figure a-one-node lost
shown 2
unmodelled not there
`

func small(t *testing.T) []*experiment.Result {
	t.Helper()
	c, err := experiment.Read("small", []byte(smallCase))
	if err != nil {
		t.Fatal(err)
	}
	r, err := experiment.Judge(t.Context(), c, vnuma.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	return []*experiment.Result{r}
}

func TestExperiments(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *answer.Answer, form.Options) error{"txt": form.Text, "json": form.JSON, "csv": form.CSV} {
		var b bytes.Buffer
		if err := write(&b, Experiments(small(t)), form.Options{}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/experiments."+name)
	}
	golden.Equal(t, []byte(markdownOf(small(t))), "testdata/experiments.md")
}

// markdownOf returns the tables of docs/published-simulations.md.
func markdownOf(results []*experiment.Result) string {
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
			for j, text := range []string{row.Figure.ID, row.Figure.What, row.Published, row.Model, verdict, strings.Join(row.Notes, "<br>")} {
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
