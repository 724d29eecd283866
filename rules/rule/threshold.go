package rule

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/rules/finding"
)

// A Threshold is a number that a rule decides by and that a fleet may set otherwise
// (homenode.yaml). Pages of rules have theirs in a table, checks read p.Threshold.
type Threshold struct {
	Name    string  // unique in the rule: seriousShare
	Default float64 // taken unless the configuration says otherwise
	Unit    Unit
	Text    string // what it decides, and why the default is what it is
	Least   float64
	Most    float64
}

// Write returns a value of the threshold as the configuration has it: "10 %", "4",
// "5 min", "12 GB".
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

// Parse reads a value as the configuration has it: what Write writes, and the number
// alone. It reports false for what is no value of the unit, or out of range.
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

// A Unit says what a threshold counts.
type Unit string

// The units of thresholds.
const (
	Share   Unit = "share"   // of a whole, in [0, 1]; written as 0.1 or 10 %
	Count   Unit = "count"   // of vCPUs, clients, nodes …: a whole number
	Ratio   Unit = "ratio"   // of two quantities, or a count over a time
	Minutes Unit = "minutes" // written as 5 or 5 min
	GiB     Unit = "GiB"     // of memory; written as 12 or 12 GB, as vSphere does
)

// Form says in words how values of the unit are written.
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

// A mark may stand behind a number, which is divided by scale then.
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

// Threshold returns the rule's threshold with this name: as the configuration sets
// it, else its default. A name that the rule does not declare is a bug of the rule.
func (p *Pass) Threshold(name string) float64 { return p.Rule.threshold(name, p.Thresholds) }

// Beyond returns how bad it is that so much of the VM's memory has no room on the nodes that it may use, whatever setting keeps it there.
func (p *Pass) Beyond(memory numa.Bytes) finding.Severity {
	if float64(memory) >= p.Threshold("seriousShare")*float64(p.VM.Guest.Memory) {
		return finding.High
	}
	return finding.Medium
}

// threshold returns the threshold with this name as set, else its default.
func (r *Rule) threshold(name string, set map[string]float64) float64 {
	if value, ok := set[r.ID+"."+name]; ok {
		return value
	}
	return r.Named(name).Default
}

// Named returns the rule's threshold with this name. One that it does not declare is a
// bug.
func (r *Rule) Named(name string) *Threshold {
	for i := range r.Thresholds {
		if t := &r.Thresholds[i]; t.Name == name {
			return t
		}
	}
	panic(fmt.Sprintf("rule %s has no threshold %q", r.ID, name))
}
