package change

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/optimise"
	"example.org/homenode/change/propose"
	"example.org/homenode/output/answer"
)

// TestActions: the numbers of vMotions and power cycles that are read are those of the steps, and not those of the VMs that end on another host.
func TestActions(t *testing.T) {
	move := propose.Step{VM: "a", What: "vMotion", From: "x", To: "y"}
	r := &propose.Result{Cluster: "c", VMs: 2, Hosts: 2, After: optimise.Score{Moves: 1, Cycles: 1}, Runs: &[2]propose.Outcome{{Findings: 3}, {Findings: 3}},
		Steps: []propose.Step{move, move, move, {VM: "b", What: "power cycle", To: "y"}}}
	a := Optimise(r)
	row := slices.IndexFunc(a.Tables, func(t answer.Table) bool { return t.Name == "estimated" })
	var cells []string
	for _, c := range a.Tables[row].Rows[1] {
		cells = append(cells, c.Text)
	}
	if cells[4] != "3" || cells[5] != "1" {
		t.Errorf("vMotions and power cycles of the table: %q", cells)
	}
	for _, want := range []string{"3 vMotions and 1 power cycle, estimated", "The simulation shows no difference."} {
		if text := strings.Join(a.Verdict, " "); !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	r.Runs[1].Findings = 2
	if text := strings.Join(Optimise(r).Verdict, " "); !strings.Contains(text, "Simulated: findings 3 → 2.") {
		t.Error(text)
	}
}

// TestWeightedCost: the weighted cost and its bound are below the table, and no part of the headline.
func TestWeightedCost(t *testing.T) {
	a := Optimise(&propose.Result{Cluster: "c", VMs: 2, Hosts: 2, After: optimise.Score{Total: 7}, Bound: optimise.Bound{Total: 5}})
	if text := strings.Join(a.Verdict, " "); strings.Contains(text, "cost") {
		t.Error(text)
	}
	if foot := strings.Join(a.Tables[0].Foot, " "); !strings.Contains(foot, "No distribution costs less than 5") {
		t.Error(foot)
	}
}

// An optimisation for N+1 says whether it is met, also where nothing is gained.
func TestNPlus1Told(t *testing.T) {
	for want, r := range map[string]propose.Result{
		"N+1 is met: ":     {Cluster: "c", VMs: 2, Hosts: 2, NPlus1: true},
		"N+1 is not met, ": {Cluster: "c", VMs: 2, Hosts: 2, NPlus1: true, Unsurvived: []string{"without a VMs with 1 GB find no room"}},
	} {
		if text := strings.Join(Optimise(&r).Verdict, " "); !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}
