package fleet_test

import (
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/rules/verdict/matrix"
	"example.org/homenode/source/scenario/given"
)

// TestUnjudgedHosts: of a host whose nodes are unknown no sentence and no figure is certain.
func TestUnjudgedHosts(t *testing.T) {
	const hosts = "release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB\nhost i nodes=2 cores=16 memory=512GB\nvm a host=h vcpus=8 memory=64GB\n"
	for _, tt := range []struct {
		more, fits, headline string
		vcpus                int
		unknown              bool
	}{
		{"", "yes", "", 8, false},
		{"vm b cluster=c vcpus=24 memory=64GB\n", "yes", "the host of 1 VM", 32, false}, // on one of the two hosts
		{"host j\nvm b host=j vcpus=24 memory=64GB\n", "yes (2 of 3 hosts judged)", "1 host is not judged: j. Not known: the size of the host of 1 VM", 8, false},
		{"host j\nvm b cluster=c vcpus=24 memory=64GB\n", "yes (2 of 3 hosts judged)", "1 host is not judged: j. Not known: the host of 1 VM", 8, true},
		{"host j\nhost k nodes=4 cores=8 memory=512GB\nvm b host=h vcpus=24 memory=64GB\n", "no: 1 VM differs by host (3 of 4 hosts judged)", "1 host is not judged: j.", 32, false},
	} {
		f := given.Fleet(t, "test", []byte(hosts+tt.more))
		for i := range f.VMs {
			if v := &f.VMs[i]; strings.Contains(tt.more, v.Name+" cluster") { // a scenario places VMs itself
				v.Host = ""
			}
		}
		r := rules.Run(f, rules.Options{})
		c := fleet.Clusters(r)[0]
		if c.Fits() != tt.fits || c.Running.VCPUs != tt.vcpus || c.Running.Unknown != tt.unknown || (c.Running.PerCore == 0) != tt.unknown {
			t.Errorf("%sfits %s, want %s; %+v, want %d vCPUs", tt.more, c.Fits(), tt.fits, c.Running, tt.vcpus)
		}
		if got := strings.Join(fleet.Verdict(r), " "); !strings.Contains(got, tt.headline) {
			t.Errorf("%s%s, want %s in it", tt.more, got, tt.headline)
		}
		said := strings.Join(matrix.Verdict([]*matrix.Matrix{matrix.Of(r.Clusters[0], matrix.Options{})}), " ")
		if want := "1 host is not judged: j."; strings.Contains(said, want) != strings.Contains(tt.more, "host j") {
			t.Errorf("%s%s, want %s", tt.more, said, want)
		}
	}
}

// TestUnjudgedVMs: a cluster whose VMs could not be judged has these VMs all the same.
func TestUnjudgedVMs(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\nhost h\nvm a host=h vcpus=8 memory=64GB\nvm b host=h vcpus=8 memory=64GB\nhost i nodes=2 cores=16 memory=512GB\nvm c host=i vcpus=8 memory=64GB\n"))
	for _, c := range fleet.Clusters(rules.Run(f, rules.Options{})) {
		if want := map[string][2]int{"h": {0, 2}, "i": {1, 0}}[c.Of.Hosts[0].Name]; want != [2]int{c.VMs, c.Unjudged} {
			t.Errorf("%s: %d VMs, %d without a prediction, want %v", c.Name, c.VMs, c.Unjudged, want)
		}
	}
}
