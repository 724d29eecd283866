package rule

import (
	"fmt"
	"strconv"
)

// A Threshold is a number that a rule decides by and that a fleet may set otherwise
// (homenode.yaml). Rules declare theirs in Rule.Thresholds and read p.Threshold.
type Threshold struct {
	Name    string  // unique in the rule: seriousShare
	Default float64 // taken unless the configuration says otherwise
	Unit    Unit
	Text    string // what it decides, and why the default is what it is
	Least   float64
	Most    float64
}

// Write returns a value of the threshold as the configuration has it: "10 %", "4".
func (t *Threshold) Write(value float64) string {
	if t.Unit == Share {
		return strconv.FormatFloat(value*100, 'f', -1, 64) + " %"
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// A Unit says what a threshold counts.
type Unit string

// The units of thresholds.
const (
	Share Unit = "share" // of a whole, in [0, 1]; written as 0.1 or 10 %
	Count Unit = "count" // of vCPUs, clients, nodes …: a whole number
	Ratio Unit = "ratio" // of two quantities
)

// Threshold returns the rule's threshold with this name: as the configuration sets
// it, else its default. A name that the rule does not declare is a bug of the rule.
func (p *Pass) Threshold(name string) float64 { return p.Rule.threshold(name, p.Thresholds) }

// threshold returns the threshold with this name as set, else its default.
func (r *Rule) threshold(name string, set map[string]float64) float64 {
	for i := range r.Thresholds {
		t := &r.Thresholds[i]
		if t.Name != name {
			continue
		}
		if value, ok := set[r.ID+"."+name]; ok {
			return value
		}
		return t.Default
	}
	panic(fmt.Sprintf("rule %s has no threshold %q", r.ID, name))
}
