package policy_test

import (
	"strings"
	"testing"

	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// TestExpectErrors: each fault of an expectation is named with its place.
func TestExpectErrors(t *testing.T) {
	known := []*rule.Rule{{ID: "N001", Name: "hotaddhides"}}
	for text, want := range map[string]string{
		"expect: {}\n":                                   `c.yaml:1:9: found a mapping, want a list of expectations`,
		"expect: [{name: a, that: vcpus > 1}]\n":         "c.yaml:1:10: found an expectation without message",
		"expect: [{name: N001, that: true, message: m}]": `c.yaml:1:17: found name = "N001", want lower-case letters, digits and hyphens, and a name that no other rule has`,
		"expect:\n- {name: a, that: true, message: m}\n- {name: a, that: true, message: m}\n": `c.yaml:3:10: found name = "a", want lower-case letters, digits and hyphens, and a name that no other rule has`,
		"expect: [{name: a, that: true, message: m, until: soon}]":                            `c.yaml:1:51: found until = "soon", want a date such as 2027-01-31`,
		"expect: [{name: a, that: true, message: m, severity: bad}]":                          `c.yaml:1:54: severity: found "bad", want one of info, low, medium, high`,
		"expect: [{name: a, that: true, message: m, wrong: x}]":                               `c.yaml:1:44: found "wrong", which is unknown: want name, that, for, message, severity, until, holds or fails`,
		"expect: [{name: a, that: vcpu > 1, message: m}]":                                     "c.yaml:1:26: found a condition that cannot be evaluated: \"vcpu > 1\": unknown name vcpu (1:1)",
		"expect: [{name: a, that: vcpus, message: m}]":                                        "c.yaml:1:26: found a condition that cannot be evaluated: \"vcpus\": expected bool, but got int",
	} {
		_, err := policy.Parse("c.yaml", []byte(text), known)
		if err == nil || err.Error() != want {
			t.Errorf("%s\n%v\nwant %s", strings.TrimSpace(text), err, want)
		}
	}
}
