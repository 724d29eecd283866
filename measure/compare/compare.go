// Package compare compares two sets of benchmark runs metric by metric: median, difference, a
// confidence interval by bootstrap, and a verdict that depends on which direction is better.
package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/stat"
	"example.org/homenode/internal/words"
	"example.org/homenode/source/benchmark"
)

// A Verdict states how B differs from A.
type Verdict string

// The verdicts. Same means that no difference could be shown, not that there is none.
const (
	Improved Verdict = "better"
	Worse    Verdict = "worse"
	Same     Verdict = "same"
	Differs  Verdict = "differs" // of a metric of which neither direction is better
	TooFew   Verdict = "too few runs"
)

// Verdicts lists the verdicts in the order of reports.
var Verdicts = []Verdict{Worse, Improved, Differs, Same, TooFew}

// LeastRuns is the minimum number of runs on each side for a verdict. The spread of one run is
// unknown. The median of two runs is their mean: a disturbed run shifts it, and it cannot be
// identified. With three runs, the median ignores one outlier.
const LeastRuns = 3

// A Side has the values of a metric in one set.
type Side struct {
	Median float64   `json:"median"`
	Values []float64 `json:"values"` // ascending
}

// A Metric is one metric in both sets.
type Metric struct {
	Tool       string           `json:"tool"`
	Run        string           `json:"run,omitempty"`
	Name       string           `json:"metric"`
	Unit       string           `json:"unit,omitempty"`
	Better     benchmark.Better `json:"better,omitempty"`
	A          Side             `json:"a"`
	B          Side             `json:"b"`
	Difference float64          `json:"difference"`                   // median of B − median of A, in the unit
	Share      *float64         `json:"relativeDifference,omitempty"` // of A's median; nil when that is 0
	Interval   *stat.Interval   `json:"interval,omitempty"`           // of Difference; nil with too few runs
	Verdict    Verdict          `json:"verdict"`
}

// Relative returns x, such as Difference, as a share of the median of A; false if that is 0.
func (m *Metric) Relative(x float64) (share float64, ok bool) {
	if m.A.Median == 0 {
		return 0, false
	}
	return x / m.A.Median, true
}

// A Single is a metric in only one set.
type Single struct {
	Tool string `json:"tool"`
	Run  string `json:"run,omitempty"`
	Name string `json:"metric"`
	InB  bool   `json:"inB"`
	N    int    `json:"runs"`
}

// A Change is a setting that has no value common to both sets.
type Change struct {
	Tool string   `json:"tool"`
	Run  string   `json:"run,omitempty"`
	Name string   `json:"setting"`
	A    []string `json:"a,omitempty"`
	B    []string `json:"b,omitempty"`
}

// A Comparison is the result of Sets.
type Comparison struct {
	Metrics []Metric `json:"metrics"` // tools and runs in the order of A
	Singles []Single `json:"onlyInOne,omitempty"`
	Changes []Change `json:"settings,omitempty"`
}

// A Report is a comparison with its input sets.
type Report struct {
	A          Set             `json:"a"`
	B          Set             `json:"b"`
	Confidence float64         `json:"confidence"`
	Resamples  int             `json:"resamples"`
	Seed       int             `json:"seed"`
	Verdicts   map[Verdict]int `json:"metricsByVerdict"`
	*Comparison
	Notes []string `json:"notes,omitempty"` // read errors and doubts
}

// A Set is the input of one side.
type Set struct {
	Files []string `json:"files"`
	Runs  int      `json:"runs"`

	runs []*benchmark.Run
}

// Add adds the runs of files to the set.
func (s *Set) Add(results []*benchmark.Results) {
	for _, r := range results {
		s.Files = append(s.Files, r.Name)
		s.runs = append(s.runs, r.Runs...)
	}
	s.Runs = len(s.runs)
}

