package report

import (
	"io"
	"strconv"
	"strings"

	"homenode/internal/texttab"
	"homenode/measure/published"
)

// Score writes how the prediction compares with published cases.
func Score(w io.Writer, s *published.Score, colour bool) error {
	p := &printer{w: w, colour: colour}
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true}}
	t.Row("RELEASE", "CASES", "COMPARED", "REPRODUCED")
	for _, r := range s.ByRelease() {
		t.Row(r.Release, strconv.Itoa(r.Cases), strconv.Itoa(r.Compared), strconv.Itoa(r.Reproduced))
	}
	cases, compared, reproduced := s.Count()
	t.Row("all", strconv.Itoa(cases), strconv.Itoa(compared), strconv.Itoa(reproduced))
	p.table(&t)
	for _, c := range s.Comparisons {
		for _, f := range c.Fields {
			if f.Agrees {
				continue
			}
			p.printf("\n%s %s: %s: predicted %s, published %s\n", p.paint(severityCode[2], "MISS"), c.Case.ID, f.Name, f.Predicted, f.Observed)
			reason := f.Reason
			if reason == "" {
				reason = "not explained"
			}
			p.printf("     %s\n     %s\n", reason, c.Case.Source)
		}
	}
	p.printf("\n%d of %d cases could not be compared: recommendations, measurements, or cases that leave open\nwhat decides (--format json lists each with its reason)\n", cases-compared, cases)
	return p.err
}

type scoreJSON struct {
	Cases         int        `json:"cases"`
	Compared      int        `json:"compared"`
	Reproduced    int        `json:"reproduced"`
	Misses        []missJSON `json:"misses"`
	NotComparable []openJSON `json:"not_comparable"`
}

type missJSON struct {
	ID        string `json:"id"`
	Field     string `json:"field"`
	Predicted string `json:"predicted"`
	Observed  string `json:"observed"`
	Reason    string `json:"reason"`
}

type openJSON struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// ScoreJSON writes the score as JSON.
func ScoreJSON(w io.Writer, s *published.Score) error {
	j := scoreJSON{Misses: []missJSON{}, NotComparable: []openJSON{}}
	j.Cases, j.Compared, j.Reproduced = s.Count()
	for _, c := range s.Comparisons {
		if !c.Comparable() {
			why := "the case states no field"
			if len(c.Open) > 0 {
				why = strings.Join(c.Open, "; ")
			}
			j.NotComparable = append(j.NotComparable, openJSON{c.Case.ID, why})
		}
		for _, f := range c.Fields {
			if !f.Agrees {
				j.Misses = append(j.Misses, missJSON{c.Case.ID, f.Name, f.Predicted, f.Observed, f.Reason})
			}
		}
	}
	return writeJSON(w, &j)
}
