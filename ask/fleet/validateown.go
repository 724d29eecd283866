package fleet

import (
	"context"
	"errors"
	"os"
	"strings"

	"homenode/ask"
	"homenode/esxi/vnuma"
	"homenode/measure/own"
	"homenode/measure/published"
	"homenode/output/answer"
	"homenode/output/measure"
	"homenode/rules"
	"homenode/source/open"
)

// own reports whether the arguments name a fleet. Files that can be parsed as cases are cases.
func (v *Validate) own() bool {
	if v.Evidence != nil {
		return true
	}
	for _, arg := range v.Args {
		if arg == open.Demo || arg == "vcenter" || strings.Contains(arg, "://") || strings.HasPrefix(arg, "@") {
			return true
		}
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			return true
		}
		if _, err := published.ReadFile(arg); err != nil {
			if _, err := open.File(arg); err == nil {
				return true
			}
		}
	}
	return false
}

// ofFleet compares the prediction with observations for the VMs of a fleet.
func (v *Validate) ofFleet(ctx context.Context, e *ask.Env, choices vnuma.Choices) (*ask.Reply, error) {
	if len(v.Args) == 0 {
		return nil, errors.New("want a SOURCE with the VMs that were seen")
	}
	fleet, err := v.ReadBy(ctx, e, choices, false, v.Args...)
	if err != nil {
		return nil, err
	}
	judged, err := rules.RunContext(ctx, fleet, rules.Options{Choices: choices})
	if err != nil {
		return nil, err
	}
	score := own.Of(judged, choices)
	a := measure.Own(score)
	a.NotesFrom("source", fleet.Notes...)
	r := &ask.Reply{Answers: []*answer.Answer{a}, Found: score.All.Unexplained > 0}
	return ask.Partly(r, nil, v.Incomplete())
}
