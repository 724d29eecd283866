package truth

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/compare"
	"example.org/homenode/output/answer"
)

// Compare returns the answer of a comparison of benchmark runs.
func Compare(r *compare.Report) *answer.Answer {
	a := &answer.Answer{
		Command: "compare", Format: "homenode-comparison", Version: 2, Verdict: []string{runsLine(r.Comparison)}, Result: r,
		Facts: []answer.Fact{{Name: "A", Text: setText(r.A)}, {Name: "B", Text: setText(r.B)}},
	}
	t := answer.Table{Name: "metrics", Columns: answer.Columns("test", "metric", "unit", ">A (runs)", ">B (runs)", ">difference", ">95 % interval", "verdict"),
		Plain: &answer.Table{Columns: answer.Columns("tool", "test", "metric", "unit", "better", "A median", "A runs", "B median", "B runs", "difference", "difference %", "interval from", "interval to", "verdict")}}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		between, share, low, high := "", "", "", ""
		if m.Interval != nil {
			between = change(m, m.Interval.Low, false) + " … " + change(m, m.Interval.High, true)
			low, high = plain(m.Interval.Low), plain(m.Interval.High)
		}
		if m.Share != nil {
			share = plain(100 * *m.Share)
		}
		t.Add(compare.Label(m.Tool, m.Run), m.Name, m.Unit, sideText(&m.A), sideText(&m.B), change(m, m.Difference, true), between, string(m.Verdict))
		t.Rows[i][7].Tone = tones[m.Verdict]
		t.Plain.Add(m.Tool, m.Run, m.Name, m.Unit, string(m.Better), plain(m.A.Median), strconv.Itoa(len(m.A.Values)), plain(m.B.Median), strconv.Itoa(len(m.B.Values)),
			plain(m.Difference), share, low, high, string(m.Verdict))
	}
	a.Tables = []answer.Table{t}
	if n := r.Judged(); n > 0 {
		a.Note(fmt.Sprintf("of %s about %s would differ by chance alone: 5 %% of them, 10 %% with 3 runs on a side", words.Plural(n, "judged metric"), byChance(r.ByChance())))
	}
	if r.Judged() > 0 && r.Count(compare.Same) > 0 {
		a.Note("same: no difference could be shown with these runs, which does not prove that there is none")
	}
	a.Note(limited(changes(r.Changes), "settings that differ")...)
	a.Note(limited(singles(r.Singles, false), "lines on what only A has")...)
	a.Note(limited(singles(r.Singles, true), "lines on what only B has")...)
	a.Note(limited(r.Notes, "notes on files")...)
	return a
}

// most is the maximum number of notes of a kind. The result has all notes.
const most = 12

// tones has the tones of verdicts.
var tones = map[compare.Verdict]answer.Tone{compare.Worse: answer.High, compare.TooFew: answer.Faint, compare.Same: answer.Faint}

func setText(s compare.Set) string {
	return fmt.Sprintf("%s in %s", words.Plural(s.Runs, "run"), words.Plural(len(s.Files), "file"))
}

// plain formats a number for programs.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// runsLine returns the verdict over all metrics.
func runsLine(c *compare.Comparison) string {
	judged, few := c.Judged(), c.Count(compare.TooFew)
	if judged == 0 {
		return fmt.Sprintf("too few runs for a verdict on %s: it takes %d on each side", words.Plural(len(c.Metrics), "metric"), compare.LeastRuns)
	}
	s := fmt.Sprintf("B is worse in %d of %s, better in %d", c.Count(compare.Worse), words.Plural(judged, "metric"), c.Count(compare.Improved))
	if n := c.Count(compare.Differs); n > 0 {
		s += fmt.Sprintf(", different in %d", n)
	}
	if few > 0 {
		s += fmt.Sprintf("; too few runs for %d more", few)
	}
	return s
}

// byChance formats a mean number of metrics.
func byChance(n float64) string {
	if n < 1 {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

func sideText(s *compare.Side) string {
	return fmt.Sprintf("%s (%d)", number(s.Median), len(s.Values))
}

// change formats a difference; sign adds a sign to a positive one.
func change(m *compare.Metric, d float64, sign bool) string {
	share, ok := m.Relative(d)
	if !ok {
		return signed(number(math.Abs(d)), d)
	}
	s := signed(strconv.FormatFloat(math.Abs(100*share), 'f', 1, 64), d)
	if sign {
		s += " %"
	}
	return s
}

// signed adds a sign to a formatted number unless it is 0.
func signed(s string, d float64) string {
	switch {
	case strings.Trim(s, "0.") == "":
		return s
	case d < 0:
		return "−" + s
	}
	return "+" + s
}

// number formats a number with six digits, or more before the decimal point if necessary.
func number(v float64) string {
	if math.Abs(v) >= 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if strings.Contains(s, "e") { // very small
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return s
}

func limited(notes []string, noun string) []string {
	if len(notes) <= most {
		return notes
	}
	return append(notes[:most:most], fmt.Sprintf("%d more %s (--format json lists all)", len(notes)-most, noun))
}

func changes(list []compare.Change) []string {
	out := words.Texts(list, func(c compare.Change) string {
		return fmt.Sprintf("%s: %s differs: A %s, B %s", compare.Label(c.Tool, c.Run), c.Name, values(c.A), values(c.B))
	})
	return out
}

// values joins the values of a setting; a side can lack it.
func values(list []string) string {
	if len(list) == 0 {
		return "does not say"
	}
	return strings.Join(list, " and ")
}

// singles lists the runs that only one side has, one line per tool and run.
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
