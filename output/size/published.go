package size

import (
	"fmt"
	"slices"
	"strings"

	"homenode/numa/unit"

	"homenode/output/answer"
)

// publishedRow is a figure of an article in JSON. Numbers that do not exist are left out.
type publishedRow struct {
	Experiment    string      `json:"experiment"`
	What          string      `json:"what"`
	Quantity      string      `json:"quantity"`
	Printed       string      `json:"printed"`
	Computed      float64     `json:"computed"`
	Deviation     *unit.Share `json:"deviation,omitempty"`
	Verdict       string      `json:"verdict"` // reproduced, the id of an inconsistency, or MISSED
	Inconsistency string      `json:"inconsistency,omitempty"`
	Note          string      `json:"note,omitempty"`
}

// Published returns the published figures that a command ("size io") rests on beside what
// they come to, with the deviation.
func Published(command string, checks []unit.Check) *answer.Answer {
	t := answer.Table{Name: "published", Columns: []answer.Column{{Name: "exp"}, {Name: "what"}, {Name: "quantity"},
		{Name: "printed", Right: true}, {Name: "computed", Right: true}, {Name: "deviation", Right: true}, {Name: "verdict"}}}
	a := &answer.Answer{Command: command, Question: command + " --published: the published figures, computed again"}
	result := make([]publishedRow, 0, len(checks))
	reproduced, missed := 0, 0
	var ids []string
	for i := range checks {
		c := &checks[i]
		row := publishedRow{Experiment: c.ID, What: c.What, Quantity: c.Quantity, Printed: c.Printed, Computed: c.Computed,
			Verdict: c.Verdict(), Inconsistency: c.Inconsistency, Note: c.Note}
		deviation := "–"
		if d, ok := c.Deviation(); ok {
			row.Deviation, deviation = &d, signedPercent(d)
		}
		switch {
		case c.Reproduced():
			reproduced++
		case c.Inconsistency != "":
			if !slices.Contains(ids, c.Inconsistency) {
				ids = append(ids, c.Inconsistency)
			}
			if c.Note != "" {
				a.Note(fmt.Sprintf("%s, exp %s, %s: %s", c.Inconsistency, c.ID, c.What, c.Note))
			}
		default:
			missed++
		}
		t.Add(c.ID, c.What, c.Quantity, c.Printed, unit.Digits(c.Computed, 5), deviation, row.Verdict)
		result = append(result, row)
	}
	a.Tables, a.Result = []answer.Table{t}, result
	a.Verdict = append(a.Verdict, fmt.Sprintf("%d of %d printed figures come out within their rounding.", reproduced, len(checks)))
	if n := len(checks) - reproduced - missed; n > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("Against the article's own arithmetic: %d (%s).", n, strings.Join(ids, ", ")))
	}
	if missed > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("MISSED, neither reproduced nor explained: %d.", missed))
	}
	return a
}

// signedPercent writes a deviation with its sign, "+2.4 %".
func signedPercent(s unit.Share) string {
	text := s.String()
	switch {
	case strings.Trim(text, "-0. %") == "":
		return "0 %"
	case s > 0:
		return "+" + text
	}
	return text
}
