package size

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/size/sheet"
)

// A PublishedRow is the JSON of a figure in an article. Missing numbers are omitted.
type PublishedRow struct {
	Experiment    string      `json:"experiment"`
	What          string      `json:"what"`
	Quantity      string      `json:"quantity"`
	Printed       string      `json:"printed"`
	Computed      float64     `json:"computed"`
	Deviation     *unit.Share `json:"deviation,omitempty"`
	Verdict       string      `json:"verdict"` // restated, unit, circular, the ID of an inconsistency, or MISSED
	Inconsistency string      `json:"inconsistency,omitempty"`
	Note          string      `json:"note,omitempty"`
}

// Published returns the published figures behind a command ("size io") with the recomputed
// values and the deviations. Its result is a []PublishedRow.
func Published(command string, checks []unit.Check) *answer.Answer {
	t := answer.Table{Name: "published", Columns: Columns("experiment", "what", "quantity", ">printed", ">computed", ">deviation", "verdict")}
	a := &answer.Answer{Command: command, Question: command + " --published: the published figures, computed again"}
	rows := make([]PublishedRow, 0, len(checks))
	var ids []string
	for i := range checks {
		c := &checks[i]
		row := PublishedRow{c.ID, c.What, c.Quantity, c.Printed, c.Computed, nil, c.Verdict(), c.Inconsistency, c.Note}
		if d, ok := c.Deviation(); ok {
			row.Deviation = &d
		}
		verdict := row.Verdict
		if verdict == c.Inconsistency && verdict != "" {
			ids = words.Once(ids, verdict)
			verdict += ": " + c.Note
		}
		t.Add(c.ID, c.What, c.Quantity, c.Printed, unit.Digits(c.Computed, 5), deviation(c), verdict)
		rows = append(rows, row)
	}
	a.Tables, a.Result = []answer.Table{t}, rows
	n := count(checks)
	a.Verdict = append(a.Verdict, fmt.Sprintf("Restated, by the article's own arithmetic: %d of %d printed figures; %d more are changes of a unit. None is a prediction.", n.restated, len(checks)-n.circular, n.units))
	if n.contradicted > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("Against the article's own arithmetic: %d (%s).", n.contradicted, strings.Join(ids, ", ")))
	}
	if n.missed > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("MISSED: %d.", n.missed))
	}
	if n.circular > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("Not counted, since the source does not print them or the sum begins with them: %d.", n.circular))
	}
	return a
}

// counts is the number of figures with each verdict.
type counts struct{ restated, units, contradicted, missed, circular int }

func count(checks []unit.Check) (n counts) {
	for i := range checks {
		switch p := &checks[i]; p.Verdict() {
		case "restated":
			n.restated++
		case string(unit.UnitChange):
			n.units++
		case string(unit.Circular):
			n.circular++
		case "MISSED":
			n.missed++
		default:
			n.contradicted++
		}
	}
	return n
}

// deviation formats the deviation of a figure from its printed value; "–" if it is unknown.
func deviation(c *unit.Check) string {
	if d, ok := c.Deviation(); ok {
		return sheet.Units["deviation"](float64(d))
	}
	return "–"
}
