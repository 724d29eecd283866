package fleet_test

import (
	"strings"
	"testing"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/source/scenario/given"
)

// TestExplainedHost: the sentence about a VM on a named host, after a named event, is about that host and that event.
func TestExplainedHost(t *testing.T) {
	f := given.Fleet(t, "hosts", []byte(`release 7.0U3
cluster m
host p1 nodes=2 cores=32 memory=1TB
host q1 nodes=4 cores=12 memory=512GB
host r1 nodes=1 cores=64 memory=1TB
vm hot40 host=p1 vcpus=40 memory=200GB hotAdd=on
vm mem   host=q1 vcpus=10 memory=300GB
vm mem2  host=p1 vcpus=10 memory=300GB
vm ok16  host=p1 vcpus=16 memory=64GB
vm node  host=q1 vcpus=24 memory=64GB numa.nodeAffinity=2
vm cps   host=p1 vcpus=24 memory=64GB coresPerSocket=24
vm ht    host=q1 vcpus=24 memory=200GB numa.vcpu.preferHT=TRUE
`))
	r := rules.Run(f, rules.Options{})
	want := map[string]string{
		"hot40 q1 power-cycle": "CPU hot add hides NUMA: 40 vCPUs run as 4 clients (4 × 10) but the guest sees 1 node, so 75 %",
		"hot40 p1 power-cycle": "CPU hot add hides NUMA on p1 (on q1 too, with 4 nodes of 12 cores and 128 GB): 40 vCPUs run as 2 clients (2 × 20)",
		"hot40 r1 power-cycle": "Nothing to do about it here. See below for 1 finding",
		"mem p1 power-cycle":   "Nothing to do about it here.",
		"mem2 q1 vmotion":      "Memory of 300 GB exceeds the 128 GB of its 1 node: ",
		"ok16 q1 power-cycle":  "Nothing to do about it here.",
		"ok16 q1 vmotion":      "Virtual node 0 is carried by 2 clients: 50 % of its memory",
		"cps q1 vmotion":       "Virtual node 0 is carried by 2 clients: 50 % of its memory",
		"ok16 p1 power-cycle":  "After vMotion to q1 the guest keeps its 1 node",
		"node q1 power-cycle":  "numa.nodeAffinity = 2 allows 1 node with 12 cores on q1",
		"node p1 power-cycle":  "P1 lacks node 2",
	}
	for v := range r.EachVM() {
		for i := range f.Hosts {
			h := &f.Hosts[i]
			for _, event := range []vnuma.Event{vnuma.PowerCycle, vnuma.VMotionIn} {
				c := vnuma.Case{Event: event}
				if h != v.Host {
					c.From = &v.Home.Machine
				}
				x, err := fleet.Explain(r, v, h, c)
				if err != nil {
					t.Fatal(err)
				}
				got, asked := x.Verdict(), v.Name+" "+h.Name+" "+event.String()
				if begins := want[asked]; !strings.HasPrefix(got, begins) {
					t.Errorf("%s: %q, want %q", asked, got, begins)
				}
				if h == v.Host && event == vnuma.PowerCycle {
					continue
				}
				for _, other := range []string{"p1", "q1", "r1"} {
					if other != h.Name && strings.Contains(got, other) {
						t.Errorf("%s: %q is about %s", asked, got, other)
					}
				}
				if _, spans := x.Layout.Spanning(); (spans || x.Layout.Memory.Away() > 0) && strings.HasPrefix(got, "Nothing") {
					t.Errorf("%s: %q of a layout with remote memory", asked, got)
				}
			}
		}
	}
}

// TestExplainedAccepted: the sentence about a VM whose findings are accepted begins with them.
func TestExplainedAccepted(t *testing.T) {
	f := given.Fleet(t, "hosts", []byte("release 7.0U3\nhost p1 nodes=2 cores=16 memory=1TB\nvm hot host=p1 vcpus=32 memory=200GB hotAdd=on\nvm fine host=p1 vcpus=8 memory=64GB\n"))
	accept, err := policy.Parse("homenode.yaml", []byte("suppress:\n  - rules: all\n    vm: hot\n    reason: agreed\n    until: 2030-01-01\n"), rules.All)
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{Policy: accept, Today: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	for v := range r.EachVM() {
		x, err := fleet.Explain(r, v, v.Host, vnuma.Case{})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Verdict(); strings.Contains(got, "accepted, ") != (v.Name == "hot") || v.Name == "hot" && !strings.Contains(got, "high severity. Nothing else") {
			t.Errorf("%s: %q", v.Name, got)
		}
	}
}
