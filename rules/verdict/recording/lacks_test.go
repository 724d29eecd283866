package recording

import (
	"strings"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/rules"
)

// TestEmptyHostLacksNothing checks that a host without VMs beside one that has some does not count as a capture without counters of VMs.
func TestEmptyHostLacksNothing(t *testing.T) {
	empty := &capture.Recording{Host: "esx2", Lacks: []string{"Numa Home Nodes"}}
	full := &capture.Recording{Host: "esx1", VMs: []capture.VM{{Name: "a"}}}
	if j := Of(&rules.Watched{Recordings: []*capture.Recording{full, empty}}); j.howToGet() != "" || strings.Contains(j.Doubts()[0].Text, "lacks") {
		t.Errorf("%s %v", j.howToGet(), j.Doubts())
	}
	if j := Of(&rules.Watched{Recordings: []*capture.Recording{empty}}); !strings.Contains(j.howToGet(), "lacks Numa Home Nodes") {
		t.Errorf("of the empty host alone: %q", j.howToGet())
	}
}
