package report

import (
	"encoding/json"
	"io"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

// JSONVersion is the version of the JSON that this package writes; docs/json.md
// describes it. Fields may be added within a version, never changed or removed.
const JSONVersion = 1

type ruleJSON struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Severity finding.Severity `json:"severity"`
	Why      string           `json:"why"`
	Fix      string           `json:"fix"`
	Limits   string           `json:"limits"`
	Book     []string         `json:"ruleBook"`
	Sources  []string         `json:"sources"`

	Thresholds []thresholdJSON `json:"thresholds,omitempty"`
}

type thresholdJSON struct {
	Name    string    `json:"name"` // as the configuration has it: N005.seriousShare
	Default float64   `json:"default"`
	Unit    rule.Unit `json:"unit"`
	Least   float64   `json:"least"`
	Most    float64   `json:"most"`
	Text    string    `json:"text"`
}

// RulesJSON writes the rules as a JSON list.
func RulesJSON(w io.Writer, rs []*rule.Rule) error {
	out := make([]ruleJSON, len(rs))
	for i, r := range rs {
		out[i] = ruleJSON{r.ID, r.Name, r.Title, r.Severity, r.Why, r.Fix, r.Limits, r.Book, r.Sources, nil}
		for _, t := range r.Thresholds {
			out[i].Thresholds = append(out[i].Thresholds, thresholdJSON{r.ID + "." + t.Name, t.Default, t.Unit, t.Least, t.Most, t.Text})
		}
	}
	return writeJSON(w, out)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
