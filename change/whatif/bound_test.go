package whatif_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/whatif"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// TestWorse has changes that take from a VM what NUMA needs: its host and with it a device, and the NUMA scheduler.
func TestWorse(t *testing.T) {
	const hosts = "release 8.0U3\ncluster p\nhost esx01 nodes=2 cores=16 memory=512GB mhz=2600\nhost esx02 nodes=2 cores=16 memory=512GB mhz=2600\n"
	for _, tt := range []struct {
		vm, change, why string
		stops           bool
	}{
		{"vcpus=12 memory=200GB hw=20 reserveAll=on pci=3b:00.0", "lose-host=esx01", "stays down: its passthrough device 0000:3b:00.0 is in the lost host", true},
		{"vcpus=12 memory=200GB hw=20 reserveAll=on", "lose-host=esx01", "", false},
		{"vcpus=8 memory=64GB", "host=esx01 Numa.RebalanceEnable=0", "no home node", false},
		{"vcpus=24 memory=64GB", "host=esx01 Numa.RebalanceEnable=0", "no home node", false},
		{"vcpus=8 memory=64GB", "host=esx01 Numa.RebalanceCoresTotal=32 Numa.RebalanceCoresNode=17", "no home node", false},
		{"vcpus=8 memory=64GB", "host=esx01 Numa.RebalanceEnable=1", "", false},
	} {
		f, err := scenario.Read("test", []byte(hosts+"vm v host=esx01 "+tt.vm+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := whatif.Judge(t.Context(), nil, f, parse(t, tt.change), rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.VMs, func(v diff.VM) bool { return v.Verdict == diff.Worse })
		if tt.why == "" {
			if i >= 0 {
				t.Errorf("%s, %s: worse: %q", tt.vm, tt.change, r.VMs[i].Why)
			}
			continue
		}
		if i < 0 || !strings.Contains(strings.Join(r.VMs[i].Why, "; "), tt.why) || (r.Stopped > 0) != tt.stops || len(r.Notes()) > 0 {
			t.Errorf("%s, %s: %+v, notes %v", tt.vm, tt.change, r.VMs, r.Notes())
		}
	}
}

// TestSpreads switches the NUMA scheduler off on a second host: it is new of the second.
func TestSpreads(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 8.0U3\ncluster p\nhost esx01 nodes=2 cores=16 memory=256GB Numa.RebalanceEnable=0\nhost esx02 nodes=2 cores=16 memory=256GB\nvm v host=esx01 vcpus=8 memory=64GB\n"))
	for change, want := range map[string]bool{"host=esx02 Numa.RebalanceEnable=0": true, "host=esx01 Numa.PageMigEnable=1": false, "host=esx02 Numa.PageMigEnable=1": false, "lose-host=esx02": false} {
		r, err := whatif.Judge(t.Context(), nil, f, parse(t, change), rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(r.Findings, func(f diff.Finding) bool { return f.A == nil && f.B.Rule == "H008" })
		if got != want || r.Worsens(finding.Medium) != want {
			t.Errorf("%s: H008 is new: %v, worse: %v; want %v", change, got, r.Worsens(finding.Medium), want)
		}
	}
}

// TestOtherWorsens: a VM whose layout is another one, neither better nor worse, does not excuse its new finding.
func TestOtherWorsens(t *testing.T) {
	f, err := scenario.Read("test", []byte("release 8.0U3\ncluster p\nhost esx01 nodes=2 cores=16 memory=256GB\nhost esx02 nodes=2 cores=16 memory=256GB\nvm v host=esx01 vcpus=24 memory=64GB hw=19 coresPerSocket=12\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := whatif.Judge(t.Context(), nil, f, parse(t, "host=esx01 cores=32"), rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Other != 1 || !r.Worsens(finding.Medium) || r.Worsens(finding.High) {
		t.Errorf("%d other, worse: %v: %+v", r.Other, r.Worsens(finding.Medium), r.VMs)
	}
}

// TestBound moves VMs to another host: one with a device of its host stays.
func TestBound(t *testing.T) {
	f, err := scenario.Read("test", []byte("release 8.0U3\ncluster p\nhost esx01 nodes=2 cores=16 memory=512GB\nhost esx02 nodes=2 cores=16 memory=512GB\n"+
		"vm gpu host=esx01 vcpus=4 memory=16GB reserveAll=on pci=3b:00.0\nvm app host=esx01 vcpus=4 memory=16GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := whatif.Apply(t.Context(), f, parse(t, "vm=* host=esx02"), rules.Options{}.Choices)
	if err != nil {
		t.Fatal(err)
	}
	if after.VMs[0].Host != f.VMs[0].Host || after.VMs[1].Host == f.VMs[1].Host || len(after.Notes) != 1 {
		t.Errorf("gpu on %s, app on %s, notes %v", after.VMs[0].Host, after.VMs[1].Host, after.Notes)
	}
}
