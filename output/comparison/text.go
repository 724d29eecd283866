// Package comparison writes a comparison of benchmark runs as text and as JSON.
package comparison

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"homenode/internal/texttab"
	"homenode/measure/compare"
)

// A Report is a comparison with what was read for it.
type Report struct {
	*compare.Comparison
	A, B  Set
	Notes []string // what could not be read, or is doubtful
}

// A Set is one side of the comparison.
type Set struct {
	Files []string
	Runs  int
}

// Text prints the verdict, a table for each tool and run, and notes.
func Text(w io.Writer, r *Report, colour bool) error {
	p := &printer{w: w, colour: colour}
	p.line("%s", headline(r.Comparison))
	p.line("read   A %s, B %s", r.A.words(), r.B.words())
	for first := 0; first < len(r.Metrics); {
		m := r.Metrics[first]
		last := first
		for last < len(r.Metrics) && r.Metrics[last].Tool == m.Tool && r.Metrics[last].Run == m.Run {
			last++
		}
		p.line("\n%s", texttab.Clean(compare.Label(m.Tool, m.Run)))
		p.table(r.Metrics[first:last])
		first = last
	}
	p.notes(r)
	return p.err
}

func (s Set) words() string {
	return fmt.Sprintf("%s in %s", count(s.Runs, "run"), count(len(s.Files), "file"))
}

// headline is the verdict over all metrics.
func headline(c *compare.Comparison) string {
	judged, few := c.Judged(), c.Count(compare.TooFew)
	if judged == 0 {
		return fmt.Sprintf("too few runs for a verdict on %s: it takes %d on each side", count(len(c.Metrics), "metric"), compare.LeastRuns)
	}
	s := fmt.Sprintf("B is worse in %d of %s, better in %d", c.Count(compare.Worse), count(judged, "metric"), c.Count(compare.Improved))
	if n := c.Count(compare.Differs); n > 0 {
		s += fmt.Sprintf(", different in %d", n)
	}
	if few > 0 {
		s += fmt.Sprintf("; too few runs for %d more", few)
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

type printer struct {
	w      io.Writer
	colour bool
	err    error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// byChance prints a mean number of metrics.
func byChance(n float64) string {
	if n < 1 {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// colours of verdicts, as numbers of an ANSI sequence.
var colours = map[compare.Verdict]string{compare.Worse: "1;31", compare.Improved: "32", compare.TooFew: "2", compare.Same: "2"}

func (p *printer) table(metrics []compare.Metric) {
	t := texttab.Table{Right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	t.Row("METRIC", "UNIT", "A (RUNS)", "B (RUNS)", "DIFFERENCE", "95 % INTERVAL", "VERDICT")
	for i := range metrics {
		m := &metrics[i]
		between := ""
		if m.Interval != nil {
			between = span(m)
		}
		t.Row(m.Name, m.Unit, side(m.A), side(m.B), change(m, m.Difference, true), between, string(m.Verdict))
		if c := colours[m.Verdict]; p.colour && c != "" {
			t.Paint(6, c)
		}
	}
	if p.err == nil {
		_, p.err = t.WriteTo(p.w)
	}
}

func side(s compare.Side) string {
	return fmt.Sprintf("%s (%d)", Number(s.Median), len(s.Values))
}

// span prints the interval: in percent of A's median, or in the unit where that is 0.
func span(m *compare.Metric) string {
	return change(m, m.Interval.Low, false) + " … " + change(m, m.Interval.High, true)
}

// change prints a difference with its sign.
func change(m *compare.Metric, d float64, sign bool) string {
	share, ok := m.Relative(d)
	if !ok {
		return signed(Number(math.Abs(d)), d)
	}
	s := signed(strconv.FormatFloat(math.Abs(100*share), 'f', 1, 64), d)
	if sign {
		s += " %"
	}
	return s
}

// signed puts a sign before a printed number unless that is 0.
func signed(s string, d float64) string {
	switch {
	case strings.Trim(s, "0.") == "":
		return s
	case d < 0:
		return "−" + s
	}
	return "+" + s
}

// Number prints six digits, more before the point when there are.
func Number(v float64) string {
	if math.Abs(v) >= 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if strings.Contains(s, "e") { // tiny
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return s
}

// most is how many notes of a kind are printed; JSON has them all.
const most = 12

func (p *printer) notes(r *Report) {
	var notes []string
	if n := r.Judged(); n > 0 {
		notes = append(notes, fmt.Sprintf("of %s about %s would differ by chance alone: 5 %% of them, 10 %% with 3 runs on a side", count(n, "judged metric"), byChance(r.ByChance())))
	}
	if r.Judged() > 0 && r.Count(compare.Same) > 0 {
		notes = append(notes, "same: no difference could be shown with these runs, which does not prove that there is none")
	}
	notes = append(notes, limited(changes(r.Changes), "settings that differ")...)
	notes = append(notes, limited(singles(r.Singles, false), "lines on what only A has")...)
	notes = append(notes, limited(singles(r.Singles, true), "lines on what only B has")...)
	notes = append(notes, limited(r.Notes, "notes on files")...)
	if len(notes) > 0 {
		p.line("")
	}
	for _, n := range notes {
		p.line("note   %s", texttab.Clean(n))
	}
}

func limited(notes []string, noun string) []string {
	if len(notes) <= most {
		return notes
	}
	return append(notes[:most:most], fmt.Sprintf("%d more %s (--format json lists all)", len(notes)-most, noun))
}

func changes(list []compare.Change) []string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s: %s differs: A %s, B %s", compare.Label(c.Tool, c.Run), c.Name, values(c.A), values(c.B)))
	}
	return out
}

// values joins the values of a setting; a side may not state it.
func values(list []string) string {
	if len(list) == 0 {
		return "does not say"
	}
	return strings.Join(list, " and ")
}

// singles lists what one side alone has, a line for each tool and run.
func singles(list []compare.Single, inB bool) []string {
	var out, names []string
	label := ""
	flush := func() {
		if names == nil {
			return
		}
		const few = 3
		if len(names) > few {
			names = append(names[:few:few], fmt.Sprintf("%d more", len(names)-few))
		}
		out = append(out, fmt.Sprintf("only %s has %s: %s", map[bool]string{false: "A", true: "B"}[inB], label, strings.Join(names, ", ")))
		names = nil
	}
	for _, s := range list {
		if s.InB != inB {
			continue
		}
		if l := compare.Label(s.Tool, s.Run); l != label {
			flush()
			label = l
		}
		names = append(names, s.Name)
	}
	flush()
	return out
}
