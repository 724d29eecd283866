package site

import (
	"fmt"
	"slices"
	"strconv"

	"homenode/output/answer"
)

// A page waits for its simulation, so what it simulates is bounded; the command line is not.
const (
	mostHours  = 24.0
	mostPlayed = 2_000 // VMs
)

// showSimulate plays the NUMA scheduler over the fleet.
func showSimulate(x *request) (*view, error) {
	if x.fleet == nil {
		return nil, errNoFleet
	}
	fields, flags := x.asked(
		field{Name: "hours", Label: "Hours, up to 24", Hint: "4", Default: "4"},
		field{Name: "load", Label: "Load", Hint: "sql* cpu=60% memory=80%", Long: true},
		field{Name: "at", Label: "What happens", Hint: "2h fail esx07", Long: true},
		field{Name: "what-if", Label: "Change before", Hint: "vm=sql* hotAdd=off", Long: true},
		field{Name: "lose-host", Label: "Without host", Hint: "esx01"},
		field{Name: "vm", Label: "Only this VM", Hint: "sql01"},
		field{Name: "seed", Label: "Seed", Hint: "1"},
	)
	v := &view{fields: fields, most: 10, title: "Simulate"}
	if hours, err := strconv.ParseFloat(valueOf(fields, "hours"), 64); err != nil || !(hours > 0 && hours <= mostHours) {
		return v, fmt.Errorf("hours: found %q, want a number up to %v; the command line simulates longer", valueOf(fields, "hours"), mostHours)
	}
	if n := len(x.fleet.Result.Fleet.VMs); n > mostPlayed {
		return v, fmt.Errorf("%d VMs are too many to simulate while a page waits, which takes %d: use the command line, homenode simulate", n, mostPlayed)
	}
	v.command = append([]string{"simulate", Source}, flags...)
	if !x.query.Has("hours") { // a simulation is asked for, not made by looking at the page
		v.command = nil
		v.answer = &answer.Answer{Title: "Simulate", Verdict: []string{"The model of the NUMA scheduler runs over this fleet when you press Show."}}
		return v, nil
	}
	a, err := x.ask(v.command...)
	if err != nil {
		return v, err
	}
	v.answer = a
	if valueOf(fields, "vm") != "" {
		return v, nil
	}
	why, err := x.ask(append([]string{"simulate", Source, "--why"}, flags...)...)
	if err != nil {
		return v, err
	}
	out := *a
	for _, t := range why.Tables {
		if t.Name == "decisions" {
			t.Title, t.Lead = "Decisions", "Every decision of the scheduler with its reason, as the command says with --why."
			out.Tables = append(slices.Clone(a.Tables), t)
			break
		}
	}
	v.answer = &out
	return v, nil
}
