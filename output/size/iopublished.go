package size

import (
	"fmt"
	"math"
	"strings"

	"homenode/numa/unit"
	"homenode/size/iocost"

	"homenode/output/answer"
)

// publishedResult is what size io --published shows as JSON.
type publishedResult struct {
	Checks      []publishedCheck    `json:"checks"`
	Predictions []iocost.Prediction `json:"predictions"`
	Rules       []iocost.Rule       `json:"rules"`
	Points      []iocost.Point      `json:"points"`
}

// A publishedCheck is one figure of an article with its verdict.
type publishedCheck struct {
	ID        string      `json:"id"`
	What      string      `json:"what"`
	Quantity  string      `json:"quantity"`
	Printed   string      `json:"printed"`
	Computed  float64     `json:"recomputed"`
	Deviation *unit.Share `json:"deviation,omitempty"`
	Verdict   string      `json:"verdict"`
	Note      string      `json:"note,omitempty"`
}

// IOPublished returns the figures of the articles beside what they come to.
func IOPublished() (*answer.Answer, error) {
	m, err := iocost.New()
	if err != nil {
		return nil, err
	}
	predictions, err := iocost.Predictions()
	if err != nil {
		return nil, err
	}
	charts, err := publishedCharts(m)
	if err != nil {
		return nil, err
	}
	checks := iocost.Checks()
	result := publishedResult{Predictions: predictions, Rules: iocost.Rules(), Points: iocost.Published()}
	reproduced, missed := 0, 0
	for i := range checks {
		c := &checks[i]
		p := publishedCheck{ID: c.ID, What: c.What, Quantity: c.Quantity, Printed: c.Printed, Computed: c.Computed, Verdict: c.Verdict(), Note: c.Note}
		if d, ok := c.Deviation(); ok {
			p.Deviation = &d
		}
		switch p.Verdict {
		case "reproduced":
			reproduced++
		case "MISSED":
			missed++
		}
		result.Checks = append(result.Checks, p)
	}
	verdict := fmt.Sprintf("%d figures: %d reproduced, %d contradict the raw figures of their own article (I-5 to I-14, docs/size/io.md)", len(checks), reproduced, len(checks)-reproduced-missed)
	if missed > 0 {
		verdict += fmt.Sprintf(", %d MISSED", missed)
	}
	a := &answer.Answer{
		Command: "size io", Question: "size io --published: what the articles print, and what their own raw figures give",
		Verdict: []string{verdict + "."},
		Tables:  []answer.Table{iometerTable(result.Checks), checksTable(result.Checks), predictionTable(predictions), rulesTable(result.Rules)},
		Result:  result,
	}
	a.Note("In tests \"at IOPS limit\" the limit stopped the I/Os, not the hardware: 18 VMs × 8 disks × 5,000.",
		"CPU of the vSAN tests includes the load generators, which ran on the same hosts.")
	addCharts(a, charts)
	return a, nil
}

// iometerTable puts the two costs of each Iometer run in one row.
func iometerTable(checks []publishedCheck) answer.Table {
	right := func(name string) answer.Column { return answer.Column{Name: name, Right: true} }
	t := answer.Table{Name: "iometer", Title: "B-1: local NVMe", Columns: []answer.Column{
		{Name: "test"}, right("Hz per b/s"), right("recomputed"), right("deviation"), right("kHz per I/O"), right("recomputed"), right("deviation"), {Name: "verdict"},
	}}
	for i := range checks {
		c := &checks[i]
		if c.ID != "B-1" || c.Quantity != "Hz per b/s" {
			continue
		}
		row := []string{c.What, c.Printed, unit.Digits(c.Computed, 4), deviation(c.Deviation)}
		verdict := c.Verdict
		if io := &checks[i+1]; io.What == c.What && io.Quantity == "kHz per I/O" {
			row = append(row, io.Printed, unit.Digits(io.Computed, 5), deviation(io.Deviation))
			if verdict == "reproduced" {
				verdict = io.Verdict
			}
		}
		t.Add(append(row, verdict)...)
	}
	return t
}

