package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/diff"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// TestRoom: a VM that no host powers on after a change takes no finding with it that would look cured, and is counted where its cluster
// has room; a VM that is powered on shows where its host has not enough memory, though its cluster has.
func TestRoom(t *testing.T) {
	f, err := scenario.Read("room", []byte(`release 8.0U3
cluster prod
host new nodes=2 cores=16 memory=512GB mhz=2600
host old release=7.0U3 nodes=2 cores=16 memory=256GB mhz=2600
vm newer host=new vcpus=20 coresPerSocket=20 memory=60GB hw=20 hotAdd=on power=on
vm tied host=new vcpus=24 memory=60GB hw=19 hotAdd=on pci=3b:00.0 reserveAll=on power=on
vm stays host=old vcpus=8 memory=200GB hw=19 power=on
vm cold host=old vcpus=8 memory=100GB hw=19 power=off
`))
	if err != nil {
		t.Fatal(err)
	}
	judge := func(texts ...string) *Result {
		changes := make([]Change, len(texts))
		for i, text := range texts {
			if changes[i], err = Parse(text); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Judge(t.Context(), nil, f, changes, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := judge("cluster=prod maintenance=on", "vm=newer hotAdd=off"); r.Better != 0 || len(r.VMs) == 0 {
		t.Errorf("%d VMs are better where no host runs them", r.Better)
	}
	if r := judge("vm=newer hotAdd=off"); r.Better != 1 {
		t.Errorf("%d VMs are better without hot add, want 1", r.Better)
	}
	lost := judge("lose-host=new")
	if lost.Stopped != 2 {
		t.Errorf("%d VMs cannot run, want 2", lost.Stopped)
	}
	stopped := 0
	for _, x := range lost.Findings {
		if ends := x.B == nil && (x.A.VM == "newer" || x.A.VM == "tied" || x.A.Rule == "N032"); ends != (x.Change() == "cannot run") {
			t.Errorf("%s of %s: %s", x.Of().Rule, x.Of().Subject(), x.Change())
		} else if ends {
			stopped++
		}
	}
	if stopped < 2 {
		t.Errorf("%d findings end with their VMs", stopped)
	}
	if len(lost.Capacity) != 1 || lost.Capacity[0].Stopped != 2 || !lost.Capacity[0].Fits {
		t.Errorf("capacity: %+v, want 2 VMs that cannot run", lost.Capacity)
	}
	for change, want := range map[string][]string{
		"vm=cold power=on":             {"prod 420 GB of 768 GB", "prod/old 300 GB of 256 GB"},
		"vm=cold power=on memory=50GB": {"prod 370 GB of 768 GB"},
		"vm=stays host=new":            nil, // 320 GB of 512 GB
	} {
		var got []string
		for _, c := range judge(change).Capacity {
			got = append(got, fmt.Sprintf("%s %s of %s", c.Cluster, c.After.Configured, c.After.Memory))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
}

// TestWorseWhere: a VM that is changed is worse off if another host of its cluster serves it worse than before, and if its host has too little memory then;
// the finding about the memory of that host stays.
func TestWorseWhere(t *testing.T) {
	f := given.Fleet(t, "where", []byte(`release 8.0U3
cluster prod
host two nodes=2 cores=32 memory=512GB
host four nodes=4 cores=16 memory=512GB
vm full host=two vcpus=8 memory=400GB hw=19 power=on
vm next host=two vcpus=8 memory=110GB hw=19 power=off
cluster none
host away nodes=2 cores=16 memory=512GB
vm hot host=away vcpus=24 memory=200GB hw=19 hotAdd=on power=on
`))
	for change, want := range map[string]string{
		"vm=hot vcpus=40 host=two":              "on four: 2×14+12 blind +67 %, 93.7 GB beyond the memory of its host",
		"vm=hot vcpus=40 host=two memory=100GB": "on four: 2×14+12 blind +67 %",
	} {
		c, err := Parse(change)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(t.Context(), nil, f, []Change{c}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Worse != 1 || r.Better+r.Other != 0 || !strings.HasSuffix(strings.Join(r.VMs[0].Why, ", "), want) {
			t.Errorf("%s: %d worse, %q; want 1, %q", change, r.Worse, r.VMs[0].Why, want)
		}
		if slices.ContainsFunc(r.Findings, func(f diff.Finding) bool { return f.B == nil && f.A.Rule == "H007" }) {
			t.Errorf("%s: H007 is gone", change)
		}
	}
}

// TestStoppedWhere: a VM that cannot run is counted where it was, also where a standalone host has the name of the cluster.
func TestStoppedWhere(t *testing.T) {
	f, err := scenario.Read("where", []byte(`release 8.0U3
cluster prod
host a nodes=2 cores=16 memory=512GB mhz=2600
vm one host=a vcpus=8 memory=60GB hw=21 power=on
vm two host=a vcpus=8 memory=60GB hw=21 power=on
cluster none
host prod nodes=2 cores=16 memory=512GB mhz=2600
vm three host=prod vcpus=8 memory=60GB hw=21 power=on
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("vm=* hw=22 memory=70GB")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(t.Context(), nil, f, []Change{c}, rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, c := range r.Capacity {
		got = append(got, c.Stopped)
	}
	if !slices.Equal(got, []int{2, 1}) {
		t.Errorf("%d VMs cannot run, want 2 of the cluster and 1 of the host", got)
	}
}

// TestStoppedLeftOut: a VM that no host powers on after a change counts neither with its memory nor with its vCPUs, and is named.
func TestStoppedLeftOut(t *testing.T) {
	f, err := scenario.Read("left", []byte(`release 8.0U3
cluster prod
host a[1-2] nodes=2 cores=16 memory=512GB mhz=2600
vm one host=a1 vcpus=8 memory=60GB hw=21 power=on
vm two host=a2 vcpus=4 memory=40GB hw=21 power=on
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("vm=one hw=22 vcpus=16")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(t.Context(), nil, f, []Change{c}, rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Capacity) != 1 {
		t.Fatalf("capacity: %+v, want one", r.Capacity)
	}
	got := &r.Capacity[0]
	if s := got.After; s.VMs != 1 || s.VCPUs != 4 || s.Configured != 40*numa.GiB || got.Stopped != 1 || !slices.Equal(got.Out, []string{"one"}) {
		t.Errorf("found %+v, want the other VM alone, and the name of the one left out", got)
	}
}

// TestSpare: a change after which the memory for the failure of any one host is no longer enough is told, with today's.
func TestSpare(t *testing.T) {
	f := given.Fleet(t, "spare", []byte(`release 8.0U3
cluster prod
host a[1-2] nodes=2 cores=16 memory=512GB mhz=2600
vm one host=a1 vcpus=8 memory=300GB hw=21 power=on
vm two host=a2 vcpus=4 memory=100GB hw=21 power=on
`))
	for change, want := range map[string]bool{"vm=two memory=300GB": true, "vm=two memory=110GB": false, "vm=two memory=900GB": false} {
		c, err := Parse(change)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(t.Context(), nil, f, []Change{c}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := &r.Capacity[0]; got.LosesSpare() != want || got.Today.Over != 0 {
			t.Errorf("%s: %+v, want the spare host lost: %v", change, got, want)
		}
	}
}

// TestStoppedWhereItMoves: a VM that its new cluster does not power on is counted there, also if a filter does not show it.
func TestStoppedWhereItMoves(t *testing.T) {
	f, err := scenario.Read("moves", []byte(`release 8.0U3
cluster new
host n[1-2] nodes=2 cores=16 memory=512GB mhz=2600
vm newer host=n1 vcpus=8 memory=60GB hw=20 power=on
vm other host=n2 vcpus=8 memory=60GB hw=19 power=on
cluster old
host o1 release=7.0U3 nodes=2 cores=16 memory=256GB mhz=2600
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("vm=newer host=o1")
	if err != nil {
		t.Fatal(err)
	}
	other, err := filter.New(filter.Options{VMs: []string{"other"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []*filter.Filter{nil, other} {
		r, err := Judge(t.Context(), nil, f, []Change{c}, rules.Options{}, shown)
		if err != nil {
			t.Fatal(err)
		}
		stopped := map[string]int{}
		for _, c := range r.Capacity {
			stopped[c.Cluster] = c.Stopped
		}
		if want := map[string]int{"new": 0, "old": 1}; !maps.Equal(stopped, want) {
			t.Errorf("VMs that cannot run: %v, want %v", stopped, want)
		}
		if len(r.Whole.VMs) != 2 {
			t.Errorf("the changed fleet has %d VMs, want 2", len(r.Whole.VMs))
		}
	}
}

// TestCapacityLimit: memory above the memory limit of a VM is never on a host, so that capacity does not count it.
func TestCapacityLimit(t *testing.T) {
	f, err := scenario.Read("limit", []byte(`release 8.0U3
cluster c
host h[1-3] nodes=2 cores=16 memory=256GB mhz=2600
vm limited host=h1 vcpus=8 memory=500GB memoryLimit=100GB hw=20 power=on
vm other host=h2 vcpus=8 memory=100GB hw=20 power=on
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("lose-host=h3")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(t.Context(), nil, f, []Change{c}, rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if one := r.Capacity[0]; len(r.Capacity) != 1 || one.After.Configured != 200*numa.GiB || one.After.Over() != 0 || one.Without.Over != 0 {
		t.Errorf("found %+v, want 200 GB that fit one host", r.Capacity)
	}
}
