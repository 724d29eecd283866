package fleet_test

import (
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/output/fleet"
	"example.org/homenode/rules"
	judged "example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/source/scenario/given"
)

// TestNoVMotion: where a VM that runs does not move to a host of another maker, the headline says it, and no layout after a vMotion.
func TestNoVMotion(t *testing.T) {
	f := given.Fleet(t, "fleet.txt", []byte(`release 8.0U3
cluster c
host x1 nodes=2 cores=16 memory=256GB cpu="Xeon Gold 6130"
host e1 nodes=2 cores=32 memory=1024GB cpu="EPYC 7543"
vm runs host=x1 vcpus=8 memory=64GB hw=19 power=on
vm off host=x1 vcpus=8 memory=64GB hw=19 power=off
`))
	r := rules.Run(f, rules.Options{})
	for v := range r.EachVM() {
		for _, event := range []vnuma.Event{vnuma.PowerCycle, vnuma.VMotionIn} {
			x, err := judged.Explain(r, v, &f.Hosts[1], vnuma.Case{Event: event, From: &v.Home.Machine})
			if err != nil {
				t.Fatal(err)
			}
			headline := strings.Join(fleet.Explain(x).Verdict, " ")
			stays := strings.HasPrefix(headline, "No vMotion of a running VM is possible between Intel (x1) and AMD (e1): ") && !strings.Contains(headline, "guest sees")
			if want := v.Name == "runs" && event == vnuma.VMotionIn; stays != want {
				t.Errorf("%s, %s: found the headline %q", v.Name, event, headline)
			}
		}
	}
}
