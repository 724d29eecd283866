package rulebook

import (
	_ "embed"
	"strings"

	"example.org/homenode/numa/pattern"
)

// Record is the record of published experiments in Markdown: each article, and each experiment with
// its set-up and observations. Cases of measure/published and figures of the size commands cite the
// experiments by name.
//
//go:embed experiments.md
var Record string

// An Experiment is one entry of the record.
type Experiment struct {
	Name    string `json:"name"`             // such as e-spill
	Former  string `json:"former,omitempty"` // its former id, such as E-1, which may be a statement too
	Title   string `json:"title"`
	Text    string `json:"text"`    // set-up and figures, in Markdown
	Article string `json:"article"` // author, title and date of the publication
	Host    string `json:"host"`    // the set-up common to the article's experiments, in Markdown
}

// Experiments lists the record in its order.
var Experiments = parseRecord(Record)

var experimentHead = pattern.Of(`^([a-f]-[a-z0-9-]+): (.*?)(?: \(formerly ([A-E]-[0-9]+)\))?$`)

func parseRecord(record string) []Experiment {
	var out []Experiment
	for article := range strings.SplitSeq(record, "\n## ") {
		parts := strings.Split(strings.TrimPrefix(article, "## "), "\n### ")
		head, host, _ := strings.Cut(parts[0], "\n")
		_, source, _ := strings.Cut(head, ": ")
		for _, p := range parts[1:] {
			title, text, _ := strings.Cut(p, "\n")
			if m := experimentHead.FindStringSubmatch(title); m != nil {
				out = append(out, Experiment{Name: m[1], Title: m[2], Former: m[3], Text: strings.TrimSpace(text), Article: source, Host: strings.TrimSpace(host)})
			}
		}
	}
	return out
}

// FindExperiment returns the experiment with this name, ignoring case, or with its former id after the word exp.
func FindExperiment(name string) (Experiment, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	former, old := strings.CutPrefix(name, "exp ")
	for _, e := range Experiments {
		if e.Name == name || old && strings.EqualFold(e.Former, former) {
			return e, true
		}
	}
	return Experiment{}, false
}
