package rules_test

import (
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestJoin checks which VM of the inventory a recorded one is taken for.
func TestJoin(t *testing.T) {
	f := given.Fleet(t, "x", []byte(`release 8.0
cluster a
host esx01.lab nodes=2 cores=16 memory=256GB
host esx02.lab nodes=2 cores=16 memory=256GB
vm here host=esx01.lab vcpus=4 memory=8GB
vm moved host=esx02.lab vcpus=4 memory=8GB
vm grown host=esx01.lab vcpus=8 memory=8GB
cluster b
host esx03.lab nodes=2 cores=16 memory=256GB
vm other host=esx03.lab vcpus=4 memory=8GB
`))
	rec := &capture.Recording{Host: "esx01", VMs: []capture.VM{
		{Name: "here", VCPUs: 4}, {Name: "moved", VCPUs: 4}, {Name: "grown", VCPUs: 4}, {Name: "other", VCPUs: 4}, {Name: "unheard"}, {Name: "here"}}}
	stray := &capture.Recording{Host: "esx09"}
	w := rules.Watch([]*capture.Recording{rec, stray}, rules.Run(f, rules.Options{}), rules.Options{})
	want := []string{"here", "moved", "", "", "", "here"}
	for i := range rec.VMs {
		got := ""
		if v := w.Joined[&rec.VMs[i]]; v != nil {
			got = v.Name
		}
		if got != want[i] {
			t.Errorf("VM %s is taken for %q, want %q", rec.VMs[i].Name, got, want[i])
		}
	}
	var notes []string
	for _, n := range w.Notes {
		notes = append(notes, n.Text)
	}
	wantNotes := []string{
		"VM grown: recorded with 4 vCPUs, 8 in the inventory: it has changed, so its prediction is not used",
		"the inventory has no host esx09: its VMs are judged without a prediction",
	}
	if len(notes) != len(wantNotes) || notes[0] != wantNotes[0] || notes[1] != wantNotes[1] {
		t.Errorf("notes %q, want %q", notes, wantNotes)
	}
}
