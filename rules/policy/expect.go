package policy

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/rules/condition"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// An Expectation is a rule of the owner: a condition for VMs.
type Expectation struct {
	That     *condition.Condition // required condition
	For      *condition.Condition // selects the VMs; nil for all
	Text     string               // of That
	Severity finding.Severity
	Until    string // last day on which it applies; "" for no end
	At       string // file:line:col
	Line     int
	// Holds and Fails are scenarios for tests: That is true for every VM in Holds, and for none in Fails; "" for none.
	Holds, Fails string
	Rule         *rule.Rule // its entry in lists of rules
}

// Own returns the rules of the owner; p may be nil.
func (p *Policy) Own() (out []*rule.Rule) {
	for i := 0; p != nil && i < len(p.Expect); i++ {
		out = append(out, p.Expect[i].Rule)
	}
	return out
}

// Words are the words of expectations in addition to those of conditions, each with a value of its type: about the layout on the host, and
// about findings.
var Words = map[string]any{
	"guestNodes": 0, "guestNodeSize": 0, "clients": 0, "homeNodes": 0, "remoteShare": 0.0, "wide": false, "powersOn": false,
	"planned": false, "findings": []string{}, "settings": map[string]string{},
}

// Over reports whether the expectation ended before today.
func (e *Expectation) Over(today time.Time) bool {
	return e.Until != "" && e.Until < today.Format(time.DateOnly)
}

// expectations parses the rules of the owner. It runs before the severities and suppressions, which may refer to them.
func (r *reader) expectations(p *Policy, top *yaml.Node) {
	for i := 0; top.Kind == yaml.MappingNode && i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value != "expect" {
			continue
		}
		list := top.Content[i+1]
		if list.Kind != yaml.SequenceNode {
			r.errorf(list, "found %s, want a list of expectations", kind(list))
			return
		}
		known := slices.Clone(r.rules)
		for _, item := range list.Content {
			e := Expectation{Severity: finding.Medium, Line: item.Line, Rule: &rule.Rule{VMs: true, Severity: finding.Medium}}
			before := len(r.faults)
			if r.expectation(&e, item); len(r.faults) == before {
				known = append(known, e.Rule)
				p.Expect = append(p.Expect, e)
			}
			r.rules = known
		}
	}
}

// expectation parses an item of the list.
func (r *reader) expectation(e *Expectation, item *yaml.Node) {
	has := map[string]bool{}
	e.At = r.place(item)
	r.mapping(item, []string{"name", "that", "for", "message", "severity", "until", "holds", "fails"}, func(key string, _, v *yaml.Node) {
		has[key] = true
		text, ok := r.scalar(v)
		if !ok {
			return
		}
		switch key {
		case "name":
			if !named(text) || slices.ContainsFunc(r.rules, func(one *rule.Rule) bool { return one.ID == text || one.Name == text }) {
				r.errorf(v, "found name = %q, want lower-case letters, digits and hyphens, and a name that no other rule has", short(text))
			}
			e.Rule.ID, e.Rule.Name = text, text
		case "that":
			e.Text, e.That = text, r.condition(v, text)
		case "for":
			e.For = r.condition(v, text)
		case "message":
			e.Rule.Title, e.Rule.Why = text, text
		case "severity":
			var err error
			if e.Severity, err = finding.ParseSeverity(text); err != nil {
				r.errorf(v, "severity: %v", err)
			}
			e.Rule.Severity = e.Severity
		case "until":
			e.Until = text
			if _, err := time.Parse(time.DateOnly, text); err != nil {
				r.errorf(v, "found until = %q, want a date such as 2027-01-31", short(text))
			}
		case "holds":
			e.Holds = text
		case "fails":
			e.Fails = text
		}
	})
	if item.Kind != yaml.MappingNode {
		return
	}
	for _, key := range []string{"name", "that", "message"} {
		if !has[key] {
			r.errorf(item, "found an expectation without %s", key)
		}
	}
	e.Rule.Fix = "Change the VM so that this holds: " + e.Text
	e.Rule.Limits = "It is a rule of the owner of the fleet: " + e.At
	e.Rule.Sources = []string{e.At}
}

// condition compiles an expression.
func (r *reader) condition(n *yaml.Node, text string) *condition.Condition {
	c, err := condition.CompileWith(text, Words)
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n") // the rest shows the expression
		r.errorf(n, "found a condition that cannot be evaluated: %s", why)
	}
	return c
}

// named reports whether a text is a name: lower-case letters, digits and hyphens, a letter first.
func named(s string) bool {
	rest := strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-")
	return s != "" && len(s) <= 60 && rest == "" && s[0] >= 'a' && s[0] <= 'z'
}