// kinds lists the tools and test cases of the runs.
func (s *Set) kinds() string {
	var list []string
	for _, r := range s.runs {
		list = words.Once(list, r.Label())
	}
	const few = 3
	if len(list) > few {
		list = append(list[:few:few], fmt.Sprintf("%d more", len(list)-few))
	}
	return strings.Join(list, ", ")
}

// Of returns the report of two sets; notes are doubts from reading them. If no metric is in
// both sets, the error lists the contents of the sets.
func Of(a, b *Set, notes []string) (*Report, error) {
	for i, s := range []*Set{a, b} {
		for _, note := range Means(s.runs) {
			notes = append(notes, "AB"[i:i+1]+": "+note)
		}
	}
	c := Sets(a.runs, b.runs)
	if len(c.Metrics) == 0 {
		return nil, fmt.Errorf("nothing to compare: no metric is in both sets (A has %s; B has %s)", a.kinds(), b.kinds())
	}
	r := &Report{A: *a, B: *b, Confidence: stat.Confidence, Resamples: stat.MedianResamples, Seed: stat.Seed, Verdicts: map[Verdict]int{}, Comparison: c, Notes: notes}
	for _, v := range Verdicts {
		r.Verdicts[v] = c.Count(v)
	}
	return r, nil
}

// Means reports the results of a set that are means of several iterations: a tool that prints
// only a mean provides a single value, however often it measured.
func Means(runs []*benchmark.Run) (notes []string) {
	type mean struct {
		label      string
		iterations int
	}
	var results keyed.Lists[mean, *benchmark.Run]
	for _, r := range runs {
		for _, s := range r.Settings {
			n, err := strconv.Atoi(strings.TrimSpace(fmt.Sprint(s.Value)))
			if s.Name != benchmark.Iterations || err != nil || n < 2 {
				continue
			}
			results.Add(mean{r.Label(), n}, r)
		}
	}
	for of, runs := range results.All() {
		notes = append(notes, fmt.Sprintf("%s of %d iterations and counts as one run: how far its iterations differ is not stated",
			words.Verb(len(runs), "result of "+of.label+" is the mean", "results of "+of.label+": each is the mean"), of.iterations))
	}
	return notes
}

// Count returns the number of metrics with the verdict.
func (c *Comparison) Count(v Verdict) int {
	return words.Count(c.Metrics, func(m Metric) bool { return m.Verdict == v })
}

// ByChance returns the number of assessed metrics that would differ on average without any
// change: the rates that TestFalseAlarms of package stat measures.
func (c *Comparison) ByChance() float64 {
	sum := 0.0
	for i := range c.Metrics {
		switch least := min(len(c.Metrics[i].A.Values), len(c.Metrics[i].B.Values)); {
		case least < LeastRuns:
		case least == 3:
			sum += 0.10
		case least == 4:
			sum += 0.065
		default:
			sum += 1 - stat.Confidence
		}
	}
	return sum
}

// Judged returns the number of metrics with enough runs.
func (c *Comparison) Judged() int { return len(c.Metrics) - c.Count(TooFew) }

// key identifies a metric. Metrics of different units do not compare.
type key struct{ tool, run, name, unit string }

// gathered has the values of one metric in both sets.
type gathered struct {
	key
	better benchmark.Better
	values [2][]float64
}

// Sets compares two sets of runs; runs of the same tool and name are repetitions. Metrics are
// in the order of their first occurrence.
func Sets(a, b []*benchmark.Run) *Comparison {
	c := &Comparison{Changes: changes(a, b)}
	for _, g := range gather(a, b) {
		if len(g.values[0]) == 0 || len(g.values[1]) == 0 {
			inB := len(g.values[0]) == 0
			c.Singles = append(c.Singles, Single{g.tool, g.run, g.name, inB, len(g.values[0]) + len(g.values[1])})
			continue
		}
		c.Metrics = append(c.Metrics, judge(g))
	}
	return c
}

