package simulate_test

import (
	"context"
	"testing"

	"homenode/simulate"
	"homenode/source/demo"
)

func TestDemo(t *testing.T) {
	s, err := demo.Story()
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), s, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Outcome.Decisions {
		name := ""
		if d.VM >= 0 {
			name = s.Fleet.VMs[d.VM].Name
		}
		t.Log(d.At, s.Fleet.Hosts[d.Host].Name, name, d.Client, d.Kind, d.Why(s.Fleet))
	}
	for _, f := range r.Watched.Findings {
		t.Log(f.Rule, f.Severity, f.Message)
	}
	for i, p := range r.Speeds {
		t.Log(s.Fleet.VMs[i].Name, p.Mean, p.Low, p.High, p.Worst, p.WorstAt, p.Far)
	}
}
