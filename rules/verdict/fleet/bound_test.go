package fleet_test

import (
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules"
	"example.org/homenode/rules/verdict/fleet"
)

func explain(t *testing.T, r *rules.Result, vm, on string) *fleet.Explanation {
	t.Helper()
	for _, v := range r.ByID() {
		if v.Name == vm {
			x, err := fleet.Explain(r, v, r.Machine(on), vnuma.Case{})
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
	}
	t.Fatal("no VM " + vm)
	return nil
}

// TestBound explains VMs on another host of like ones: a device of their host binds those with DirectPath I/O, and no other.
func TestBound(t *testing.T) {
	const host = " nodes=2 cores=16 memory=512GB\n"
	r := judge(t, "release 8.0U3\ncluster p\nhost esx01"+host+"host esx02"+host+"host esx03"+host+
		"vm gpu host=esx01 vcpus=12 memory=200GB hw=20 reserveAll=on pci=3b:00.0\nvm app host=esx01 vcpus=12 memory=200GB hw=20\n")
	if x := explain(t, r, "gpu", "esx02"); !x.Layout.Refused.Any() || !strings.Contains(x.Verdict(), "PCI device of another host") {
		t.Errorf("gpu on esx02: %s", x.Verdict())
	}
	if x := explain(t, r, "gpu", "esx01"); x.Layout.Refused.Any() || len(x.Others) != 1 || len(x.Others[0].Of) != 2 || !x.Others[0].Layout.Refused.Any() {
		t.Errorf("gpu on esx01: %s, others %+v", x.Layout.Refused, x.Others)
	}
	if x := explain(t, r, "app", "esx02"); x.Layout.Refused.Any() || x.Others[0].Layout.Refused.Any() {
		t.Errorf("app on esx02: %s", x.Layout.Refused)
	}
	if fits := fleet.Clusters(r)[0].Fits(); fits != "no: 1 VM differs by host" {
		t.Errorf("fits everywhere: %s", fits)
	}
}

// TestWholePlan has a VM with a plan and a finding with a cure of its own: the plan that explain shows has both, as that of fix.
func TestWholePlan(t *testing.T) {
	r := judge(t, "release 7.0U3\ncluster hana\nhost esx01 nodes=2 cores=24 memory=1536GB mhz=2400\n"+
		"vm hana1 host=esx01 vcpus=48 memory=700GB hw=19 latency=high reserveAll=on cpuReservation=115200 numa.vcpu.preferHT=TRUE cpuAffinity=0-47 hotAdd=on\n")
	x := explain(t, r, "hana1", "esx01")
	if x.Plan == nil {
		t.Fatal("no plan")
	}
	if got := strings.Join(x.Plan.Findings, " "); got != "N023 N012" || x.Plan.Effect[0].Needed != "2×24" || !strings.Contains(strings.Join(x.Plan.Undo, "; "), "cpuAffinity = 0,1,2") {
		t.Errorf("plan for %s makes %s; undo %q", got, x.Plan.Effect[0].Needed, x.Plan.Undo)
	}
}