// gather collects the values by metric, runs of one kind together.
func gather(a, b []*benchmark.Run) []*gathered {
	type kind struct{ tool, run string }
	index := map[key]*gathered{}
	byKind := map[kind][]*gathered{}
	var kinds []kind
	for side, runs := range [][]*benchmark.Run{a, b} {
		for _, r := range runs {
			k := kind{r.Tool, r.Name}
			if byKind[k] == nil {
				kinds = append(kinds, k)
			}
			for _, v := range r.Metrics {
				id := key{r.Tool, r.Name, v.Name, v.Unit}
				g := index[id]
				if g == nil {
					g = &gathered{key: id, better: v.Better}
					index[id] = g
					byKind[k] = append(byKind[k], g)
				}
				g.values[side] = append(g.values[side], v.Value)
			}
		}
	}
	// Tools together, in the order of their first occurrence.
	first := map[string]int{}
	for i, k := range kinds {
		if _, ok := first[k.tool]; !ok {
			first[k.tool] = i
		}
	}
	slices.SortStableFunc(kinds, func(x, y kind) int { return cmp.Compare(first[x.tool], first[y.tool]) })
	var out []*gathered
	for _, k := range kinds {
		out = append(out, byKind[k]...)
		byKind[k] = nil // a run without values is listed again
	}
	return out
}

func judge(g *gathered) Metric {
	for i := range g.values {
		slices.Sort(g.values[i])
	}
	a, b := g.values[0], g.values[1]
	m := Metric{
		Tool: g.tool, Run: g.run, Name: g.name, Unit: g.unit, Better: g.better,
		A: Side{stat.Median(a), a}, B: Side{stat.Median(b), b}, Verdict: TooFew,
	}
	m.Difference = m.B.Median - m.A.Median
	if share, ok := m.Relative(m.Difference); ok {
		m.Share = &share
	}
	if len(a) < LeastRuns || len(b) < LeastRuns {
		return m
	}
	between := stat.Medians(a, b)
	m.Interval = &between
	switch {
	case between.HasZero():
		m.Verdict = Same
	case g.better == benchmark.Neither:
		m.Verdict = Differs
	case between.Low > 0 == (g.better == benchmark.Higher):
		m.Verdict = Improved
	default:
		m.Verdict = Worse
	}
	return m
}

// changes returns the settings that no run of A shares with a run of B.
func changes(a, b []*benchmark.Run) []Change {
	type id struct{ tool, run, name string }
	values := map[id]*[2][]string{}
	var order []id
	for side, runs := range [][]*benchmark.Run{a, b} {
		for _, r := range runs {
			for _, s := range r.Settings {
				k := id{r.Tool, r.Name, s.Name}
				if values[k] == nil {
					values[k] = &[2][]string{}
					order = append(order, k)
				}
				value := strings.TrimSpace(fmt.Sprint(s.Value) + " " + s.Unit)
				if list := &values[k][side]; !slices.Contains(*list, value) {
					*list = append(*list, value)
				}
			}
		}
	}
	both := kindsOfBoth(a, b)
	var out []Change
	for _, k := range order {
		v := values[k]
		shared := slices.ContainsFunc(v[0], func(s string) bool { return slices.Contains(v[1], s) })
		if !shared && both[k.tool+"\x00"+k.run] {
			slices.Sort(v[0])
			slices.Sort(v[1])
			out = append(out, Change{k.tool, k.run, k.name, v[0], v[1]})
		}
	}
	return out
}

// kindsOfBoth returns the kinds of runs in both sets.
func kindsOfBoth(a, b []*benchmark.Run) map[string]bool {
	in := map[string]bool{}
	for _, r := range a {
		in[r.Tool+"\x00"+r.Name] = true
	}
	both := map[string]bool{}
	for _, r := range b {
		if k := r.Tool + "\x00" + r.Name; in[k] {
			both[k] = true
		}
	}
	return both
}

// Label returns tool and run as text.
func Label(tool, run string) string { return strings.TrimSpace(tool + " " + run) }
