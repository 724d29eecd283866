package rule

import (
	"encoding/json"

	"example.org/homenode/internal/version"
	"example.org/homenode/rules/finding"
)

// Page returns the location of the rule's page: an address if the build knows one, otherwise
// the path in the project.
func (r *Rule) Page() string { return version.Page("docs/reference/rules/" + r.ID + ".md") }

// MarshalJSON writes the public fields of a rule, with the names of thresholds as in the
// configuration: N005.seriousShare.
func (r *Rule) MarshalJSON() ([]byte, error) {
	type threshold struct {
		Name    string  `json:"name"`
		Default float64 `json:"default"`
		Unit    Unit    `json:"unit"`
		Least   float64 `json:"least"`
		Most    float64 `json:"most"`
		Text    string  `json:"text"`
	}
	var thresholds []threshold
	for _, t := range r.Thresholds {
		thresholds = append(thresholds, threshold{r.ID + "." + t.Name, t.Default, t.Unit, t.Least, t.Most, t.Text})
	}
	return json.Marshal(struct {
		ID         string           `json:"id"`
		Name       string           `json:"name"`
		Title      string           `json:"title"`
		Page       string           `json:"page"`
		Severity   finding.Severity `json:"severity"`
		Why        string           `json:"why"`
		Fix        string           `json:"fix"`
		Limits     string           `json:"limits"`
		Book       []string         `json:"ruleBook"`
		Sources    []string         `json:"sources"`
		Thresholds []threshold      `json:"thresholds,omitempty"`
	}{r.ID, r.Name, r.Title, r.Page(), r.Severity, r.Why, r.Fix, r.Limits, r.Book, r.Sources, thresholds})
}
