package truth

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/experiment"
	"example.org/homenode/measure/published"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
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
	record, err := experiment.ReadPlayed(published.Worlds)
	if err != nil {
		t.Fatal(err)
	}
	if stale := experiment.Recall(results, record); len(stale) > 0 {
		t.Errorf("the record of worlds is of another state of %v: make prove", stale)
	}
	page := document(t, "figures", "\n"+markdownOf(results)+"\n")
	page = replace(t, page, "quantities", "\n| quantity | what |\n|---|---|\n"+experiment.Quantities()+"\n")
	golden.Equal(t, []byte(page), publishedPage)

	if n := experiment.Unexplained(results); n != 0 {
		t.Errorf("%d misses without a reason", n)
	}
	readmeSays(t, results)
	var got []experiment.Tally
	for _, k := range experiment.Kinds {
		score := experiment.Count(results)
		got = append(got, score.All(k))
	}
	want := []experiment.Tally{{Figures: 6, Reproduced: 5, Always: 1}, {Figures: 95, Reproduced: 76, Always: 28}, {Figures: 15, Reproduced: 15, Always: 3}}
	if !slices.Equal(got, want) {
		t.Errorf("blind, fitted and restated %+v, want %+v", got, want)
	}
}

// readmeSays checks that the README has the blind figures of today.
func readmeSays(t *testing.T, results []*experiment.Result) {
	t.Helper()
	page := func(path string) string {
		b := golden.Read(t, "../../"+path)
		return string(b)
	}
	readme, evidence := page("README.md"), page("docs/evidence/README.md")
	score := experiment.Count(results)
	blind := &score.Kinds[experiment.Blind]
	all, amounts := score.All(experiment.Blind), blind[experiment.Amounts]
	var whole experiment.Score
	for _, r := range results {
		if r.ID == "e-story" {
			whole = experiment.Count([]*experiment.Result{r})
		}
	}
	story := whole.All(experiment.Fitted)
	topologies := published.NewScore(shippedTopologies(t), vnuma.Choices{}).Kinds[experiment.Blind]
	for _, want := range []string{
		fmt.Sprintf("| topologies, more than trivial | %d of %d |", topologies.Reproduced, topologies.Cases),
		fmt.Sprintf("| simulation, quantities | %d of %d |", amounts.Reproduced, amounts.Figures),
		fmt.Sprintf("| simulation, counts and directions | %d of %d | %d of them", all.Reproduced-amounts.Reproduced, all.Figures-amounts.Figures, all.Always-amounts.Always),
		fmt.Sprintf("%d of %d figures match; the fix it describes does not", story.Reproduced, story.Figures),
	} {
		if !strings.Contains(evidence, want) {
			t.Errorf("docs/evidence/README.md does not say %q", want)
		}
	}
	if want := fmt.Sprintf("%d of %d published topologies that were not used to build the model", topologies.Reproduced, topologies.Cases); !strings.Contains(readme, want) {
		t.Errorf("README.md does not say %q", want)
	}
}

func shippedTopologies(t *testing.T) (cases []published.Case) {
	t.Helper()
	names, _ := fs.Glob(published.Shipped, "testdata/*.txtar")
	for _, name := range names {
		b, err := fs.ReadFile(published.Shipped, name)
		if err != nil {
			t.Fatal(err)
		}
		one, err := published.Read(name, b)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, one...)
	}
	return cases
}

const publishedPage = "../../docs/evidence/published-simulations.md"

// document returns the page with another text in the section.
func document(t *testing.T, section, text string) string {
	t.Helper()
	page := golden.Read(t, publishedPage)
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
	for name, write := range map[string]func(io.Writer, *answer.Answer, format.Options) error{"txt": format.Text, "csv": format.CSV} {
		var b bytes.Buffer
		if err := write(&b, Experiments(small(t), []string{"S"}), format.Options{}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/experiments."+name)
	}
	golden.Equal(t, []byte(markdownOf(small(t))), "testdata/experiments.md")
}

// markdownOf returns the tables of docs/evidence/published-simulations.md.
func markdownOf(results []*experiment.Result) string {
	var b bytes.Buffer
	score := experiment.Count(results)
	fmt.Fprintf(&b, "| kind | what | figures | reproduced | in every world | missed |\n|---|---|--:|--:|--:|--:|\n")
	for _, k := range experiment.Kinds {
		for _, m := range experiment.Measures {
			t := score.Kinds[k][m]
			fmt.Fprintf(&b, "| **%s** | %s | %d | %d | %d | %d |\n", k, m, t.Figures, t.Reproduced, t.Always, t.Figures-t.Reproduced)
		}
	}
	fmt.Fprintf(&b, "\nNot counted: inputs %d, not modelled %d. %d worlds were played beside the cases as they are told.\n", score.Inputs, score.NotModelled, score.Worlds)
	b.WriteString("\n| case | what | blind | fitted | restated | worlds |\n|---|---|--:|--:|--:|--:|\n")
	for _, r := range results {
		s := experiment.Count([]*experiment.Result{r})
		fmt.Fprintf(&b, "| [%s](#%s) | %s |", r.Case.ID, strings.ToLower(r.Case.ID), cell(r.Case.Title))
		for _, k := range experiment.Kinds {
			if t := s.All(k); t.Figures > 0 {
				fmt.Fprintf(&b, " %d of %d |", t.Reproduced, t.Figures)
			} else {
				b.WriteString(" – |")
			}
		}
		fmt.Fprintf(&b, " %d |\n", r.Worlds)
	}
	for _, r := range results {
		c := r.Case
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\nSource: %s.\n", c.ID, c.Title, c.Source)
		if c.Gave != "" {
			fmt.Fprintf(&b, "It gave the model %s.\n", c.Gave)
		}
		if len(c.Assumed) > 0 {
			b.WriteString("\nAssumed, for no source states it:\n\n")
		}
		for _, a := range c.Assumed {
			fmt.Fprintf(&b, "- %s\n", a)
		}
		fmt.Fprintf(&b, "\nVaried (%d worlds, %d more cannot be told): %s.\n", r.Worlds, r.Impossible, cell(c.Varied()))
		b.WriteString("\n| id | figure | kind | published | model | verdict | worlds | notes |\n|---|---|---|---|---|---|--:|---|\n")
		for i := range r.Rows {
			row := &r.Rows[i]
			verdict, notes := row.Verdict.String(), row.Notes
			if row.Verdict == experiment.Miss {
				verdict = "**miss**"
			}
			if row.Worst == experiment.Miss && row.Verdict == experiment.Reproduced {
				verdict += ", **else miss**"
			}
			if row.In.First != "" {
				notes = append(notes[:len(notes):len(notes)], "the first world that says otherwise: "+row.In.First)
			}
			for j, text := range []string{row.Figure.ID, row.Figure.What, row.Kind.String(), row.Published, row.Model, verdict, worlds(row), strings.Join(notes, "<br>")} {
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
