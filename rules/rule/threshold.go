package rule

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// A Threshold is a number in the decision of a rule that the configuration (homenode.yaml) can change. The pages of rules list theirs in
// a table; checks read p.Threshold.
type Threshold struct {
	Name    string  // unique in the rule: seriousShare
	Default float64 // used unless the configuration has another value
	Unit    Unit
	Text    string // the decision, and the reason for the default
	Least   float64
	Most    float64
}

// Write formats a value of the threshold as in the configuration: "10 %", "4", "5 min", "12 GB".
func (t *Threshold) Write(value float64) string {
	number := strconv.FormatFloat(value, 'f', -1, 64)
	switch t.Unit {
	case Share:
		return strconv.FormatFloat(value*100, 'f', -1, 64) + " %"
	case Minutes:
		return number + " min"
	case GiB:
		return number + " GB"
	}
	return number
}

// Parse parses a value in the configuration: the format of Write, or only the number. It returns false for an invalid value or unit, or a
// value out of range.
func (t *Threshold) Parse(text string) (value float64, ok bool) {
	number := strings.TrimSpace(text)
	scale := 1.0
	for _, mark := range t.Unit.marks() {
		if rest, found := strings.CutSuffix(number, mark.text); found {
			number, scale = strings.TrimSpace(rest), mark.scale
			break
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	value /= scale
	if err != nil || math.IsNaN(value) || t.Unit == Count && value != math.Trunc(value) || value < t.Least || value > t.Most {
		return 0, false
	}
	return value, true
}

// A Unit is the unit of a threshold.
type Unit string

// The units of thresholds.
const (
	Share   Unit = "share"   // of a total, in [0, 1]; written as 0.1 or 10 %
	Count   Unit = "count"   // of vCPUs, clients, nodes …: an integer
	Ratio   Unit = "ratio"   // of two quantities, or a count over a time
	Minutes Unit = "minutes" // written as 5 or 5 min
	GiB     Unit = "GiB"     // of memory; written as 12 or 12 GB, as vSphere does
)

// Form describes the format of values of the unit.
func (u Unit) Form() string {
	switch u {
	case Share:
		return "a share such as 0.15 or 15 %"
	case Count:
		return "a whole number"
	case Minutes:
		return "minutes such as 5 or 5 min"
	case GiB:
		return "memory such as 12 or 12 GB"
	}
	return "a number"
}

// A mark may follow a number, which is then divided by scale.
type mark struct {
	text  string
	scale float64
}

func (u Unit) marks() []mark {
	switch u {
	case Share:
		return []mark{{"%", 100}}
	case Minutes:
		return []mark{{"min", 1}}
	case GiB:
		return []mark{{"GiB", 1}, {"GB", 1}}
	}
	return nil
}

// Threshold returns the rule's threshold with this name: the value in the configuration, otherwise its default. A name that the rule does
// not declare is a bug of the rule.
func (p *Pass) Threshold(name string) float64 { return p.Rule.threshold(name, p.Thresholds) }

// Beyond returns the severity of having no room for this amount of the VM's memory on the nodes that it may use, for any setting that
// causes it.
func (p *Pass) Beyond(memory numa.Bytes) finding.Severity {
	if float64(memory) >= p.Threshold("seriousShare")*float64(p.VM.Guest.Resident()) {
		return finding.High
	}
	return finding.Medium
}

// threshold returns the value in set of the threshold with this name, otherwise its default.
func (r *Rule) threshold(name string, set map[string]float64) float64 {
	if value, ok := set[r.ID+"."+name]; ok {
		return value
	}
	return r.Named(name).Default
}

// Named returns the rule's threshold with this name. A name that it does not declare is a bug.
func (r *Rule) Named(name string) *Threshold {
	for i := range r.Thresholds {
		if t := &r.Thresholds[i]; t.Name == name {
			return t
		}
	}
	panic(fmt.Sprintf("rule %s has no threshold %q", r.ID, name))
}
