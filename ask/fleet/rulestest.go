package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/homenode/ask"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/scenario"
)

// A tested is a VM of a scenario beside a rule of the owner.
type tested struct {
	Rule     string `json:"rule"`
	Scenario string `json:"scenario"` // holds or fails
	VM       string `json:"vm"`
	OK       bool   `json:"ok"`
	Found    string `json:"found"`
}

// test runs the scenarios beside the rules of the configuration.
func (r *Rules) test(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	if e.Policy == nil || len(e.Policy.Expect) == 0 {
		return nil, ask.Wrong("test", errors.New("the configuration expects nothing: want expect: in homenode.yaml (docs/checks.md)"))
	}
	var all []tested
	var without []string
	for i := range e.Policy.Expect {
		x := &e.Policy.Expect[i]
		if r.ID != "" && x.Rule.ID != r.ID {
			continue
		}
		if x.Holds == "" && x.Fails == "" {
			without = append(without, x.Rule.ID)
		}
		for _, s := range []struct{ name, text string }{{"holds", x.Holds}, {"fails", x.Fails}} {
			if s.text == "" {
				continue
			}
			one, err := runTest(ctx, x, s.name, s.text)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
	}
	wrong := 0
	t := answer.Table{Name: "tests", Title: "Tests", Columns: answer.Columns("rule", "scenario", "VM", "result", "found")}
	for _, one := range all {
		result := "as expected"
		if !one.OK {
			result, wrong = "WRONG", wrong+1
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: one.Rule}, {Text: one.Scenario}, {Text: one.VM}, {Text: result, Tone: answer.BadIf(!one.OK)}, {Text: one.Found}})
	}
	a := &answer.Answer{Command: "rules", Format: "homenode-rules-test", Tables: []answer.Table{t}, Result: struct {
		Tests []tested `json:"tests"`
	}{append([]tested{}, all...)}}
	a.Verdict = []string{fmt.Sprintf("%s of scenarios: %d wrong.", words.Plural(len(all), "VM"), wrong)}
	if without != nil {
		a.Verdict = append(a.Verdict, "Without a scenario: "+words.List(without)+".")
	}
	reply, err := ask.Answered(a, nil)
	reply.Found = wrong > 0
	return reply, err
}

// runTest judges the VMs of a scenario by one rule of the owner.
func runTest(ctx context.Context, x *policy.Expectation, name, text string) ([]tested, error) {
	fleet, err := scenario.Read(fmt.Sprintf("%s: %s of %s", x.At, name, x.Rule.ID), []byte(text))
	if err != nil {
		return nil, err
	}
	one := *x
	one.Until = ""
	r, err := rules.RunContext(ctx, fleet, rules.Options{Policy: &policy.Policy{Expect: []policy.Expectation{one}}})
	if err != nil {
		return nil, err
	}
	var out []tested
	for i := range fleet.VMs {
		v := &fleet.VMs[i]
		at := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == x.Rule.ID && f.VMID == v.ID })
		result := tested{Rule: x.Rule.ID, Scenario: name, VM: v.Name, OK: (at < 0) == (name == "holds"), Found: "nothing"}
		if at >= 0 {
			result.Found = r.Findings[at].Message
		}
		if r.Failed != nil { // what cannot be evaluated neither holds nor fails
			result.OK = false
		}
		out = append(out, result)
	}
	return out, nil
}