// checksTable returns all other figures, one a row.
func checksTable(checks []publishedCheck) answer.Table {
	t := answer.Table{Name: "checks", Title: "B-1 to B-11", Columns: []answer.Column{
		{Name: "id"}, {Name: "what"}, {Name: "unit"}, {Name: "printed", Right: true}, {Name: "recomputed", Right: true}, {Name: "deviation", Right: true}, {Name: "verdict"},
	}}
	for i := range checks {
		c := &checks[i]
		if c.ID == "B-1" && (c.Quantity == "Hz per b/s" || c.Quantity == "kHz per I/O") {
			continue
		}
		verdict := c.Verdict
		if c.Note != "" && verdict != "reproduced" {
			verdict += ": " + c.Note
		}
		t.Add(c.ID, c.What, c.Quantity, c.Printed, recomputed(c), deviation(c.Deviation), verdict)
	}
	return t
}

// recomputed returns a figure with a digit more than the article prints.
func recomputed(c *publishedCheck) string {
	digits := 0
	if _, after, ok := strings.Cut(strings.TrimRight(c.Printed, "%"), "."); ok {
		digits = len(after) + 1
	} else if math.Abs(c.Computed) < 1e6 && c.Computed != math.Trunc(c.Computed) {
		digits = 1
	}
	if digits > 0 && strings.HasSuffix(c.Printed, ".00") {
		digits = 2
	}
	return unit.Grouped(c.Computed, digits)
}

func deviation(d *unit.Share) string {
	if d == nil {
		return ""
	}
	percent := float64(*d) * 100
	switch size := math.Abs(percent); {
	case size < 0.005:
		return "0 %"
	case size < 0.05:
		return fmt.Sprintf("%+.2f %%", percent)
	}
	return fmt.Sprintf("%+.1f %%", percent)
}

// predictionTable returns what model and rule make of the vSAN tests.
func predictionTable(predictions []iocost.Prediction) answer.Table {
	right := func(name string) answer.Column { return answer.Column{Name: name, Right: true} }
	t := answer.Table{Name: "predictions", Title: "B-5: GHz of a host, less idle", Columns: []answer.Column{
		{Name: "test"}, right("measured"), right("cost × IOPS"), right("deviation"), right("from pure tests"), right("deviation"), right("rule 3.5"), right("deviation"), {Name: "remark"},
	}}
	for _, p := range predictions {
		ghz := func(v unit.Hz) string {
			if v == 0 {
				return ""
			}
			return unit.Grouped(float64(v/unit.GHz), 1)
		}
		off := func(v unit.Hz) string {
			if v == 0 {
				return ""
			}
			d := unit.Share(v/p.Measured - 1)
			return deviation(&d)
		}
		remark := ""
		if p.Limited {
			remark = "at IOPS limit"
		}
		t.Add(p.Test, ghz(p.Measured), ghz(p.Model), off(p.Model), ghz(p.Mixed), off(p.Mixed), ghz(p.Rule), off(p.Rule), remark)
	}
	return t
}

// rulesTable returns the rules of thumb beside what they round.
func rulesTable(rules []iocost.Rule) answer.Table {
	t := answer.Table{Name: "rules", Title: "rules of thumb, Hz per b/s", Columns: []answer.Column{
		{Name: "path"}, {Name: "rule", Right: true}, {Name: "exact mean", Right: true}, {Name: "measured", Right: true}, {Name: "of"},
	}}
	for _, r := range rules {
		t.Add(
			pathNames[r.Path], unit.Digits(float64(r.Cost.Value), 3), unit.Digits(float64(r.Exact), 3),
			unit.Digits(float64(r.Cost.Low), 3)+" to "+unit.Digits(float64(r.Cost.High), 3), r.Cost.Note,
		)
	}
	return t
}
