package fix_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/source/scenario"
)

// TestNoRoom: the plan for a VM that is off says that its host has not the memory, or not the reservation, to power it on.
func TestNoRoom(t *testing.T) {
	f, err := scenario.Read("room", []byte(`release 8.0U3
cluster prod
host a nodes=2 cores=8 memory=256GB mhz=2600
vm on host=a vcpus=8 memory=200GB reserveAll=on power=on
vm memory host=a vcpus=12 memory=100GB hotAdd=on power=off
vm reserved host=a vcpus=12 memory=64GB hotAdd=on reserveAll=on power=off
vm room host=a vcpus=12 memory=20GB hotAdd=on power=off
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(t.Context(), f, fix.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	off := 0
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.VM.Runs {
			continue
		}
		off++
		says := slices.ContainsFunc(c.Notices, func(text string) bool { return strings.HasPrefix(text, c.VM.Name+" is powered off, and ") })
		if says != (c.VM.Name != "room") {
			t.Errorf("%s: %q", c.VM.Name, c.Notices)
		}
	}
	if off != 3 {
		t.Errorf("%d changes of VMs that are off, want 3", off)
	}
}
