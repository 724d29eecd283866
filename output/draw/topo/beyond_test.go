package topo_test

import (
	"strings"
	"testing"

	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestCrossed: memory of a client on the node of another client of its VM is not that of a stranger.
func TestCrossed(t *testing.T) {
	f := given.Fleet(t, "in", []byte("release 7.0U3\nhost o1 nodes=2 cores=32 memory=512GB\nvm four host=o1 vcpus=12 memory=400GB numa.vcpu.maxPerClient=4\n"))
	d := topo.OfHost(rules.Run(f, rules.Options{}), &f.Hosts[0])
	if got, want := d.Nodes[1].Numbers(), "holds 33.5 GB of four, home elsewhere"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBeyond: memory that no node of the host has room for is not called remote, and
// the memory of other nodes' VMs is named.
func TestBeyond(t *testing.T) {
	f := given.Fleet(t, "over.txtar", []byte(`release 7.0U3
host o1 nodes=2 cores=28 memory=1024GB
vm ora host=o1 vcpus=24 memory=1000GB
vm pht host=o1 vcpus=8 memory=200GB
vm u20 host=o1 vcpus=8 memory=120GB
`))
	d := topo.OfHost(rules.Run(f, rules.Options{}), &f.Hosts[0])
	for _, tt := range []struct{ got, want string }{
		{d.Nodes[0].Clients[0].Numbers(), "ora: 24 vCPUs, 1000 GB, 488 GB of it remote; finding: high"},
		{d.Nodes[1].Clients[1].Numbers(), "u20: 8 vCPUs, 120 GB, 120 GB do not fit the host"},
		{d.Nodes[1].Numbers(), "node 1, 28 cores, 56 threads, 512 GB: 16 vCPUs on 2 clients, 0.6 vCPU per core, 10.8 GB left, holds 488 GB of ora, not at home here"},
		{strings.Join(d.Caption, "\n"), "The home nodes are predicted (C-4), not observed. VMs are placed in the order of the inventory.\n" +
			"306.8 GB do not fit the host at all and are ballooned or swapped once all memory is touched."},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}
