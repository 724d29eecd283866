package whatif_test

import (
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
)

// TestOtherMaker: a maintenance moves a VM that runs to a host of the same maker, or the VM stays and a note tells it. A move
// to a cluster of hosts of another maker has a note too. Hosts that take over from a lost one power the VM on, whatever their maker.
func TestOtherMaker(t *testing.T) {
	const text = `release 8.0U3
cluster c
host x1 nodes=2 cores=16 memory=256GB cpu="Xeon Gold 6130"
host e1 nodes=2 cores=32 memory=1024GB cpu="EPYC 7543"
vm db host=x1 vcpus=8 memory=64GB hw=19 power=on
vm old host=x1 vcpus=8 memory=64GB hw=19 power=off
`
	const x2 = "host x2 nodes=2 cores=16 memory=256GB cpu=\"Xeon Gold 6130\"\n"
	for _, tt := range []struct{ fleet, change, db, old, note string }{
		{text, "host=x1 maintenance=on", "x1", "x1", "1 VM must be powered off before the maintenance (no other host of the cluster accepts a vMotion): db"},
		{text + x2, "host=x1 maintenance=on", "x2", "x1", ""},
		{text + "cluster d\nhost e2 nodes=2 cores=32 memory=1024GB cpu=\"EPYC 7543\"\n", "vm=* host=d", "", "", "VM db: no vMotion of a running VM is possible between Intel (x1) and AMD (e2)"},
		{text + "cluster d\nhost e2 nodes=2 cores=32 memory=1024GB\n", "vm=* host=d", "", "", ""},
		{text, "lose-host=x1", "e1", "e1", ""},
	} {
		c, err := whatif.Parse(tt.change)
		if err != nil {
			t.Fatal(err)
		}
		after, _, err := whatif.Apply(t.Context(), fleet(t, tt.fleet), []whatif.Change{c}, vnuma.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		on, notes := map[string]string{}, ""
		for id, h := range after.HostsByID() {
			on[id] = h.Name
		}
		for _, n := range after.Notes {
			notes += n.Text
		}
		if db, old := on[after.VMs[0].Host], on[after.VMs[1].Host]; db != tt.db || old != tt.old || !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
			t.Errorf("%s: db is on %s, old on %s, want %s and %s; notes %q", tt.change, db, old, tt.db, tt.old, notes)
		}
	}
}
