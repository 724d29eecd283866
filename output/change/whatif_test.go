package change

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestPredicted counts the VMs that differ where a change names VMs, and all VMs where it affects their hosts.
func TestPredicted(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte("release 8.0U3\ncluster a\nhost esx1 nodes=2 cores=18 memory=512GB\nvm a1 host=esx1 vcpus=4 memory=8GB hw=19\nvm a2 host=esx1 vcpus=4 memory=8GB hw=19\n"))
	for text, want := range map[string]int{"vm=a1 vcpus=24": 1, "cluster=a release=9.0": 2} {
		change, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := whatif.Judge(t.Context(), nil, f, []whatif.Change{change}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(predicted(r)); len(got) != want {
			t.Errorf("%s: %d VMs are counted, want %d", text, len(got), want)
		}
	}
}

// TestReliefs: a change that gives a cluster the memory that it lacks, or part of it, says so at the head, as one that takes it away does.
func TestReliefs(t *testing.T) {
	const text = "release 8.0U3\ncluster c\nhost h1 nodes=2 cores=16 memory=256GB\nhost h2 nodes=2 cores=16 memory=256GB maintenance=on\nvm a host=h1 vcpus=4 memory=%s power=on\nvm b host=h1 vcpus=4 memory=200GB power=on\n"
	for _, tt := range []struct{ memory, change, start, end string }{
		{"200GB", "add-host=h1", "Today c lacks ", "after the change it lacks none, once VMs move to the hosts that it gains."},
		{"400GB", "add-host=h1", "Today c lacks ", " GB, once VMs move to the hosts that it gains."},
		{"200GB", "host=h2 maintenance=off", "Today c lacks ", "after the change it lacks none, once VMs move to the hosts that it gains."},
		{"200GB", "vm=a memory=20GB", "Today c lacks ", "after the change it lacks none."},
		{"20GB", "add-host=h1", "", ""},
		{"200GB", "vm=a memory=300GB", "", ""},
		{"200GB", "host=h1 maintenance=on", "", ""},
	} {
		change, err := whatif.Parse(tt.change)
		if err != nil {
			t.Fatal(err)
		}
		f := given.Fleet(t, "fleet", []byte(strings.Replace(text, "%s", tt.memory, 1)))
		r, err := whatif.Judge(t.Context(), nil, f, []whatif.Change{change}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, line := range WhatIf(r, Options{}).Verdict {
			if strings.HasPrefix(line, "Today c lacks") {
				got += line
			}
		}
		if !strings.HasPrefix(got, tt.start) || !strings.HasSuffix(got, tt.end) || tt.start == "" && got != "" {
			t.Errorf("a of %s, %s: found %q, want %q … %q", tt.memory, tt.change, got, tt.start, tt.end)
		}
	}
}

// TestSpares says which cluster no longer survives the loss of a host after the change.
func TestSpares(t *testing.T) {
	c := whatif.Capacity{Cluster: "epyc", Fits: true, Before: whatif.Supply{Hosts: 2}, Without: whatif.Failure{Host: "epyc01", Over: 46 << 30}}
	want := "Today epyc survives the loss of any one host, by the sum of memory; after the change it does not: if epyc01 fails, the other hosts lack 46 GB for the VMs."
	if got := spares([]whatif.Capacity{c}); len(got) != 1 || got[0] != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
